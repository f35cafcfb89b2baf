// NetworkView: what is seen. The drawing is kept as a picture: while it looks the same, a pan moves the picture and
// paints what comes into sight, and what only lies over it (a wire on its way, a band) costs no more than laying it
// down.
#include <QPainter>
#include <QStyleOptionGraphicsItem>
#include <QtMath>
#include <cmath>

#include "widgets/canvas/network_view.h"
#include "widgets/canvas/pixel_places.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr double kDots = 24, kDotsFrom = 0.4, kSparseBelow = 0.7;
}  // namespace

void NetworkView::paintEvent(QPaintEvent* event) {
  m_scene.lookedAt();
  layDown();
  const double ratio = m_laid.devicePixelRatio();
  QPainter painter(viewport());
  painter.scale(1 / ratio, 1 / ratio);  // pixel by pixel
  m_laid.setDevicePixelRatio(1);
  const QRectF wanted = QRectF(event->rect());
  const QRect pixels =
      QRectF(wanted.topLeft() * ratio, wanted.size() * ratio).toAlignedRect().intersected(m_laid.rect());
  painter.drawPixmap(pixels.topLeft(), m_laid, pixels);
  m_laid.setDevicePixelRatio(ratio);
  painter.setRenderHints(renderHints());
  painter.setWorldTransform(viewportTransform());
  drawForeground(&painter, mapToScene(event->rect()).boundingRect());
}

// Brings the picture of the drawing up to date.
void NetworkView::layDown() {
  const double ratio = devicePixelRatioF();
  const QTransform toView = viewportTransform();
  const QColor ground = groundColour();
  const QSize size(qCeil(viewport()->width() * ratio), qCeil(viewport()->height() * ratio));
  const QPointF moved = (QPointF(toView.dx(), toView.dy()) - m_laidAt) * ratio;
  const bool opened = m_unitView != nullptr && m_unitView->isOpen();  // the wedge to it lies below the drawing
  const bool same = !opened && m_laidOf == m_scene.appearance() && m_laidZoom == zoom() && m_laidGround == ground &&
                    m_laid.size() == size && m_laid.devicePixelRatio() == ratio && moved.x() == std::floor(moved.x()) &&
                    moved.y() == std::floor(moved.y()) && std::abs(moved.x()) < size.width() &&
                    std::abs(moved.y()) < size.height();
  if (m_laid.size() != size || m_laid.devicePixelRatio() != ratio) {
    m_laid = QPixmap(size);
    m_laid.setDevicePixelRatio(ratio);
  }
  m_laidOf = opened ? kNotLaid : m_scene.appearance();
  m_laidZoom = zoom();
  m_laidGround = ground;
  m_laidAt = QPointF(toView.dx(), toView.dy());
  const QRect all(QPoint(), size);
  if (!same) return layDown(all);
  const QPoint step(static_cast<int>(moved.x()), static_cast<int>(moved.y()));
  if (step.isNull()) return;
  QRegion bare;
  m_laid.scroll(step.x(), step.y(), all, &bare);
  for (const QRect& strip : bare) layDown(strip);
}

// A part of it, in pixels of the screen.
void NetworkView::layDown(const QRect& pixels) {
  const double ratio = m_laid.devicePixelRatio();
  QPainter painter(&m_laid);
  painter.setRenderHints(renderHints());
  painter.scale(1 / ratio, 1 / ratio);
  painter.setClipRect(pixels);
  painter.setWorldTransform(viewportTransform());
  const QRectF seen = QRectF(QPointF(pixels.topLeft()) / ratio, QSizeF(pixels.size()) / ratio).adjusted(-1, -1, 1, 1);
  const QRectF area = viewportTransform().inverted().mapRect(seen);
  drawBackground(&painter, area);
  QStyleOptionGraphicsItem option;
  for (QGraphicsItem* item : m_scene.items(area, Qt::IntersectsItemBoundingRect, Qt::AscendingOrder)) {
    painter.save();
    painter.setOpacity(item->effectiveOpacity());
    painter.setWorldTransform(item->sceneTransform(), true);
    option.exposedRect = item->mapRectFromScene(area) & item->boundingRect();
    item->paint(&painter, &option, nullptr);
    painter.restore();
  }
}

QColor NetworkView::groundColour() const {
  return Theme::of(this).colour(m_embedded ? Colour::surface : Colour::canvas);
}

void NetworkView::drawBackground(QPainter* painter, const QRectF& rect) {
  painter->fillRect(rect, groundColour());
  if (m_embedded) return;
  drawDots(*painter, rect);
  drawWedge(painter);
}

