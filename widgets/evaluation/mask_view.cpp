#include "widgets/evaluation/mask_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <set>

#include "widgets/theme/theme.h"

namespace loom {

MaskView::MaskView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("The class of each place of the sample"));
  connect(&Theme::of(this), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MaskView::setPicture(const QImage& picture) {
  m_picture = picture;
  update();
}

void MaskView::setClasses(const ClassMap& classes, const QStringList& words) {
  m_classes = classes;
  m_words = words;
  std::size_t right = 0;
  for (std::size_t i = 0; i < classes.truth.size(); ++i) right += classes.truth[i] == classes.said[i];
  setAccessibleDescription(
      classes.truth.empty() ? QString() : tr("%L1 of %L2 places are right").arg(right).arg(classes.truth.size()));
  update();
}

void MaskView::setLook(const MaskLook& look) {
  m_look = look;
  update();
}

QString MaskView::word(int of) const {
  return m_words.value(of, QString::number(of));
}

QRectF MaskView::pictureRect() const {
  const QSizeF own = !m_picture.isNull() ? QSizeF(m_picture.size())
                     : m_classes.isEmpty()
                         ? QSizeF(1, 1)
                         : QSizeF(static_cast<double>(m_classes.width), static_cast<double>(m_classes.height));
  const QSizeF drawn = own.scaled(QSizeF(size()), Qt::KeepAspectRatio);
  return {QPointF(0, (height() - drawn.height()) / 2), drawn};
}

void MaskView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintMasked(painter, Theme::of(this), m_picture, m_classes, m_look, pictureRect());
}

QString MaskView::wordsAt(const QPointF& point) const {
  const QRectF rect = pictureRect();
  if (m_classes.isEmpty() || !rect.contains(point)) return {};
  const auto place = [](double at, double size, std::int64_t places) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(at / size * static_cast<double>(places)), 0, places - 1);
  };
  const std::int64_t x = place(point.x() - rect.left(), rect.width(), m_classes.width),
                     y = place(point.y() - rect.top(), rect.height(), m_classes.height);
  const auto at = static_cast<std::size_t>(y * m_classes.width + x);
  const QString where = tr("row %1, column %2").arg(y + 1).arg(x + 1);
  if (m_classes.truth.empty()) return tr("%1: predicted %2").arg(where, word(m_classes.said[at]));
  if (m_classes.truth[at] == m_classes.said[at]) return tr("%1: %2, right").arg(where, word(m_classes.said[at]));
  return tr("%1: true %2, predicted %3").arg(where, word(m_classes.truth[at]), word(m_classes.said[at]));
}

void MaskView::mouseMoveEvent(QMouseEvent* event) {
  const QString words = wordsAt(event->position());
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint(), words, this);
}

QImage MaskView::toImage(double ratio) const {
  constexpr int kEdge = 12, kSide = 420, kSwatch = 10;
  const Theme::LightColours light(Theme::of(this));
  const Theme& theme = Theme::of(this);
  const QFont font = theme.font(FontRole::label);
  const int line = QFontMetrics(font).height() + 4;
  std::set<int> there(m_classes.said.begin(), m_classes.said.end());
  there.insert(m_classes.truth.begin(), m_classes.truth.end());
  const QSize size(kSide + 2 * kEdge, kSide + 3 * kEdge + line * static_cast<int>(there.size()));
  QImage image(size * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(theme.colour(Colour::surface));
  QPainter painter(&image);
  paintMasked(painter, theme, m_picture, m_classes, m_look, QRectF(kEdge, kEdge, kSide, kSide));
  painter.setFont(font);
  double top = kSide + 2 * kEdge;
  for (const int of : there) {
    painter.fillRect(QRectF(kEdge, top + (line - kSwatch) / 2.0, kSwatch, kSwatch), maskColour(theme, of));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(QRectF(kEdge + kSwatch + 8, top, kSide, line), Qt::AlignLeft | Qt::AlignVCenter, word(of));
    top += line;
  }
  return image;
}

}  // namespace loom
