#include "widgets/evaluation/saliency_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// Curve colours that stay apart for all kinds of sight; the picture under them is grey.
constexpr int kFor = 1, kAgainst = 0;
constexpr int kScaleHeight = 34, kBarRow = 22, kMostBars = 16, kEmptyPicture = 240;

}  // namespace

SaliencyView::SaliencyView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("Places of the sample that matter"));
  connect(&Theme::of(this), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void SaliencyView::setPicture(const QImage& picture, const QStringList& lines) {
  m_picture = picture.isNull() ? QImage() : picture.convertToFormat(QImage::Format_Grayscale8);
  m_lines = lines;
  updateGeometry();
  update();
}

void SaliencyView::setMap(const SampleMap& map, const QStringList& names) {
  m_map = map;
  m_names = names;
  m_least = m_greatest = m_most = 0;
  bool any = false;
  for (const float each : map.values) {
    if (!std::isfinite(each)) continue;
    m_least = any ? std::min<double>(m_least, each) : each;
    m_greatest = any ? std::max<double>(m_greatest, each) : each;
    any = true;
  }
  m_most = std::max(std::abs(m_least), std::abs(m_greatest));
  setAccessibleDescription(tr("From %1 to %2").arg(formatShort(m_least), formatShort(m_greatest)));
  updateGeometry();
  update();
}

void SaliencyView::clearMap() {
  setMap({}, {});
}

void SaliencyView::setStrength(double strength) {
  m_strength = std::clamp(strength, 0.0, 1.0);
  update();
}

QSize SaliencyView::sizeHint() const {
  if (!isTable() || m_map.values.empty()) return {300, kEmptyPicture + kScaleHeight};
  return {300, std::min<int>(kMostBars, static_cast<int>(m_map.values.size())) * kBarRow + kBarRow};
}

QRectF SaliencyView::pictureIn(const QSizeF& size) const {
  double tall = 1, wide = 1;
  if (!m_picture.isNull())
    tall = m_picture.height(), wide = m_picture.width();
  else if (m_map.height > 0)
    tall = static_cast<double>(m_map.height), wide = static_cast<double>(m_map.width);
  const QSizeF room(size.width(), size.height() - kScaleHeight);
  const QSizeF drawn = QSizeF(wide, tall).scaled(room, Qt::KeepAspectRatio);
  return {QPointF(0, (room.height() - drawn.height()) / 2), drawn};
}

QRectF SaliencyView::pictureRect() const {
  return isTable() ? QRectF() : pictureIn(size());
}

QImage SaliencyView::overlay() const {
  const Theme& theme = Theme::of(this);
  const QColor with = theme.curveColour(kFor), against = theme.curveColour(kAgainst);
  QImage image(static_cast<int>(m_map.width), static_cast<int>(m_map.height), QImage::Format_ARGB32);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const float value = m_map.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(m_map.width) +
                                       static_cast<std::size_t>(x)];
      QColor colour = value >= 0 ? with : against;
      const double share = m_most > 0 && std::isfinite(value) ? std::abs(value) / m_most : 0;
      colour.setAlphaF(static_cast<float>(m_strength * share));
      image.setPixelColor(x, y, colour);
    }
  return image;
}