// Dots are of one size at every zoom: one is painted once, a row of them once for the area, and the row laid down for
// each row of the grid.
void NetworkView::drawDots(QPainter& painter, const QRectF& area) {
  if (zoom() < kDotsFrom) return;
  const double step = zoom() < kSparseBelow ? 2 * kDots : kDots, size = std::max(1.0, std::min(zoom(), 1.5));
  const double ratio = painter.device()->devicePixelRatioF(), cell = step * zoom();
  const QColor colour = Theme::of(this).colour(Colour::dot);
  if (m_dots.isNull() || m_dotsCell != cell || m_dotsColour != colour || m_dotsRatio != ratio) {
    m_dotsCell = cell;
    m_dotsColour = colour;
    m_dotsRatio = ratio;
    m_dots = QPixmap(QSize(qCeil(3 * size), qCeil(3 * size)) * ratio);
    m_dots.setDevicePixelRatio(ratio);
    m_dots.fill(Qt::transparent);
    {
      QPainter dot(&m_dots);
      dot.setRenderHint(QPainter::Antialiasing);
      QPen pen(colour, 2 * size);
      pen.setCapStyle(Qt::RoundCap);
      dot.setPen(pen);
      dot.drawPoint(QPointF(1.5 * size, 1.5 * size));
    }
    m_dots.setDevicePixelRatio(1);
  }
  const QTransform toView = painter.worldTransform();
  const QRectF seen = toView.mapRect(area);
  const double beyond = 2 * size / zoom();  // a dot whose middle is outside may reach in
  const double left = onPixel((seen.left() - 1.5 * size) * ratio);
  QPixmap row(static_cast<int>(std::ceil((seen.width() + 6 * size) * ratio)) + m_dots.width(), m_dots.height());
  row.fill(Qt::transparent);
  {
    QPainter dots(&row);
    for (double x = std::floor(area.left() / step) * step; x <= area.right() + beyond; x += step)
      dots.drawPixmap(QPointF(onPixel((toView.m11() * x + toView.dx() - 1.5 * size) * ratio) - left, 0), m_dots);
  }
  painter.save();
  painter.setWorldTransform(QTransform::fromScale(1 / ratio, 1 / ratio));
  for (double y = std::floor(area.top() / step) * step; y <= area.bottom() + beyond; y += step)
    painter.drawPixmap(QPointF(left, onPixel((toView.m22() * y + toView.dy() - 1.5 * size) * ratio)), row);
  painter.restore();
}

void NetworkView::drawForeground(QPainter* painter, const QRectF&) {
  const Theme& theme = Theme::of(this);
  if (m_gesture == Gesture::band) {
    QPen pen(theme.colour(Colour::focus), 1);
    pen.setCosmetic(true);
    painter->setPen(pen);
    painter->setBrush(theme.colour(Colour::focus, 0.08));
    painter->drawRect(m_band);
  }
  if (m_dropGhost) {
    painter->setPen(QPen(theme.colour(Colour::focus), 1.5, Qt::DashLine));
    painter->setBrush(theme.colour(Colour::focus, 0.06));
    painter->drawRoundedRect(*m_dropGhost, 8, 8);
  }
  if (m_wiring) {
    const bool refused = !m_wiring->target && !m_scene.nodeAt(m_wiring->end).empty() &&
                         m_scene.nodeAt(m_wiring->end) != m_wiring->from.end.node;
    painter->setPen(QPen(theme.colour(refused ? Colour::error : Colour::accentText), 2,
                         m_wiring->target ? Qt::SolidLine : Qt::DashLine, Qt::RoundCap, Qt::RoundJoin));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(wirePreview());
    if (m_wiring->target) {
      painter->setBrush(theme.colour(Colour::accentText));
      painter->drawEllipse(m_wiring->target->at, 4, 4);
    }
  }
  if (m_asked) {
    QPen pen(theme.colour(Colour::focus), 1.5, Qt::DashLine);
    pen.setCosmetic(true);
    painter->setPen(pen);
    painter->setBrush(theme.colour(Colour::focus, 0.06));
    painter->drawRoundedRect(*m_asked, 10, 10);
  }
  if (m_scene.picked().nodes.size() > 1 && m_scene.picked().groups.empty() && !m_asked) {
    QPen pen(theme.colour(Colour::focus, 0.5), 1, Qt::DashLine);
    pen.setCosmetic(true);
    painter->setPen(pen);
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(m_scene.cardsRect(m_scene.picked().nodes).adjusted(-10, -10, 10, 10), 10, 10);
  }
}

}  // namespace loom
