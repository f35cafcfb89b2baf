#include "widgets/theme/status.h"

#include <QPainter>
#include <QPainterPath>
#include <QPainterPathStroker>
#include <array>

namespace loom {
namespace {

struct Look {
  Status status;
  const char* name;
  const char* word;
  Colour colour;
};

constexpr std::array<Look, 8> kLooks = {{
    {Status::running, "status-running", "Running", Colour::running},
    {Status::ok, "status-ok", "Finished", Colour::ok},
    {Status::failed, "status-failed", "Failed", Colour::error},
    {Status::warning, "status-warning", "Warning", Colour::warning},
    {Status::queued, "status-queued", "Queued", Colour::idle},
    {Status::stopped, "status-stopped", "Stopped", Colour::idle},
    {Status::paused, "status-paused", "Paused", Colour::idle},
    {Status::reconnecting, "status-reconnecting", "Reconnecting", Colour::warning},
}};

const Look& look(Status status) {
  return kLooks[static_cast<std::size_t>(status)];
}

QPainterPath stroked(const QPainterPath& path, double width) {
  QPainterPathStroker stroker;
  stroker.setWidth(width);
  stroker.setCapStyle(Qt::RoundCap);
  stroker.setJoinStyle(Qt::RoundJoin);
  return stroker.createStroke(path);
}

QPainterPath polyline(std::initializer_list<QPointF> points) {
  QPainterPath path;
  bool first = true;
  for (const QPointF& point : points) {
    if (first)
      path.moveTo(point);
    else
      path.lineTo(point);
    first = false;
  }
  return path;
}

QPainterPath circle(double radius) {
  QPainterPath path;
  path.addEllipse(QPointF(0, 0), radius, radius);
  return path;
}

// The shape in a square of 14 around the origin.
QPainterPath shape(Status status) {
  switch (status) {
    case Status::ok:
      return circle(7).subtracted(stroked(polyline({{-3.2, 0.2}, {-0.9, 2.6}, {3.1, -2.2}}), 1.7));
    case Status::failed: {
      QPainterPath octagon =
          polyline({{-2.9, -7}, {2.9, -7}, {7, -2.9}, {7, 2.9}, {2.9, 7}, {-2.9, 7}, {-7, 2.9}, {-7, -2.9}});
      octagon.closeSubpath();
      return octagon.subtracted(stroked(polyline({{-2.4, -2.4}, {2.4, 2.4}}), 1.7))
          .subtracted(stroked(polyline({{2.4, -2.4}, {-2.4, 2.4}}), 1.7));
    }
    case Status::warning: {
      QPainterPath triangle = polyline({{0, -6.3}, {6.5, 5.6}, {-6.5, 5.6}});
      triangle.closeSubpath();
      QPainterPath dot;
      dot.addEllipse(QPointF(0, 3.5), 1, 1);
      return triangle.united(stroked(triangle, 1.2))
          .subtracted(stroked(polyline({{0, -2.2}, {0, 1.2}}), 1.6))
          .subtracted(dot);
    }
    case Status::queued:
      return stroked(circle(6), 1.6).united(stroked(polyline({{0, -3}, {0, 0.2}, {2.2, 1.6}}), 1.5));
    case Status::stopped: {
      QPainterPath square;
      square.addRoundedRect(QRectF(-5.5, -5.5, 11, 11), 2, 2);
      return square;
    }
    case Status::paused: {
      QPainterPath bars;
      bars.addRoundedRect(QRectF(-5, -6, 3.6, 12), 1, 1);
      bars.addRoundedRect(QRectF(1.4, -6, 3.6, 12), 1, 1);
      return bars;
    }
    case Status::reconnecting:
      return stroked(circle(6), 1.6).united(stroked(polyline({{-4, 4}, {4, -4}}), 1.6));
    case Status::running:
      return circle(2.6);
  }
  return {};
}

}  // namespace

Colour statusColour(Status status) {
  return look(status).colour;
}
QString statusWord(Status status) {
  return QString::fromLatin1(look(status).word);
}
QString statusIcon(Status status) {
  return QString::fromLatin1(look(status).name);
}

std::optional<Status> statusOfIcon(const QString& icon) {
  if (!icon.startsWith(QLatin1String("status-"))) return std::nullopt;
  for (const Look& look : kLooks) {
    if (icon == QLatin1String(look.name)) return look.status;
  }
  return std::nullopt;
}

void paintStatus(QPainter& painter, Status status, const QRectF& rect, const QColor& colour, double turn) {
  static const std::array<QPainterPath, 8> shapes = [] {
    std::array<QPainterPath, 8> made;
    for (const Look& look : kLooks) made[static_cast<std::size_t>(look.status)] = shape(look.status);
    return made;
  }();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(rect.center());
  painter.scale(rect.width() / 14, rect.height() / 14);
  if (status == Status::running) {
    QColor faint = colour;
    faint.setAlphaF(0.35f * colour.alphaF());
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(faint, 1.6));
    painter.drawEllipse(QPointF(0, 0), 6, 6);
    painter.setPen(QPen(colour, 1.8, Qt::SolidLine, Qt::RoundCap));
    painter.drawArc(QRectF(-6, -6, 12, 12), qRound((90 - 360 * turn) * 16), -90 * 16);
  }
  painter.fillPath(shapes[static_cast<std::size_t>(status)], colour);
  painter.restore();
}

}  // namespace loom
