#include "widgets/canvas/network_scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/document/network_edits.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kHalfWorld = 100000;  // a fixed scene rectangle: nothing jumps when a card is added

const Network& emptyNetwork() {
  static const Network empty;
  return empty;
}

}  // namespace

NetworkScene::NetworkScene(ProjectDocument& document, QObject* parent) : QGraphicsScene(parent), m_document(document), m_wires(new WiresItem) {
  setSceneRect(-kHalfWorld, -kHalfWorld, 2 * kHalfWorld, 2 * kHalfWorld);
  addItem(m_wires);
  connect(&document, &ProjectDocument::opened, this, [this] {
    const auto& networks = m_document.project().networks;
    setNetwork(networks.empty() ? std::string() : networks.front().name);
  });
  connect(&document, &ProjectDocument::changed, this, &NetworkScene::followChange);
  connect(&document, &ProjectDocument::analysisChanged, this, [this] {
    if (!std::exchange(m_fresh, false)) refreshContents();
  });
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    for (const auto& [id, card] : m_cards) card->restyle();
    update();
  });
  const auto& networks = m_document.project().networks;
  if (!networks.empty()) m_name = networks.front().name;
  rebuild();
}

NetworkScene::~NetworkScene() = default;

const Network& NetworkScene::network() const {
  const Network* network = m_document.network(m_name);
  return network != nullptr ? *network : emptyNetwork();
}

void NetworkScene::setNetwork(const std::string& name) {
  m_name = name;
  m_preview.clear();
  m_picked = {};
  m_hovered.clear();
  rebuild();
  Q_EMIT networkSwitched();
  Q_EMIT picksChanged();
}

void NetworkScene::setCostKind(CostKind kind) {
  m_costKind = kind;
  refreshContents();
}

void NetworkScene::followChange(const ProjectChange& change) {
  if (change.networkList && m_document.network(m_name) == nullptr) {
    const auto& networks = m_document.project().networks;
    setNetwork(networks.empty() ? std::string() : networks.front().name);
    return;
  }
  const bool mine = change.networkList || std::any_of(change.networks.begin(), change.networks.end(),
                                                      [&](const NetworkChange& each) { return each.network == m_name; });
  if (mine) rebuild();
  m_fresh = mine;
}

void NetworkScene::rebuild() {
  const Network& drawn = network();
  std::erase_if(m_cards, [&](const auto& entry) {
    if (drawn.find(entry.first) != nullptr) return false;
    delete entry.second;
    return true;
  });
  for (const Node& node : drawn.nodes) {
    CardItem*& card = m_cards[node.id];
    if (card == nullptr) {
      card = new CardItem(node.id);
      addItem(card);
    }
    if (!m_preview.contains(node.id)) card->setPos(node.x, node.y);
  }
  refreshContents();
  Picked kept;
  for (const std::string& id : m_picked.nodes)
    if (drawn.find(id) != nullptr) kept.nodes.insert(id);
  for (const Edge& edge : m_picked.wires)
    if (std::find(drawn.edges.begin(), drawn.edges.end(), edge) != drawn.edges.end()) kept.wires.insert(edge);
  if (!m_cards.contains(m_hovered)) m_hovered.clear();
  pick(std::move(kept));
}

void NetworkScene::refreshContents() {
  const Network& drawn = network();
  const Analysis& analysis = m_document.analysis(m_name);
  for (const Node& node : drawn.nodes) {
    CardItem* item = card(node.id);
    if (item == nullptr) continue;
    const QRectF rect = cardRect(node);
    const QPointF centre(node.x, node.y);
    std::vector<CardPin> inputs, outputs;
    const std::vector<PinSlot> in = inputSlots(drawn, node), out = outputSlots(node);
    const auto count = [&](const Endpoint& end, bool output) {
      return std::count_if(drawn.edges.begin(), drawn.edges.end(), [&](const Edge& edge) { return (output ? edge.from : edge.to) == end; });
    };
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Endpoint end{node.id, in[i].port};
      inputs.push_back({end, in[i].slot, in[i].optional, count(end, false) > in[i].slot, QPointF(pinX(rect, i, in.size()), rect.top()) - centre});
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Endpoint end{node.id, out[i].port};
      outputs.push_back({end, 0, out[i].optional, count(end, true) > 0, QPointF(pinX(rect, i, out.size()), rect.bottom()) - centre});
    }
    item->setContent(cardContent(node, analysis, m_costKind), rect.width(), std::move(inputs), std::move(outputs));
  }
  reroute();
  Q_EMIT refreshed();
}

