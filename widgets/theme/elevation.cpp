#include "widgets/theme/elevation.h"

#include <QHash>
#include <QPaintEngine>
#include <QPainter>
#include <QPixmap>
#include <QtMath>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

struct Layer {
  double spread, drop, opacity;
};

constexpr Layer kNode[] = {{0.5, 0.5, 0.06}, {1, 1, 0.05}};
constexpr Layer kMenu[] = {{1, 1, 0.06}, {3, 2, 0.04}, {7, 3, 0.022}, {12, 5, 0.012}};

void drawShadow(QPainter& painter, const QRectF& card, double radius, Elevation elevation) {
  const Theme& theme = Theme::of();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const double strength = theme.isDark() ? 3 : 1;  // a dark ground swallows a faint shadow
  const auto draw = [&](const Layer& layer) {
    painter.setBrush(theme.colour(Colour::shadow, std::min(1.0, layer.opacity * strength)));
    painter.drawRoundedRect(
        card.adjusted(-layer.spread, -layer.spread, layer.spread, layer.spread).translated(0, layer.drop),
        radius + layer.spread, radius + layer.spread);
  };
  if (elevation == Elevation::node) {
    for (const Layer& layer : kNode) draw(layer);
  } else {
    for (const Layer& layer : kMenu) draw(layer);
  }
  painter.restore();
}

// A square of corner + 1 + corner pixels, of which the middle is stretched.
const QPixmap& patch(int corner, double radius, Elevation elevation, double ratio) {
  static QHash<QString, QPixmap> patches;
  const Theme& theme = Theme::of();
  const QString key =
      QStringLiteral("%1|%2|%3|%4").arg(radius).arg(static_cast<int>(elevation)).arg(ratio).arg(theme.isDark());
  auto found = patches.find(key);
  if (found != patches.end()) return *found;
  const int margin = shadowMargin(elevation);
  const int side = 2 * corner + 1;
  QPixmap pixmap(qCeil(side * ratio), qCeil(side * ratio));
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  drawShadow(painter, QRectF(margin, margin, side - 2 * margin, side - 2 * margin), radius, elevation);
  painter.end();
  return *patches.insert(key, pixmap);
}

}  // namespace

int shadowMargin(Elevation elevation) {
  return elevation == Elevation::node ? 3 : 18;
}

bool paintsVectors(const QPainter& painter) {
  const QPaintEngine* const engine = painter.paintEngine();
  return engine && (engine->type() == QPaintEngine::SVG || engine->type() == QPaintEngine::Pdf);
}

void paintShadow(QPainter& painter, const QRectF& card, double radius, Elevation elevation) {
  if (paintsVectors(painter)) return;
  const int margin = shadowMargin(elevation);
  const int corner = margin + qCeil(radius) + 6;  // what is beyond stretches without a seam
  const double ratio = painter.device()->devicePixelRatioF();
  const QPixmap& source = patch(corner, radius, elevation, ratio);
  const QRectF target = card.adjusted(-margin, -margin, margin, margin);
  if (target.width() < 2 * corner || target.height() < 2 * corner) {
    drawShadow(painter, card, radius, elevation);  // too small for four corners
    return;
  }
  const double from[4] = {0, corner * ratio, (corner + 1) * ratio, (2 * corner + 1) * ratio};
  const double xs[4] = {target.left(), target.left() + corner, target.right() - corner, target.right()};
  const double ys[4] = {target.top(), target.top() + corner, target.bottom() - corner, target.bottom()};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      painter.drawPixmap(QRectF(QPointF(xs[column], ys[row]), QPointF(xs[column + 1], ys[row + 1])), source,
                         QRectF(QPointF(from[column], from[row]), QPointF(from[column + 1], from[row + 1])));
    }
  }
}

void paintCard(QPainter& painter, const QRectF& card, double radius, Elevation elevation) {
  const Theme& theme = Theme::of();
  paintShadow(painter, card, radius, elevation);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.colour(Colour::lineStrong), 1));
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  painter.restore();
}

}  // namespace loom
