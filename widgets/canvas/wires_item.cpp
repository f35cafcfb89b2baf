#include "widgets/canvas/wires_item.h"

#include <QLineF>
#include <QPainter>
#include <QStyleOptionGraphicsItem>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/canvas_fonts.h"
#include "widgets/canvas/detail_levels.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kCorner = 7, kWireWidth = 1.6;

QRectF around(QPointF a, QPointF b) {
  return QRectF(QPointF(std::min(a.x(), b.x()), std::min(a.y(), b.y())),
                QPointF(std::max(a.x(), b.x()), std::max(a.y(), b.y())));
}

}  // namespace

WiresItem::WiresItem() {
  setZValue(-1);
  setFlag(ItemUsesExtendedStyleOption);
}

void WiresItem::setWire(Number wire, const Edge& edge) {
  if (wire >= m_wires.size()) m_wires.resize(wire + 1);
  m_wires[wire].edge = edge;
  light(m_wires[wire]);
}

void WiresItem::setPoints(Number number, const std::vector<QPointF>& points) {
  Wire& wire = m_wires[number];
  wire.points = points;
  wire.path = QPainterPath();  // made when it is painted: most wires of a large network are out of sight
  wire.rect = points.empty() ? QRectF() : QRectF(points.front(), points.front());
  for (std::size_t i = 1; i < points.size(); ++i)
    wire.rect = wire.rect.united(around(points[i - 1], points[i]).adjusted(-2, -2, 2, 2));
  if (wire.rect.isNull())
    m_grid.take(number);
  else
    m_grid.put(number, wire.rect);
  update();
}

void WiresItem::setLook(Number wire, WireLook look) {
  if (m_wires[wire].look == look) return;
  m_wires[wire].look = look;
  update();
}

void WiresItem::removeWire(Number wire) {
  m_grid.take(wire);
  m_wires[wire] = {};
  update();
}

void WiresItem::setWords(Number source, std::optional<WireWords> words) {
  if (source >= m_words.size()) m_words.resize(source + 1);
  Words& kept = m_words[source];
  if (!kept.words || !words || kept.words->text != words->text) kept.textOf = 0;
  kept.words = std::move(words);
  if (kept.words)
    m_wordGrid.put(source,
                   QRectF(kept.words->place.at - QPointF(kept.words->place.left ? 200 : 0, 16), QSizeF(200, 32)));
  else
    m_wordGrid.take(source);
  update();
}

void WiresItem::clear() {
  m_wires.clear();
  m_words.clear();
  m_wordGrid.clear();
  m_grid.clear();
  update();
}

void WiresItem::light(Wire& wire) const {
  wire.lit = m_selected.contains(wire.edge) || m_litNodes.contains(wire.edge.from.node) ||
             m_litNodes.contains(wire.edge.to.node);
}

void WiresItem::setLit(std::set<Edge> selected, std::set<std::string> nodes) {
  if (selected == m_selected && nodes == m_litNodes) return;
  m_selected = std::move(selected);
  m_litNodes = std::move(nodes);
  for (Wire& wire : m_wires) light(wire);
  update();
}

void WiresItem::setHovered(std::optional<Edge> edge) {
  if (edge == m_hovered) return;
  m_hovered = std::move(edge);
  update();
}

void WiresItem::setDimmed(std::optional<std::set<std::string>> bright) {
  if (bright == m_bright) return;
  m_bright = std::move(bright);
  update();
}

void WiresItem::setTarget(std::optional<Edge> edge) {
  if (edge == m_target) return;
  m_target = std::move(edge);
  update();
}

std::optional<Edge> WiresItem::edgeAt(QPointF at, double reach) const {
  const Wire* nearest = nullptr;
  double best = reach;
  m_grid.any(QRectF(at, at).adjusted(-reach, -reach, reach, reach), [&](std::size_t number, const QRectF&) {
    const Wire& wire = m_wires[number];
    for (std::size_t i = 1; i < wire.points.size(); ++i) {
      const QRectF piece = around(wire.points[i - 1], wire.points[i]);
      const double dx = std::max({piece.left() - at.x(), 0.0, at.x() - piece.right()});
      const double dy = std::max({piece.top() - at.y(), 0.0, at.y() - piece.bottom()});
      const double distance = std::hypot(dx, dy);
      if (distance >= best) continue;
      best = distance;
      nearest = &wire;
    }
    return false;
  });
  return nearest == nullptr ? std::nullopt : std::optional(nearest->edge);
}

std::vector<Edge> WiresItem::edgesIn(const QRectF& rect) const {
  std::set<std::size_t> found;
  m_grid.any(rect, [&](std::size_t number, const QRectF&) {
    const std::vector<QPointF>& points = m_wires[number].points;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (around(points[i - 1], points[i]).adjusted(-0.5, -0.5, 0.5, 0.5).intersects(rect)) {
        found.insert(number);
        break;
      }
    return false;
  });
  std::vector<Edge> edges;
  for (const std::size_t number : found) edges.push_back(m_wires[number].edge);
  return edges;
}

