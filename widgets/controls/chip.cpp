#include "widgets/controls/chip.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kChipPadding = 10;
constexpr int kCross = 16;
constexpr int kHeight = 24;
}  // namespace

Chip::Chip(const QString& text, Kind kind, QWidget* parent) : QWidget(parent), m_text(text), m_kind(kind) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setProperty("focusRadius", kind == Kind::outlined ? kHeight / 2 : Theme::of(this).radius(Radius::chip));
  setAccessibleName(text);
}

void Chip::setText(const QString& text) {
  m_text = text;
  setAccessibleName(text);
  updateGeometry();
  update();
}

void Chip::setRemovable(bool removable) {
  m_removable = removable;
  setFocusPolicy(removable ? Qt::StrongFocus : Qt::NoFocus);
  setMouseTracking(removable);
  updateGeometry();
}

QFont Chip::textFont() const {
  const Theme& theme = Theme::of(this);
  return m_kind == Kind::code ? theme.numberFont(FontRole::caption) : theme.font(FontRole::label);
}

QRectF Chip::cross() const {
  return {width() - kChipPadding - 8.0, (height() - 10) / 2.0, 10, 10};
}

QSize Chip::sizeHint() const {
  const QFontMetrics metrics(textFont());
  return {metrics.horizontalAdvance(m_text) + 2 * kChipPadding + (m_removable ? kCross : 0),
          std::max(kHeight, metrics.height() + 6)};
}

void Chip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool round = m_kind == Kind::outlined;
  const double radius = round ? height() / 2.0 - 0.5 : theme.radius(Radius::chip);
  painter.setPen(round ? QPen(theme.colour(Colour::control), 1) : QPen(Qt::NoPen));
  painter.setBrush(theme.colour(m_kind == Kind::outlined ? Colour::surface
                                : m_kind == Kind::tinted ? Colour::accentSoft
                                                         : Colour::hover));
  const QRectF area = round ? QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5) : QRectF(rect());
  painter.drawRoundedRect(area, radius, radius);
  painter.setFont(textFont());
  painter.setPen(theme.colour(!isEnabled()             ? Colour::disabled
                              : m_kind == Kind::tinted ? Colour::accentText
                                                       : Colour::text));
  painter.drawText(QRectF(kChipPadding, 0, width() - 2 * kChipPadding, height()), Qt::AlignVCenter | Qt::AlignLeft,
                   m_text);
  if (m_removable)
    paintIcon(painter, QStringLiteral("close"), cross(), theme.colour(m_crossHovered ? Colour::text : Colour::text3));
}

void Chip::mouseReleaseEvent(QMouseEvent* event) {
  if (m_removable && event->button() == Qt::LeftButton && cross().adjusted(-7, -7, 7, 7).contains(event->position()))
    Q_EMIT removed();
}

void Chip::mouseMoveEvent(QMouseEvent* event) {
  const bool over = m_removable && cross().adjusted(-7, -7, 7, 7).contains(event->position());
  if (over == m_crossHovered) return;
  m_crossHovered = over;
  update();
}

void Chip::leaveEvent(QEvent*) {
  m_crossHovered = false;
  update();
}

void Chip::keyPressEvent(QKeyEvent* event) {
  if (m_removable && (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace))
    Q_EMIT removed();
  else
    QWidget::keyPressEvent(event);
}

}  // namespace loom
