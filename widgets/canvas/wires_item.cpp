#include "widgets/canvas/wires_item.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QLineF>
#include <QPainter>
#include <QStyleOptionGraphicsItem>

#include "widgets/canvas/detail_levels.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kCell = 128, kCorner = 7, kWireWidth = 1.6;

std::uint64_t cellKey(int x, int y) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) << 32) | static_cast<std::uint32_t>(y);
}
int cellOf(double at) { return static_cast<int>(std::floor(at / kCell)); }

QRectF around(QPointF a, QPointF b) {
  return QRectF(QPointF(std::min(a.x(), b.x()), std::min(a.y(), b.y())), QPointF(std::max(a.x(), b.x()), std::max(a.y(), b.y())));
}

template <class Visit>
void forCells(const QRectF& rect, Visit visit) {
  for (int x = cellOf(rect.left()); x <= cellOf(rect.right()); ++x)
    for (int y = cellOf(rect.top()); y <= cellOf(rect.bottom()); ++y) visit(cellKey(x, y));
}

}  // namespace

WiresItem::WiresItem() {
  setZValue(-1);
  setFlag(ItemUsesExtendedStyleOption);
}

void WiresItem::setWires(const std::vector<Edge>& edges, Routing routing, std::vector<WireLook> looks, std::vector<WireWords> words) {
  prepareGeometryChange();
  m_edges = edges;
  m_routing = std::move(routing);
  m_looks = std::move(looks);
  m_words = std::move(words);
  m_paths.clear();
  m_rects.clear();
  m_grid.clear();
  m_bounds = {};
  for (std::size_t i = 0; i < m_edges.size(); ++i) {
    const std::vector<QPointF>& points = m_routing.routes[i].points;
    m_paths.push_back(roundedPath(points, kCorner));
    m_rects.push_back(m_paths.back().controlPointRect().adjusted(-2, -2, 2, 2));
    m_bounds = m_bounds.united(m_rects.back());
    for (std::size_t p = 1; p < points.size(); ++p) {
      const QRectF piece = around(points[p - 1], points[p]);
      forCells(piece, [&](std::uint64_t cell) { m_grid[cell].push_back({i, piece}); });
    }
  }
  m_bounds.adjust(-120, -10, 120, 10);  // shapes stand beside
  update();
}

void WiresItem::setLit(std::set<Edge> selected, std::set<std::string> nodes) {
  m_selected = std::move(selected);
  m_litNodes = std::move(nodes);
  update();
}

void WiresItem::setHovered(std::optional<Edge> edge) {
  if (edge == m_hovered) return;
  m_hovered = std::move(edge);
  update();
}

void WiresItem::setTarget(std::optional<Edge> edge) {
  if (edge == m_target) return;
  m_target = std::move(edge);
  update();
}

std::optional<Edge> WiresItem::edgeAt(QPointF at, double reach) const {
  std::optional<Edge> nearest;
  double best = reach;
  forCells(QRectF(at, at).adjusted(-reach, -reach, reach, reach), [&](std::uint64_t cell) {
    const auto found = m_grid.find(cell);
    if (found == m_grid.end()) return;
    for (const Piece& piece : found->second) {
      const double dx = std::max({piece.rect.left() - at.x(), 0.0, at.x() - piece.rect.right()});
      const double dy = std::max({piece.rect.top() - at.y(), 0.0, at.y() - piece.rect.bottom()});
      const double distance = std::hypot(dx, dy);
      if (distance >= best) continue;
      best = distance;
      nearest = m_edges[piece.edge];
    }
  });
  return nearest;
}

std::vector<Edge> WiresItem::edgesIn(const QRectF& rect) const {
  std::set<std::size_t> found;
  forCells(rect, [&](std::uint64_t cell) {
    const auto pieces = m_grid.find(cell);
    if (pieces == m_grid.end()) return;
    for (const Piece& piece : pieces->second)
      if (piece.rect.adjusted(-0.5, -0.5, 0.5, 0.5).intersects(rect)) found.insert(piece.edge);
  });
  std::vector<Edge> edges;
  for (const std::size_t index : found) edges.push_back(m_edges[index]);
  return edges;
}

bool WiresItem::lit(const Edge& edge) const {
  return m_selected.contains(edge) || m_litNodes.contains(edge.from.node) || m_litNodes.contains(edge.to.node);
}

void WiresItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*) {
  const Theme& theme = Theme::of();
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  const QRectF exposed = option->exposedRect;
  painter->save();
  painter->setBrush(Qt::NoBrush);
  painter->setRenderHint(QPainter::Antialiasing, level >= kBlock);
  enum Batch { normal, unknown, faulty, bright, batches };
  std::vector<std::size_t> byBatch[batches];
  for (std::size_t i = 0; i < m_edges.size(); ++i) {
    if (!m_rects[i].intersects(exposed)) continue;
    const bool shines = lit(m_edges[i]) || m_edges[i] == m_hovered || m_edges[i] == m_target;
    if (level < kBare && !shines) continue;
    byBatch[m_looks[i].faulty ? faulty : shines ? bright : m_looks[i].unknown ? unknown : normal].push_back(i);
  }
  const Colour colours[batches] = {Colour::axis, Colour::axis, Colour::error, Colour::accentText};
  for (int batch = 0; batch < batches; ++batch) {
    if (byBatch[batch].empty()) continue;
    QPen pen(theme.colour(colours[batch]), kWireWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    if (level < kBlock) {
      pen.setWidthF(batch == normal || batch == unknown ? 1 : 2);
      pen.setCosmetic(true);
      painter->setPen(pen);
      QList<QLineF> lines;
      for (const std::size_t i : byBatch[batch]) {
        const auto& points = m_routing.routes[i].points;
        for (std::size_t p = 1; p < points.size(); ++p) lines.emplace_back(points[p - 1], points[p]);
      }
      painter->drawLines(lines);
      continue;
    }
    if (batch == unknown) {
      pen.setCapStyle(Qt::FlatCap);
      pen.setDashPattern({3 / kWireWidth, 3 / kWireWidth});
    }
    for (const std::size_t i : byBatch[batch]) {
      const bool thick = m_selected.contains(m_edges[i]) || m_edges[i] == m_target;
      pen.setWidthF(thick ? 2.6 : kWireWidth);
      painter->setPen(pen);
      painter->drawPath(m_paths[i]);
    }
  }
  if (level >= kFull) paintWords(*painter, exposed);
  painter->restore();
}

void WiresItem::paintWords(QPainter& painter, const QRectF& exposed) const {
  const Theme& theme = Theme::of();
  const QFont font = theme.numberFont(FontRole::wireLabel);
  const QFontMetricsF metrics(font);
  painter.setFont(font);
  for (const WireWords& words : m_words) {
    const double width = metrics.horizontalAdvance(words.text);
    const QPointF at = words.place.at - QPointF(words.place.left ? width : 0, 0);
    if (!QRectF(at.x(), at.y() - 12, width, 16).intersects(exposed)) continue;
    // Rows so close that a track runs where the words must stand: the words go over it.
    painter.fillRect(QRectF(at.x() - 1, at.y() - 9, width + 2, 11), theme.colour(Colour::canvas));
    painter.setPen(theme.colour(words.faulty ? Colour::error : Colour::text3));
    painter.drawText(at, words.text);
  }
}

}  // namespace loom