void WiresItem::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*) {
  const Theme& theme = Theme::of();
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  const QRectF exposed = option->exposedRect;
  painter->save();
  painter->setBrush(Qt::NoBrush);
  painter->setRenderHint(QPainter::Antialiasing, level >= kBlock);
  enum Batch { faint, normal, unknown, faulty, bright, batches };
  std::vector<Wire*> byBatch[batches];
  m_grid.any(exposed, [&](std::size_t number, const QRectF& rect) {
    Wire& wire = m_wires[number];
    if (!rect.intersects(exposed)) return false;
    const bool shines = wire.lit || (m_hovered && wire.edge == *m_hovered) || (m_target && wire.edge == *m_target);
    if (level < kBare && !shines) return false;
    const bool dim = m_bright && !(m_bright->contains(wire.edge.from.node) && m_bright->contains(wire.edge.to.node));
    byBatch[dim                 ? faint
            : wire.look.faulty  ? faulty
            : shines            ? bright
            : wire.look.unknown ? unknown
                                : normal]
        .push_back(&wire);
    return false;
  });
  const Colour colours[batches] = {Colour::axis, Colour::axis, Colour::axis, Colour::error, Colour::accentText};
  for (int batch = 0; batch < batches; ++batch) {
    if (byBatch[batch].empty()) continue;
    QPen pen(theme.colour(colours[batch], batch == faint ? 0.28 : 1), kWireWidth, Qt::SolidLine, Qt::RoundCap,
             Qt::RoundJoin);
    if (level < kBlock) {
      pen.setWidthF(batch <= unknown ? 1 : 2);
      pen.setCosmetic(true);
      painter->setPen(pen);
      QList<QLineF> lines;
      for (const Wire* wire : byBatch[batch])
        for (std::size_t p = 1; p < wire->points.size(); ++p) lines.emplace_back(wire->points[p - 1], wire->points[p]);
      painter->drawLines(lines);
      continue;
    }
    if (batch == unknown) {
      pen.setCapStyle(Qt::FlatCap);
      pen.setDashPattern({3 / kWireWidth, 3 / kWireWidth});
    }
    std::vector<Wire*> thick;
    if (batch > normal)
      std::erase_if(byBatch[batch], [&](Wire* wire) {
        if (!m_selected.contains(wire->edge) && !(m_target && wire->edge == *m_target)) return false;
        thick.push_back(wire);
        return true;
      });
    paintWires(*painter, pen, byBatch[batch]);
    pen.setWidthF(2.6);
    paintWires(*painter, pen, thick);
  }
  if (level >= kFull) paintWords(*painter, exposed);
  painter->restore();
}

// Straight ones all at once and without caps, which lie under the pins anyway: for lines of that kind there is a quick
// way to the pixels.
void WiresItem::paintWires(QPainter& painter, const QPen& pen, const std::vector<Wire*>& wires) {
  QList<QLineF> lines;
  painter.setPen(pen);
  for (Wire* wire : wires) {
    if (wire->points.size() == 2) {
      lines.emplace_back(wire->points.front(), wire->points.back());
      continue;
    }
    if (wire->path.isEmpty()) wire->path = roundedPath(wire->points, kCorner);
    painter.drawPath(wire->path);
  }
  if (lines.isEmpty()) return;
  QPen flat(pen);
  flat.setCapStyle(Qt::FlatCap);
  painter.setPen(flat);
  painter.drawLines(lines);
}

bool WiresItem::crossed(const QRectF& words, const Endpoint& source) const {
  return m_grid.any(words, [&](std::size_t number, const QRectF&) {
    const Wire& wire = m_wires[number];
    if (wire.edge.from == source) return false;
    for (std::size_t p = 1; p < wire.points.size(); ++p)
      if (around(wire.points[p - 1], wire.points[p]).adjusted(-1, -1, 1, 1).intersects(words)) return true;
    return false;
  });
}

void WiresItem::paintWords(QPainter& painter, const QRectF& exposed) {
  const Theme& theme = Theme::of();
  const CanvasFonts& fonts = CanvasFonts::now();
  m_wordGrid.any(exposed, [&](std::size_t source, const QRectF&) {
    Words& each = m_words[source];
    const WireWords& words = *each.words;
    if (m_bright && !m_bright->contains(words.place.pin.node)) return false;
    if (each.textOf != fonts.number) {
      each.textOf = fonts.number;
      each.text = PreparedText(words.text, fonts.figure);
    }
    const double width = each.text.width();
    const QPointF at = words.place.at - QPointF(words.place.left ? width : 0, 0);
    if (!QRectF(at.x(), at.y() - 12, width, 16).intersects(exposed)) return false;
    // Rows so close that a track runs where the words must stand: the words go over it.
    const QRectF behind(at.x() - 1, at.y() - 9, width + 2, 11);
    if (crossed(behind, words.place.pin)) painter.fillRect(behind, theme.colour(m_ground));
    painter.setPen(theme.colour(words.faulty ? Colour::error : Colour::text3));
    each.text.draw(painter, at.x(), at.y());
    return false;
  });
}

}  // namespace loom
