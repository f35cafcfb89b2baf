#pragma once
// All wires of a network as one item, with the shapes that stand on them. Painted in batches (normal, unknown, faulty, lit); hits
// are looked up in a grid of segments.
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <QGraphicsItem>
#include <QPainterPath>

#include "engine/network/analysis.h"
#include "widgets/canvas/wire_router.h"

namespace loom {

struct WireLook {
  bool unknown = false;  // no shape: dashed
  bool faulty = false;
};

struct WireWords {
  WireLabel place;
  QString text;
  bool faulty = false;  // "?" or one of two shapes that disagree
};

class WiresItem : public QGraphicsItem {
 public:
  enum { Type = UserType + 2 };
  WiresItem();

  void setWires(const std::vector<Edge>& edges, Routing routing, std::vector<WireLook> looks, std::vector<WireWords> words);
  // Drawn in accentText: selected wires and those of selected nodes.
  void setLit(std::set<Edge> selected, std::set<std::string> nodes);
  void setHovered(std::optional<Edge> edge);
  // The wire that a dragged node would be put into.
  void setTarget(std::optional<Edge> edge);

  std::optional<Edge> edgeAt(QPointF scenePos, double reach) const;
  std::vector<Edge> edgesIn(const QRectF& rect) const;  // with a piece inside
  const Routing& routing() const { return m_routing; }

  int type() const override { return Type; }
  QRectF boundingRect() const override { return m_bounds; }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  bool lit(const Edge& edge) const;
  void paintWords(QPainter& painter, const QRectF& exposed) const;

  std::vector<Edge> m_edges;
  Routing m_routing;
  std::vector<QPainterPath> m_paths;
  std::vector<QRectF> m_rects;
  std::vector<WireLook> m_looks;
  std::vector<WireWords> m_words;
  std::set<Edge> m_selected;
  std::set<std::string> m_litNodes;
  std::optional<Edge> m_hovered, m_target;
  QRectF m_bounds;
  struct Piece {
    std::size_t edge;
    QRectF rect;
  };
  std::unordered_map<std::uint64_t, std::vector<Piece>> m_grid;
};

}  // namespace loom