void NetworkScene::reroute() {
  const Network& drawn = network();
  const Analysis& analysis = m_document.analysis(m_name);
  const auto shapeOf = [&](const Endpoint& end) -> std::optional<Shape> {
    const auto facts = analysis.nodes.find(end.node);
    const Node* node = drawn.find(end.node);
    if (facts == analysis.nodes.end() || node == nullptr) return std::nullopt;
    const std::vector<PinSlot> outputs = outputSlots(*node);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].port == end.port && i < facts->second.outputs.size()) return facts->second.outputs[i];
    return std::nullopt;
  };
  // Red: the wire that a problem names, and wires into a node whose inputs should agree and do not.
  std::set<Edge> red;
  for (const Problem& problem : analysis.problems) {
    if (problem.severity != Severity::error) continue;
    if (problem.edge) red.insert(*problem.edge);
    if (problem.node.empty() || !problem.field.empty()) continue;
    std::vector<Edge> into;
    std::set<std::vector<std::int64_t>> shapes;
    for (const Edge& edge : drawn.edges) {
      if (edge.to.node != problem.node) continue;
      into.push_back(edge);
      if (const auto shape = shapeOf(edge.from)) shapes.insert(shape->extents());
    }
    if (into.size() > 1 && shapes.size() > 1) red.insert(into.begin(), into.end());
  }
  Routing routing = routeWires(drawn, m_preview);
  std::vector<WireLook> looks;
  std::set<Endpoint> redPins;
  for (const Edge& edge : drawn.edges) {
    looks.push_back({!shapeOf(edge.from), red.contains(edge)});
    if (red.contains(edge)) redPins.insert(edge.from);
  }
  std::vector<WireWords> words;
  for (const WireLabel& label : routing.labels) {
    const auto shape = shapeOf(label.pin);
    words.push_back({label, shape ? shapeText(*shape) : QStringLiteral("?"), !shape || redPins.contains(label.pin)});
  }
  m_wires->setWires(drawn.edges, std::move(routing), std::move(looks), std::move(words));
}

CardItem* NetworkScene::card(const std::string& id) const {
  const auto found = m_cards.find(id);
  return found == m_cards.end() ? nullptr : found->second;
}

std::vector<std::string> NetworkScene::pickedNodes() const {
  std::vector<std::string> ids;
  for (const Node& node : network().nodes)
    if (m_picked.nodes.contains(node.id)) ids.push_back(node.id);
  return ids;
}

void NetworkScene::pick(Picked picked) {
  const bool differs = !(picked == m_picked);
  m_picked = std::move(picked);
  for (const auto& [id, item] : m_cards) item->setPicked(m_picked.nodes.contains(id));
  m_wires->setLit(m_picked.wires, m_picked.nodes);
  if (differs) Q_EMIT picksChanged();
}

std::string NetworkScene::nodeAt(QPointF at) const {
  const auto& nodes = network().nodes;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const CardItem* item = card(node->id);
    if (item != nullptr && item->sceneCard().contains(at)) return node->id;
  }
  return {};
}

std::optional<PinHit> NetworkScene::pinAt(QPointF at, double reach) const {
  std::optional<PinHit> nearest;
  double best = reach;
  for (const auto& [id, item] : m_cards) {
    if (!item->sceneCard().adjusted(-reach, -reach, reach, reach).contains(at)) continue;
    const auto look = [&](const std::vector<CardPin>& pins, bool output) {
      for (const CardPin& pin : pins) {
        const QPointF place = item->pos() + pin.at;
        const double distance = std::hypot(at.x() - place.x(), at.y() - place.y());
        if (distance > best) continue;
        best = distance;
        nearest = PinHit{pin.end, output, place};
      }
    };
    look(item->inputs(), false);
    look(item->outputs(), true);
  }
  return nearest;
}

std::vector<std::string> NetworkScene::nodesIn(const QRectF& rect) const {
  std::vector<std::string> ids;
  for (const Node& node : network().nodes)
    if (const CardItem* item = card(node.id); item != nullptr && item->sceneCard().intersects(rect)) ids.push_back(node.id);
  return ids;
}

QRectF NetworkScene::cardsRect(const std::set<std::string>& ids) const {
  QRectF rect;
  for (const auto& [id, item] : m_cards)
    if (ids.empty() || ids.contains(id)) rect = rect.isNull() ? item->sceneCard() : rect.united(item->sceneCard());
  return rect;
}

void NetworkScene::setHovered(const std::string& node, std::optional<Edge> wire, std::optional<PinHit> pin) {
  const std::string hovered = pin ? pin->end.node : node;
  for (const auto& [id, item] : m_cards) {
    item->setHovered(id == hovered);
    item->setHoveredPin(pin && pin->end.node == id ? std::optional(pin->end) : std::nullopt);
  }
  m_wires->setHovered(std::move(wire));
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  Q_EMIT refreshed();
}

void NetworkScene::preview(const std::map<std::string, QPointF>& places) {
  for (const auto& [id, place] : m_preview)
    if (!places.contains(id))
      if (const Node* node = network().find(id); node != nullptr && card(id) != nullptr) card(id)->setPos(node->x, node->y);
  m_preview = places;
  for (const auto& [id, place] : places)
    if (CardItem* item = card(id)) item->setPos(place);
  reroute();
}

void NetworkScene::markLegal(const std::optional<PinHit>& from, const std::optional<Edge>& except) {
  Network without = network();
  if (except) std::erase(without.edges, *except);
  for (const auto& [id, item] : m_cards) {
    if (!from) {
      item->setLegality(Legality::none, {}, {});
      continue;
    }
    bool any = id == from->end.node;
    const auto judge = [&](const std::vector<CardPin>& pins, bool output) {
      std::vector<Legality> found;
      for (const CardPin& pin : pins) {
        const Edge edge = from->output ? Edge{from->end, pin.end} : Edge{pin.end, from->end};
        const bool legal = output != from->output && whyNotConnect(without, edge).empty();
        any = any || legal;
        found.push_back(legal ? Legality::legal : Legality::none);
      }
      return found;
    };
    std::vector<Legality> inputs = judge(item->inputs(), false), outputs = judge(item->outputs(), true);
    item->setLegality(any ? Legality::none : Legality::illegal, std::move(inputs), std::move(outputs));
  }
}

}  // namespace loom
