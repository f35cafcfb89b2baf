#pragma once
// One network of the project as cards and wires. Follows the document by its changes; keeps the selection, what is
// hovered, and what is only shown while the mouse is held (dragged places, legal pins). Changes nothing in the
// document. While nobody sees it, it does nothing, and catches up when it is shown.
#include <QGraphicsScene>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "widgets/canvas/cards_item.h"
#include "widgets/canvas/cost_scale.h"
#include "widgets/canvas/recorded_figures.h"
#include "widgets/canvas/scene_groups.h"
#include "widgets/canvas/shown_drawing.h"
#include "widgets/canvas/wires_item.h"
#include "widgets/document/project_document.h"
#include "widgets/document/unit_edits.h"

namespace loom {

class PickHistory;

struct PinHit {
  Endpoint end;
  bool output = false;
  QPointF at;
};

// A picked group has all its nodes picked too.
struct Picked {
  std::set<std::string> nodes;
  std::set<Edge> wires;
  std::set<std::string> groups{}, comments{};
  bool operator==(const Picked&) const = default;
  bool empty() const { return nodes.empty() && wires.empty() && groups.empty() && comments.empty(); }
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
  const Node* node(std::string_view id) const { return m_document.node(m_name, id); }
  Drawing drawing() const;
  void setCostKind(CostKind kind);
  // What this drawing costs in training: found by whoever plans it, shown by the kinds that are not of one sample.
  void setCosts(NetworkCosts costs);
  const NetworkCosts& costs() const { return m_costs; }
  // What a run recorded of this drawing, for the kinds that show it.
  void setRecorded(RecordedFigures figures);
  const RecordedFigures& recorded() const { return m_recorded; }
  const RecordedFigures::Node* recorded(const std::string& card) const {  // null: nothing
    const auto found = m_recorded.nodes.find(card);
    return found == m_recorded.nodes.end() ? nullptr : &found->second;
  }
  // They are being found anew: what stands on the cards is from before, and grey where it is of a step.
  void setCostsFaint(bool faint);
  bool costsFaint() const { return m_cards->costsFaint(); }
  const CostScale& costScale() const { return m_scale; }  // of the colours of the cards; empty: they have bars
  template <class Visit>
  void eachCard(Visit visit) const {
    m_cards->each(visit);
  }
  void setGround(Colour ground) { m_wires->setGround(ground); }  // what the drawing lies on
  Colour ground() const { return m_wires->ground(); }
  bool wiresCross(const QRectF& words) const { return m_wires->crossed(words, {}); }
  CostKind costKind() const { return m_costKind; }
  // False: nothing is followed until it is seen again.
  void setSeen(bool seen);
  void catchUp();  // now, seen or not: before something of it is asked for

  const Picked& picked() const { return m_picked; }
  std::vector<std::string> pickedNodes() const;  // in the order of the file
  void pick(Picked picked);                      // as a person wants it: undoing a later step brings it back
  Picked existing(const Picked& picked) const;   // what of it is here
  void pickNode(const std::string& id) { pick({{id}, {}}); }

  // Shows a unit as this use of it sees it; without one as its first use does.
  void setUse(const UnitUse& use);
  const UnitUse& use() const { return m_use; }
  // Of the drawing as it is shown here.
  const Analysis& analysis() const {
    return m_ofUse ? m_document.analysisOfUse(m_use.drawing, m_use.node) : m_document.analysis(m_name);
  }

  // Groups and comments.
  void pickGroup(const std::string& id);
  SceneGroups& groups() { return *m_groups; }
  const SceneGroups& groups() const { return *m_groups; }
  bool isFoldedGroup(const std::string& card) const;
  std::vector<std::string> foldedIn(const QRectF& rect) const;
  std::string cardAt(QPointF at) const;  // a node or a folded group; empty = none
  // What the selection neither leads to nor comes from is drawn faintly.
  void setDimming(bool on);
  bool dimming() const { return m_dimming; }

  CardItem* card(const std::string& id) const { return m_cards->card(id); }  // of a node, or of a folded group
  CardsItem& cards() const { return *m_cards; }
  // Another whenever anything of it looks otherwise than before.
  std::size_t appearance() const { return m_appearance; }
  // Its views are told at once, and not again before they have looked: QGraphicsView's own way to do so ends where a
  // view paints by itself.
  void looksOtherwise() {
    ++m_appearance;
    if (!m_told) tell();
  }
  void lookedAt() { m_told = false; }
  std::string nodeAt(QPointF at) const;  // empty = none
  std::optional<PinHit> pinAt(QPointF at, double reach) const;
  std::optional<Edge> wireAt(QPointF at, double reach) const { return m_wires->edgeAt(at, reach); }
  std::vector<std::string> nodesIn(const QRectF& rect) const;
  QRectF cardsRect(const std::set<std::string>& ids = {}) const;  // of all when empty
  std::vector<Edge> edgesIn(const QRectF& rect) const { return m_wires->edgesIn(rect); }
  const std::vector<QPointF>& wayOf(const Edge& edge) const;  // from pin to pin; empty for no wire

  void setHovered(const std::string& node, std::optional<Edge> wire, std::optional<PinHit> pin);
  const std::string& hoveredNode() const { return m_hovered; }
  void setTarget(std::optional<Edge> edge) { m_wires->setTarget(std::move(edge)); }
  // Cards at other places than the document has them, while they are dragged.
  void preview(const std::map<std::string, QPointF>& places);
  const std::map<std::string, QPointF>& previewed() const { return m_preview; }
  // Marks what a wire from this end may go to; nothing marked without one. `except` is the wire that is being taken
  // off.
  void markLegal(const std::optional<PinHit>& from, const std::optional<Edge>& except = {});

