#pragma once
// One network of the project as cards and wires. Follows the document; keeps the selection, what is hovered, and what is only
// shown while the mouse is held (dragged places, legal pins). Changes nothing in the document.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <QGraphicsScene>

#include "widgets/canvas/card_item.h"
#include "widgets/canvas/wires_item.h"
#include "widgets/document/project_document.h"

namespace loom {

struct PinHit {
  Endpoint end;
  bool output = false;
  QPointF at;
};

struct Picked {
  std::set<std::string> nodes;
  std::set<Edge> wires;
  bool operator==(const Picked&) const = default;
  bool empty() const { return nodes.empty() && wires.empty(); }
};

class NetworkScene : public QGraphicsScene {
  Q_OBJECT
 public:
  explicit NetworkScene(ProjectDocument& document, QObject* parent = nullptr);
  ~NetworkScene() override;

  ProjectDocument& document() const { return m_document; }
  const std::string& networkName() const { return m_name; }
  void setNetwork(const std::string& name);
  const Network& network() const;
  void setCostKind(CostKind kind);
  CostKind costKind() const { return m_costKind; }

  const Picked& picked() const { return m_picked; }
  std::vector<std::string> pickedNodes() const;  // in the order of the file
  void pick(Picked picked);
  void pickNode(const std::string& id) { pick({{id}, {}}); }

  CardItem* card(const std::string& id) const;
  std::string nodeAt(QPointF at) const;                    // empty = none
  std::optional<PinHit> pinAt(QPointF at, double reach) const;
  std::optional<Edge> wireAt(QPointF at, double reach) const { return m_wires->edgeAt(at, reach); }
  std::vector<std::string> nodesIn(const QRectF& rect) const;
  QRectF cardsRect(const std::set<std::string>& ids = {}) const;  // of all when empty
  std::vector<Edge> edgesIn(const QRectF& rect) const { return m_wires->edgesIn(rect); }
  const WiresItem& wires() const { return *m_wires; }

  void setHovered(const std::string& node, std::optional<Edge> wire, std::optional<PinHit> pin);
  const std::string& hoveredNode() const { return m_hovered; }
  void setTarget(std::optional<Edge> edge) { m_wires->setTarget(std::move(edge)); }
  // Cards at other places than the document has them, while they are dragged.
  void preview(const std::map<std::string, QPointF>& places);
  // Marks what a wire from this end may go to; nothing marked without one. `except` is the wire that is being taken off.
  void markLegal(const std::optional<PinHit>& from, const std::optional<Edge>& except = {});

 Q_SIGNALS:
  void picksChanged();
  void refreshed();       // words, shapes, faults or places
  void networkSwitched();

 private:
  void rebuild();
  void refreshContents();
  void reroute();
  void followChange(const ProjectChange& change);

  ProjectDocument& m_document;
  std::string m_name = "main";
  CostKind m_costKind = CostKind::multiplyAdds;
  std::map<std::string, CardItem*> m_cards;
  WiresItem* m_wires;
  Picked m_picked;
  std::string m_hovered;
  std::map<std::string, QPointF> m_preview;
  bool m_fresh = false;  // followed a change already when its analysis is announced
};

}  // namespace loom
