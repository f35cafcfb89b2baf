#include "widgets/evaluation/class_mask.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <vector>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMaskColours = 10, kMaskStripe = 3;

QRgb blended(const QColor& colour, double opacity) {
  QColor with = colour;
  with.setAlphaF(static_cast<float>(opacity));
  return qPremultiply(with.rgba());
}

}  // namespace

// The colours of curves stay apart for all kinds of sight; the second ten are lighter.
QColor maskColour(const Theme& theme, int of) {
  const QColor colour = theme.curveColour(of % kMaskColours);
  return of / kMaskColours % 2 == 0 ? colour : colour.lighter(150);
}

QImage maskImage(const Theme& theme, const ClassMap& classes, const MaskLook& look, QSize size) {
  QImage image(size, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  if (classes.isEmpty() || size.isEmpty()) return image;
  const bool known = !classes.truth.empty(), both = look.said && look.truth && known;
  int most = 0;
  for (const auto* each : {&classes.said, &classes.truth})
    for (const std::uint16_t of : *each) most = std::max<int>(most, of);
  std::vector<QRgb> colours(static_cast<std::size_t>(most) + 1, 0);
  for (int of = 0; of <= most; ++of)
    if (!look.hidden.contains(of)) colours[static_cast<std::size_t>(of)] = blended(maskColour(theme, of), look.opacity);
  const QRgb inside = theme.colour(Colour::text).rgba(), around = theme.colour(Colour::surface).rgba();
  std::vector<std::int64_t> columns(static_cast<std::size_t>(size.width()));
  for (int x = 0; x < size.width(); ++x) columns[static_cast<std::size_t>(x)] = x * classes.width / size.width();
  const auto placeAt = [&](int x, int y) {
    return static_cast<std::size_t>(y * classes.height / size.height() * classes.width +
                                    columns[static_cast<std::size_t>(x)]);
  };
  const auto wrong = [&](int x, int y) {
    const std::size_t place = placeAt(x, y);
    return classes.said[place] != classes.truth[place];
  };
  for (int y = 0; y < size.height(); ++y) {
    auto* const line = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (int x = 0; x < size.width(); ++x) {
      const std::size_t place = placeAt(x, y);
      const bool truths = both ? (x + y) / kMaskStripe % 2 == 0 : look.truth;
      if (truths ? known : look.said) line[x] = colours[truths ? classes.truth[place] : classes.said[place]];
      if (!look.outline || !known) continue;
      const bool here = wrong(x, y);
      if ((x > 0 && wrong(x - 1, y) != here) || (x + 1 < size.width() && wrong(x + 1, y) != here) ||
          (y > 0 && wrong(x, y - 1) != here) || (y + 1 < size.height() && wrong(x, y + 1) != here))
        line[x] = here ? inside : around;
    }
  }
  return image;
}

QRectF paintMasked(QPainter& painter, const Theme& theme, const QImage& picture, const ClassMap& classes,
                   const MaskLook& look, const QRectF& room) {
  const QSizeF own = !picture.isNull() ? QSizeF(picture.size())
                     : classes.isEmpty()
                         ? QSizeF(1, 1)
                         : QSizeF(static_cast<double>(classes.width), static_cast<double>(classes.height));
  const QSize drawn = own.scaled(room.size(), Qt::KeepAspectRatio).toSize().expandedTo(QSize(1, 1));
  const QRectF rect(QPointF(std::round(room.center().x() - drawn.width() / 2.0),
                            std::round(room.center().y() - drawn.height() / 2.0)),
                    QSizeF(drawn));
  painter.fillRect(rect, theme.colour(Colour::sunken));
  if (look.picture && !picture.isNull()) {
    painter.setRenderHint(QPainter::SmoothPixmapTransform, picture.width() > drawn.width());
    painter.drawImage(rect, picture);
  }
  if (classes.isEmpty()) return rect;
  const double ratio = painter.device()->devicePixelRatioF();
  QImage mask = maskImage(theme, classes, look, (QSizeF(drawn) * ratio).toSize());
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(rect, mask);
  return rect;
}

}  // namespace loom