 Q_SIGNALS:
  void picksChanged();
  void refreshed();  // words, shapes, faults or places
  void networkSwitched();
  void dimmingChanged();  // by a key on the canvas
  void costsChanged();
  void costKindChanged();
  void recordedStepWanted(qint64 step);  // another of recorded().steps shall be shown
  void recordingWanted();                // a person wants to know how layers are recorded

 private:
  static constexpr std::size_t kNoCard = static_cast<std::size_t>(-1);
  // What the scene keeps of a wire: `from` and `to` are cards, the pins theirs.
  struct Wire {
    Edge edge;   // as it is seen: an end that a folded group hides is a pin of its card
    Edge meant;  // of the drawing
    CardItem *from = nullptr, *to = nullptr;
    std::size_t fromCard = kNoCard, toCard = kNoCard;  // their numbers
    std::size_t output = 0, input = 0;
    std::uint32_t source = 0, order = 0;
    bool there = false;
  };
  struct Source {  // an output with wires
    Endpoint pin;
    std::vector<std::size_t> wires;
    std::size_t port = 0;        // among the node's outputs, as the analysis has them
    std::size_t slot = 0;        // among the pins of the card
    std::optional<Shape> shape;  // as it is shown
    bool looked = false;
    bool toWord = false;  // it stands in m_worded
  };
  struct Hash {
    std::size_t operator()(const Endpoint& end) const {
      const std::size_t node = std::hash<std::string>()(end.node);
      return node ^ (std::hash<std::string>()(end.port) + 0x9e3779b97f4a7c15 + (node << 6) + (node >> 2));
    }
    std::size_t operator()(const Edge& edge) const { return 31 * (*this)(edge.from) + (*this)(edge.to); }
  };

  Drawing seen() const { return m_shown ? m_shown->drawing() : drawing(); }
  Edge meantBy(std::size_t wire) const {
    return m_shown ? network().edges[m_shown->edges[wire]] : network().edges[wire];
  }
  std::vector<CardPin> foldedPins(const Node& group, bool output) const;
  void refreshGroups(const CardFigures& figures);
  void dim();
  void rebuild();  // everything, from nothing
  void followChange(const ProjectChange& change);
  void follow(const NetworkChange& change);  // what it names, of the drawing as it is seen
  NetworkChange differenceToSeen(const NetworkChange& told);
  void refreshCard(NetworkIndex::Position at, CardItem& item);  // words and pins
  void refreshFigures();                                        // costs, faults, shapes, from the analysis
  void numberWires();                                           // all, by the order of the file
  bool numberWires(const NetworkChange& change);  // those that it names; false where they cannot be told apart
  // The wire that is seen so, but for `except`; kNone where there is none.
  NumberTable::Number numberOf(const Edge& edge, NumberTable::Number except = NumberTable::kNone) const;
  std::size_t newWire(const Edge& edge, const Edge& meant);
  void dropWire(std::size_t number);
  void endWire(std::size_t number);                          // pins of its cards, anew
  void placeWire(std::size_t number, bool touched = false);  // and where they stand
  void placeWires(const std::string& node);                  // all of a node
  void route();
  void routeLater();                  // what waits, for some milliseconds
  void restCard(std::size_t number);  // the router shall know where it stands
  void settleCard(std::size_t number);
  QRectF seenArea() const;  // null where all is to be done at once
  void showWay(std::size_t number);
  void reword(std::uint32_t source);  // soon
  void wordAll();
  void word(std::uint32_t source);
  void keepPicks();
  void take(Picked picked);
  void tell();
  std::optional<Shape> shapeOf(const Endpoint& end) const;
  std::optional<std::size_t> portOf(const Endpoint& end) const;
  void showCost(CardItem& item, double share, double bar, double cost);

  ProjectDocument& m_document;
  std::string m_name = "main";
  CostKind m_costKind = CostKind::multiplyAdds;
  NetworkCosts m_costs;
  RecordedFigures m_recorded;
  CostScale m_scale;
  bool m_costsFaint = false;
  WiresItem* m_wires;
  CardsItem* m_cards;
  std::unique_ptr<SceneGroups> m_groups;
  UnitUse m_use;
  bool m_ofUse = false;                 // what is shown is as that use sees it
  std::optional<ShownDrawing> m_shown;  // only where a group is folded
  WireRouter m_router;
  std::vector<Wire> m_ofNumber;
  std::vector<std::size_t> m_free;
  NumberTable m_numbers;               // by their edges as they are seen
  std::vector<std::size_t> m_byOrder;  // numbers in the order of the file
  NumberTable m_sourceOf;              // by their pins
  std::vector<Source> m_sources;
  std::vector<std::uint32_t> m_byPin;   // sources by their pins; those that came since stand behind
  std::size_t m_sortedPins = 0;         // so many of them are in order
  std::vector<std::uint32_t> m_worded;  // sources whose words are to be set
  // Cards whose new places the router has not been told: those in sight are told at once, the others while nothing else
  // is to do.
  std::vector<std::size_t> m_restless;
  std::vector<char> m_isRestless;
  QTimer m_later;
  std::set<Endpoint> m_redPins;
  std::set<std::string> m_faulty;  // cards with faults or warnings
  Picked m_picked;
  PickHistory* m_history;
  std::string m_hovered;
  std::map<std::string, QPointF> m_preview;
  std::set<std::string> m_hotCards;  // hovered, or with a hovered pin
  bool m_dimming = false;
  bool m_fresh = false;  // followed a change already when its analysis is announced
  bool m_seen = true, m_stale = false;
  std::size_t m_appearance = 0;
  bool m_told = false;
};

}  // namespace loom
