#include "widgets/controls/status_label.h"

#include <QPainter>
#include <cmath>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kTurnMs = 1200;
constexpr int kFrameMs = 40;
constexpr int kShape = 14;
constexpr int kIconGap = 6;
constexpr int kPillPadding = 9;

Colour softGround(Status status) {
  switch (status) {
    case Status::running:
      return Colour::accentSoft;
    case Status::ok:
      return Colour::okSoft;
    case Status::failed:
      return Colour::errorSoft;
    case Status::warning:
    case Status::reconnecting:
      return Colour::warningSoft;
    default:
      return Colour::hover;
  }
}

}  // namespace

StatusLabel::StatusLabel(Status status, Look look, QWidget* parent) : QWidget(parent), m_status(status), m_look(look) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  m_turning.setInterval(kFrameMs);
  connect(&m_turning, &QTimer::timeout, this, [this] {
    m_turn = std::fmod(m_turn + static_cast<double>(kFrameMs) / kTurnMs, 1.0);
    update();
  });
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    refreshTurning();
    updateGeometry();
  });
  setAccessibleName(words());
}

QString StatusLabel::words() const {
  return m_words.isEmpty() ? statusWord(m_status) : m_words;
}

void StatusLabel::setStatus(Status status, const QString& words) {
  if (status == m_status && words == m_words) return;
  m_status = status;
  m_words = words;
  setAccessibleName(this->words());
  refreshTurning();
  updateGeometry();
  update();
}

void StatusLabel::refreshTurning() {
  const bool turns = m_status == Status::running && isVisible() && !Theme::of(this).reducedMotion();
  if (turns)
    m_turning.start();
  else
    m_turning.stop();
  if (!turns) m_turn = 0;
}

void StatusLabel::showEvent(QShowEvent*) {
  refreshTurning();
}

void StatusLabel::hideEvent(QHideEvent*) {
  refreshTurning();
}

QSize StatusLabel::sizeHint() const {
  const QFontMetrics metrics(Theme::withWeight(Theme::of(this).font(FontRole::label), 600));
  const int padding = m_look == Look::pill ? 2 * kPillPadding : 0;
  return {kShape + kIconGap + metrics.horizontalAdvance(words()) + 1 + padding,
          m_look == Look::pill ? 22 : std::max(18, metrics.height())};
}

void StatusLabel::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  const QColor colour = theme.colour(statusColour(m_status));
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  double left = 0;
  if (m_look == Look::pill) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(softGround(m_status)));
    painter.drawRoundedRect(rect(), height() / 2.0, height() / 2.0);
    left = kPillPadding;
  }
  paintStatus(painter, m_status, QRectF(left, (height() - kShape) / 2.0, kShape, kShape), colour, m_turn);
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), m_look == Look::pill ? 600 : 500));
  painter.setPen(colour);
  painter.drawText(QRectF(rect()).adjusted(left + kShape + kIconGap, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   words());
}

}  // namespace loom
