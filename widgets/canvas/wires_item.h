#pragma once
// All wires of a network as one item, with the shapes that stand on them. Painted in batches (normal, unknown, faulty,
// lit); hits are looked up in a grid. Wires have numbers, which the scene gives: one that changes is the only one that
// is touched.
#include <QPainterPath>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/network/analysis.h"
#include "widgets/canvas/canvas_item.h"
#include "widgets/canvas/prepared_text.h"
#include "widgets/canvas/wire_router.h"
#include "widgets/theme/tokens.h"

namespace loom {

struct WireLook {
  bool unknown = false;  // no shape: dashed
  bool faulty = false;
  bool operator==(const WireLook&) const = default;
};

struct WireWords {
  WireLabel place;
  QString text;
  bool faulty = false;  // "?" or one of two shapes that disagree
};

class WiresItem : public CanvasItem {
 public:
  enum { Type = UserType + 2 };
  using Number = WireRouter::Number;
  WiresItem();

  void setWire(Number wire, const Edge& edge);  // what stands there; its way comes with setPoints()
  void setPoints(Number wire, const std::vector<QPointF>& points);
  void setLook(Number wire, WireLook look);
  void removeWire(Number wire);
  void setWords(Number source, std::optional<WireWords> words);  // beside an output
  void clear();
  const std::vector<QPointF>& points(Number wire) const { return m_wires[wire].points; }

  void setGround(Colour ground) {  // what the words stand on
    m_ground = ground;
    update();
  }
  Colour ground() const { return m_ground; }
  // Drawn in accentText: selected wires and those of selected nodes.
  void setLit(std::set<Edge> selected, std::set<std::string> nodes);
  void setHovered(std::optional<Edge> edge);
  // Wires with an end outside of these nodes are drawn faintly; without a value none are.
  void setDimmed(std::optional<std::set<std::string>> bright);
  // The wire that a dragged node would be put into.
  void setTarget(std::optional<Edge> edge);

  std::optional<Edge> edgeAt(QPointF scenePos, double reach) const;
  std::vector<Edge> edgesIn(const QRectF& rect) const;              // with a piece inside
  bool crossed(const QRectF& words, const Endpoint& source) const;  // by a wire of another pin

  int type() const override { return Type; }
  QRectF boundingRect() const override { return {-1e7, -1e7, 2e7, 2e7}; }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  struct Wire {
    Edge edge;
    std::vector<QPointF> points;
    QPainterPath path;
    QRectF rect;  // null: none
    WireLook look;
    bool lit = false;
  };
  struct Words {
    std::optional<WireWords> words;
    PreparedText text;
    std::size_t textOf = 0;  // by which fonts it was laid out, 0 = not yet
  };
  void light(Wire& wire) const;
  void paintWires(QPainter& painter, const QPen& pen, const std::vector<Wire*>& wires);
  void paintWords(QPainter& painter, const QRectF& exposed);

  std::vector<Wire> m_wires;
  std::vector<Words> m_words;
  CardGrid m_wordGrid{512, 512};  // of where their words may stand
  Colour m_ground = Colour::canvas;
  std::set<Edge> m_selected;
  std::set<std::string> m_litNodes;
  std::optional<Edge> m_hovered, m_target;
  std::optional<std::set<std::string>> m_bright;
  CardGrid m_grid{512, 512};  // of their rectangles
};

}  // namespace loom