void SaliencyView::paintPicture(QPainter& painter, const QRectF& rect) const {
  const Theme& theme = Theme::of(this);
  painter.fillRect(rect, theme.colour(Colour::sunken));
  const bool grows = m_picture.width() < rect.width();
  if (!m_picture.isNull()) {
    painter.setRenderHint(QPainter::SmoothPixmapTransform, !grows);
    painter.drawImage(rect, m_picture);
  }
  if (m_map.values.empty()) return;
  // A map that is coarser than the picture is no more exact than its places: it is drawn between them.
  const bool coarse = m_picture.isNull() || m_map.width < m_picture.width();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, coarse);
  const QImage colours = overlay();
  if (!coarse) return painter.drawImage(rect, colours);
  const QImage fine = colours.convertToFormat(QImage::Format_ARGB32_Premultiplied)
                          .scaled(rect.size().toSize(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  painter.drawImage(rect, fine);
}

void SaliencyView::paintScale(QPainter& painter, const QRectF& rect) const {
  const Theme& theme = Theme::of(this);
  const double width = std::min(rect.width(), 220.0);
  const QRectF strip(rect.left(), rect.top() + 6, width, 6);
  QLinearGradient colours(strip.topLeft(), strip.topRight());
  const auto at = [&](double place, double value) {
    QColor colour = theme.curveColour(value >= 0 ? kFor : kAgainst);
    colour.setAlphaF(static_cast<float>(m_most > 0 ? std::abs(value) / m_most : 0));
    colours.setColorAt(place, colour);
  };
  at(0, m_least);
  if (m_least < 0 && m_greatest > 0) at(-m_least / (m_greatest - m_least), 0);
  at(1, m_greatest);
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.setBrush(theme.colour(Colour::surface));
  painter.drawRect(strip);
  painter.setBrush(colours);
  painter.drawRect(strip);
  painter.setFont(theme.numberFont(FontRole::axis));
  painter.setPen(theme.colour(Colour::text3));
  const QRectF words(rect.left(), strip.bottom() + 2, width, rect.bottom() - strip.bottom() - 2);
  painter.drawText(words, Qt::AlignLeft | Qt::AlignTop, formatShort(m_least));
  painter.drawText(words, Qt::AlignRight | Qt::AlignTop, formatShort(m_greatest));
}

// The columns that weigh most, whatever their sign.
void SaliencyView::paintBars(QPainter& painter, const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  std::vector<std::size_t> order(m_map.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::abs(m_map.values[a]) > std::abs(m_map.values[b]);
  });
  const auto shown = std::min<std::size_t>(order.size(), kMostBars);
  const QFont words = theme.font(FontRole::label), numbers = theme.numberFont(FontRole::label);
  const QFontMetricsF metrics(words);
  const double names = std::min(size.width() * 0.34, 180.0), figures = 74;
  const QRectF room(names + 8, 0, std::max(20.0, size.width() - names - figures - 16), 1);
  const double low = std::min(m_least, 0.0), high = std::max(m_greatest, 0.0), extent = std::max(high - low, 1e-30);
  for (std::size_t i = 0; i < shown; ++i) {
    const double value = m_map.values[order[i]], top = static_cast<double>(i) * kBarRow;
    const auto of = static_cast<qsizetype>(order[i]);
    const QString name = of < m_names.size() && !m_names[of].isEmpty() ? m_names[of] : tr("number %1").arg(of + 1);
    painter.setFont(words);
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(QRectF(0, top, names, kBarRow), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(name, Qt::ElideRight, names));
    painter.setFont(numbers);
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(QRectF(0, top, size.width(), kBarRow), Qt::AlignRight | Qt::AlignVCenter, formatShort(value));
    const double zero = room.left() + room.width() * -low / extent;
    const double end = room.left() + room.width() * (std::isfinite(value) ? value - low : -low) / extent;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.curveColour(value >= 0 ? kFor : kAgainst));
    painter.drawRect(QRectF(std::min(zero, end), top + 6, std::max(1.0, std::abs(end - zero)), kBarRow - 12));
    painter.setPen(theme.hairline(Colour::axis));
    painter.drawLine(QPointF(zero, top), QPointF(zero, top + kBarRow));
  }
  if (shown == order.size()) return;
  painter.setFont(words);
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRectF(0, static_cast<double>(shown) * kBarRow, size.width(), kBarRow),
                   Qt::AlignLeft | Qt::AlignVCenter, tr("and %1 numbers that weigh less").arg(order.size() - shown));
}

void SaliencyView::paintOn(QPainter& painter, const QSizeF& size) const {
  painter.setRenderHint(QPainter::Antialiasing);
  if (isTable() && !m_map.values.empty()) return paintBars(painter, size);
  const QRectF rect = pictureIn(size);
  if (m_picture.isNull() && m_map.values.empty()) {
    const Theme& theme = Theme::of(this);
    painter.setFont(theme.font(FontRole::label));
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(QRectF({0, 0}, size), Qt::AlignLeft | Qt::AlignTop, m_lines.join('\n'));
    return;
  }
  paintPicture(painter, rect);
  if (!m_map.values.empty()) paintScale(painter, QRectF(0, rect.bottom(), size.width(), kScaleHeight));
}

void SaliencyView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintOn(painter, size());
}

QString SaliencyView::wordsAt(const QPointF& point) const {
  const QRectF rect = pictureRect();
  if (m_map.values.empty() || !rect.contains(point)) return {};
  const auto place = [](double at, double size, std::int64_t places) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(at / size * static_cast<double>(places)), 0, places - 1);
  };
  const std::int64_t x = place(point.x() - rect.left(), rect.width(), m_map.width),
                     y = place(point.y() - rect.top(), rect.height(), m_map.height);
  return tr("row %1, column %2: %3")
      .arg(y + 1)
      .arg(x + 1)
      .arg(formatShort(m_map.values[static_cast<std::size_t>(y * m_map.width + x)]));
}

void SaliencyView::mouseMoveEvent(QMouseEvent* event) {
  const QString words = wordsAt(event->position());
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint(), words, this);
}

QImage SaliencyView::toImage(double ratio) const {
  constexpr int kEdge = 12;
  const QSize size = isTable() ? QSize(420, sizeHint().height()) : QSize(420, 420 + kScaleHeight);
  const Theme::LightColours light(Theme::of(this));
  QImage image((size + QSize(2 * kEdge, 2 * kEdge)) * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Theme::of(this).colour(Colour::surface));
  QPainter painter(&image);
  painter.translate(kEdge, kEdge);
  paintOn(painter, size);
  return image;
}

}  // namespace loom
