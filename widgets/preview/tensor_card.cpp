#include "widgets/preview/tensor_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <algorithm>

#include "widgets/controls/button.h"
#include "widgets/preview/weights_line.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kTensorCardWidth = 254, kTensorCardPadding = 12,
              kFromPointer = 6;  // beyond its shadow, which takes the mouse too

}  // namespace

TensorCard::TensorCard(QWidget* over) : QWidget(over) {
  setObjectName(QStringLiteral("tensorCard"));
  setAccessibleName(tr("Tensor on the wire"));
  setFocusPolicy(Qt::NoFocus);
  m_title = new QLabel(this);
  m_shape = new QLabel(this);
  m_subtitle = new QLabel(this);
  m_weights = new WeightsLine(QStringLiteral("tensorWeights"), this);
  setStyleProperty(m_title, "kind", QStringLiteral("heading"));
  setStyleProperty(m_subtitle, "kind", QStringLiteral("hint"));
  m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_subtitle->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_close = iconButton(QStringLiteral("close"), tr("Close"), this);
  m_close->setFixedSize(24, 24);
  m_close->setFocusPolicy(Qt::TabFocus);
  m_close->hide();
  m_face = new TensorFace(this);
  auto* column = new QVBoxLayout(this);
  const int margin = shadowMargin(Elevation::menu) + kTensorCardPadding;
  column->setContentsMargins(margin, margin - 2, margin, margin);
  column->setSpacing(2);
  auto* head = new QHBoxLayout;
  head->setSpacing(8);
  head->addWidget(m_title, 1);
  head->addWidget(m_shape);
  head->addWidget(m_close);
  column->addLayout(head);
  column->addWidget(m_subtitle);
  column->addWidget(m_weights);
  column->addSpacing(10);
  column->addWidget(m_face);
  setFixedWidth(kTensorCardWidth + 2 * shadowMargin(Elevation::menu));
  connect(m_weights, &WeightsLine::othersWanted, this, &TensorCard::weightsWanted);
  connect(m_close, &Button::clicked, this, &TensorCard::closeWanted);
  connect(m_face, &TensorFace::heightChanged, this, &TensorCard::settle);
  connect(&Theme::of(this), &Theme::changed, this, &TensorCard::settle);
  hide();
}

void TensorCard::setWords(const QString& title, const QString& shape, const QString& subtitle) {
  m_title->setText(title);
  m_title->setToolTip(title);
  m_shape->setText(shape);
  keepFont(m_shape, FontRole::label, Face::numbers);
  m_subtitle->setText(subtitle);
  m_subtitle->setVisible(!subtitle.isEmpty());
  setAccessibleDescription(QStringList{title, shape, subtitle, m_words}.join(QStringLiteral(", ")));
  settle();
}

void TensorCard::setWeights(const QString& words, bool others) {
  m_words = words;
  m_weights->setWords(words, others);
  settle();
}

QString TensorCard::title() const {
  return m_title->text();
}
QString TensorCard::subtitle() const {
  return m_subtitle->text();
}

QRect TensorCard::card() const {
  const int margin = shadowMargin(Elevation::menu);
  return geometry().adjusted(margin, margin, -margin, -margin);
}

void TensorCard::openAt(QPoint at, const QRect& room) {
  m_at = at;
  m_room = room;
  settle();
  show();
  raise();
}

// Right of the place and above it where there is room, else on the other side of it.
void TensorCard::settle() {
  const int inner = kTensorCardWidth - 2 * kTensorCardPadding;
  m_face->setFixedHeight(m_face->heightForWidth(inner));
  layout()->invalidate();
  setFixedHeight(layout()->sizeHint().height());
  if (m_room.isNull()) return;
  const int margin = shadowMargin(Elevation::menu), wide = width() - 2 * margin, high = height() - 2 * margin;
  const int away = kFromPointer + margin;
  int x = m_at.x() + away;
  if (x + wide > m_room.right() - 8) x = m_at.x() - away - wide;
  int y = m_at.y() - high / 2;
  x = std::clamp(x, m_room.left() + 8, std::max(m_room.left() + 8, m_room.right() - 8 - wide));
  y = std::clamp(y, m_room.top() + 8, std::max(m_room.top() + 8, m_room.bottom() - 8 - high));
  move(x - margin, y - margin);
}

void TensorCard::setPinned(bool pinned) {
  if (pinned == m_pinned) return;
  m_pinned = pinned;
  m_close->setVisible(pinned);
  settle();
  update();
  Q_EMIT pinnedChanged(pinned);
}

void TensorCard::mousePressEvent(QMouseEvent* event) {
  event->accept();  // not through to the canvas
  if (event->button() == Qt::LeftButton) setPinned(!m_pinned);
}

void TensorCard::wheelEvent(QWheelEvent* event) {
  event->accept();
}

void TensorCard::leaveEvent(QEvent*) {
  Q_EMIT left();
}

void TensorCard::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int margin = shadowMargin(Elevation::menu);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintCard(painter, card, theme.radius(Radius::card), Elevation::menu);
  painter.setPen(theme.hairline(Colour::line));
  const double line = m_face->y() - 6.5;
  painter.drawLine(QPointF(card.left() + 1, line), QPointF(card.right() - 1, line));
  if (!m_pinned) return;
  painter.setPen(QPen(theme.colour(Colour::accentText), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::card), theme.radius(Radius::card));
}

}  // namespace loom
