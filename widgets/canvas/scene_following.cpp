// NetworkScene: how it follows the document, by what a change names.
#include <algorithm>

#include <QGraphicsView>

#include "widgets/canvas/card_content.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

std::string wireKey(const Edge& edge) { return edge.from.node + '\n' + edge.from.port + '\n' + edge.to.node + '\n' + edge.to.port; }

}  // namespace

void NetworkScene::followChange(const ProjectChange& change) {
  m_cards->setRules(nullptr, {}, false);  // they refer to the drawing as it was
  if (change.networkList && m_document.network(m_name) == nullptr) {
    const auto& networks = m_document.project().networks;
    setNetwork(networks.empty() ? std::string() : networks.front().name);
    return;
  }
  bool mine = change.anything || std::find(change.came.begin(), change.came.end(), m_name) != change.came.end();
  const NetworkChange* own = nullptr;
  for (const NetworkChange& each : change.networks)
    if (each.network == m_name) own = &each;
  // What a unit is may change the pins and costs of what uses it.
  for (const NetworkChange& each : change.networks) mine = mine || (own != &each && m_document.project().unit(each.network) != nullptr);
  if (!mine && own == nullptr) return;
  if (!m_seen) {
    m_stale = true;
    return;
  }
  // A folded group makes another drawing of it: from nothing.
  if (mine || own->groups || m_shown || hasFolded(network())) rebuild();
  else follow(*own);
  m_fresh = m_document.checksAreCurrent();  // else what is shown is older, and what is announced is wanted
}

void NetworkScene::rebuild() {
  m_shown.reset();
  if (hasFolded(network())) m_shown = shownDrawing(m_document.project(), network(), m_preview);
  const Drawing here = seen();
  const Network& drawn = here.network;
  m_cards->setRules(nullptr, {}, false);
  m_wires->clear();
  m_router.clear();
  m_ofNumber.clear();
  m_free.clear();
  m_numbers.clear();
  m_sourceOf.clear();
  m_sources.clear();
  m_worded.clear();
  m_restless.clear();
  m_isRestless.clear();
  m_redPins.clear();
  m_faulty.clear();
  std::vector<std::string> gone;
  m_cards->each([&](const CardItem& item) {
    if (here.find(item.id()) == nullptr) gone.push_back(item.id());
  });
  for (const std::string& id : gone) m_cards->remove(id);
  for (const Node& node : drawn.nodes) {
    CardItem& item = m_cards->add(node.id);
    if (!m_preview.contains(node.id)) item.setPos(node.x, node.y);
    refreshCard(node.id);
    restCard(item);
  }
  m_byOrder.clear();
  numberWires();
  refreshFigures();
  keepPicks();
}

void NetworkScene::follow(const NetworkChange& change) {
  const Drawing here = drawing();
  std::set<const CardItem*> gone;
  std::vector<std::size_t> left;
  for (const std::string& id : change.removed)
    if (const CardItem* item = card(id)) {
      left.push_back(item->number());
      gone.insert(item);
      m_cards->remove(id);
      m_faulty.erase(id);
    }
  if (!gone.empty())
    for (Wire& wire : m_ofNumber)
      if (gone.contains(wire.from) || gone.contains(wire.to)) wire.from = wire.to = nullptr;
  std::set<std::string> stirred(change.added.begin(), change.added.end());
  stirred.insert(change.changed.begin(), change.changed.end());
  for (const std::vector<Edge>* edges : {&change.wired, &change.unwired})
    for (const Edge& edge : *edges) {
      stirred.insert(edge.from.node);
      stirred.insert(edge.to.node);
    }
  std::set<std::string> shifted(change.moved.begin(), change.moved.end());
  shifted.insert(change.added.begin(), change.added.end());
  for (const std::string& id : shifted) {
    const Node* node = here.find(id);
    if (node == nullptr) continue;
    CardItem& item = m_cards->add(id);
    if (!m_preview.contains(id)) item.setPos(node->x, node->y);
  }
  for (const std::string& id : stirred)
    if (here.find(id) != nullptr) refreshCard(id);
  shifted.insert(stirred.begin(), stirred.end());
  if (change.edges && !numberWires(change)) {
    rebuild();
    return;
  }
  for (const std::size_t number : left) m_router.removeCard(number);
  for (const std::string& id : shifted)
    if (const CardItem* item = card(id)) restCard(*item);
  for (const std::string& id : stirred) {
    const auto at = here.index.node(id);
    if (at == NetworkIndex::kNone) continue;
    for (const auto& wires : {here.index.into(at), here.index.outOf(at)})
      for (const auto wire : wires)
        for (auto [found, end] = m_numbers.equal_range(wireKey(here.network.edges[wire])); found != end; ++found) endWire(found->second);
  }
  // What the analysis says is taken when it is of this drawing; what it said stays until then.
  if (change.structure() && m_document.checksAreCurrent()) {
    refreshFigures();
  } else {
    if (change.comments) m_groups->followComments(network());
    m_groups->place(network(), m_preview);
    route();
    Q_EMIT refreshed();
  }
  keepPicks();
}

QRectF NetworkScene::seenArea() const {
  constexpr std::size_t kAllAtOnce = 1500;  // wires: some milliseconds
  if (m_byOrder.size() <= kAllAtOnce || views().isEmpty()) return {};
  const QGraphicsView* view = views().front();
  const QRectF seen = view->mapToScene(view->viewport()->rect()).boundingRect();
  return seen.adjusted(-200, -200, 200, 200);
}

void NetworkScene::restCard(const CardItem& card) {
  const std::size_t number = card.number();
  if (number >= m_isRestless.size()) m_isRestless.resize(number + 1, 0);
  if (m_isRestless[number]) return;
  m_isRestless[number] = 1;
  m_restless.push_back(number);
}

void NetworkScene::settleCard(std::size_t number) {
  m_isRestless[number] = 0;
  const CardItem* item = m_cards->card(number);
  if (item == nullptr) return m_router.removeCard(number);
  m_router.setCard(number, item->sceneCard());
  placeWires(item->id());
}

// What is in sight at once, within a frame; the rest when nothing else is to do.
void NetworkScene::route() {
  constexpr double kAtOnce = 8;
  const QRectF seen = seenArea();
  const bool all = seen.isNull();
  std::vector<std::size_t> others;
  for (const std::size_t number : std::exchange(m_restless, {})) {
    const CardItem* item = m_cards->card(number);
    const bool isSeen = all || item == nullptr || item->sceneCard().adjusted(-40, -120, 40, 120).intersects(seen) || m_router.cardTouches(number, seen);
    if (isSeen) settleCard(number);
    else others.push_back(number);
  }
  m_restless = std::move(others);
  for (const std::size_t number : all ? m_router.route() : m_router.route(seen, kAtOnce)) showWay(number);
  for (const std::uint32_t source : std::exchange(m_worded, {})) word(source);
  if (!m_restless.empty() || !m_router.isRouted()) m_later.start();
}

void NetworkScene::routeLater() {
  constexpr double kSlice = 6;
  constexpr std::size_t kCards = 400;
  if (!m_seen || m_stale) return;
  const std::size_t many = std::min(kCards, m_restless.size());
  const std::vector<std::size_t> now(m_restless.end() - static_cast<std::ptrdiff_t>(many), m_restless.end());
  m_restless.resize(m_restless.size() - many);
  for (const std::size_t number : now) settleCard(number);
  if (m_restless.empty())
    for (const std::size_t number : m_router.route({}, kSlice)) showWay(number);
  for (const std::uint32_t source : std::exchange(m_worded, {})) word(source);
  if (!m_restless.empty() || !m_router.isRouted()) m_later.start();
}

void NetworkScene::showWay(std::size_t number) {
  m_wires->setPoints(number, m_router.points(number));
  m_worded.insert(m_ofNumber[number].source);
}

// Words and pins; costs and faults are refreshFigures()'s.
void NetworkScene::refreshCard(const std::string& id) {
  const Drawing here = seen();
  const auto at = here.index.node(id);
  CardItem& item = m_cards->add(id);
  const Node& node = here.network.nodes[at];
  if (const Group* group = m_shown ? network().group(id) : nullptr)
    return item.setContent(groupContent(network(), *group), kCardWidth, foldedPins(node, false), foldedPins(node, true));
  const QRectF rect = cardRect(node);
  const QPointF centre(node.x, node.y);
  std::vector<CardPin> inputs, outputs;
  const std::vector<PinSlot> in = inputSlots(here, at), out = outputSlots(here.project, node);
  const auto count = [&](const std::string& port, bool output) {
    const auto wires = output ? here.index.outOf(at) : here.index.into(at);
    return std::count_if(wires.begin(), wires.end(), [&](auto wire) {
      const Edge& edge = here.network.edges[wire];
      return (output ? edge.from : edge.to).port == port;
    });
  };
  for (std::size_t i = 0; i < in.size(); ++i)
    inputs.push_back({{id, in[i].port}, in[i].slot, in[i].optional, count(in[i].port, false) > in[i].slot, QPointF(pinX(rect, i, in.size()), rect.top()) - centre});
  for (std::size_t i = 0; i < out.size(); ++i)
    outputs.push_back({{id, out[i].port}, 0, out[i].optional, count(out[i].port, true) > 0, QPointF(pinX(rect, i, out.size()), rect.bottom()) - centre});
  CardContent content = cardContent(m_document.project(), node);
  if (m_document.project().unit(m_name) != nullptr && isPortNode(node)) content.form = CardContent::Form::port;
  content.share = item.content().share;
  content.bar = item.content().bar;
  content.errors = item.content().errors;
  content.warnings = item.content().warnings;
  item.setContent(std::move(content), rect.width(), std::move(inputs), std::move(outputs));
}

std::size_t NetworkScene::newWire(const Edge& edge, const Edge& meant) {
  std::size_t number = m_ofNumber.size();
  if (m_free.empty()) {
    m_ofNumber.emplace_back();
  } else {
    number = m_free.back();
    m_free.pop_back();
  }
  const auto [source, isNew] = m_sourceOf.emplace(meant.from, static_cast<std::uint32_t>(m_sources.size()));
  if (isNew) m_sources.push_back({meant.from, {}});
  Source& from = m_sources[source->second];
  m_ofNumber[number] = {.edge = edge, .meant = meant, .source = source->second, .there = true};
  from.wires.push_back(number);
  from.looked = false;
  m_worded.insert(source->second);
  m_numbers.emplace(wireKey(edge), number);
  m_wires->setWire(number, meant);
  return number;
}

void NetworkScene::dropWire(std::size_t number) {
  Wire& wire = m_ofNumber[number];
  auto [found, end] = m_numbers.equal_range(wireKey(wire.edge));
  while (found != end && found->second != number) ++found;
  if (found != end) m_numbers.erase(found);
  std::erase(m_sources[wire.source].wires, number);
  m_worded.insert(wire.source);
  m_router.removeWire(number);
  m_wires->removeWire(number);
  wire = {};
  m_free.push_back(number);
}

void NetworkScene::numberWires() {
  const Drawing here = seen();
  const Network& drawn = here.network;
  for (std::size_t number = 0; number < m_ofNumber.size(); ++number)
    if (m_ofNumber[number].there) dropWire(number);
  m_byOrder.clear();
  for (std::size_t i = 0; i < drawn.edges.size(); ++i) {
    m_byOrder.push_back(newWire(drawn.edges[i], meantBy(i)));
    m_ofNumber[m_byOrder.back()].order = static_cast<std::uint32_t>(i);
  }
  for (const std::size_t number : m_byOrder) endWire(number);  // placed with their cards, all of which are new to the router
}

// Wires that stay keep their numbers, and with them their ways.
bool NetworkScene::numberWires(const NetworkChange& change) {
  const Drawing here = drawing();
  if (m_numbers.size() != m_byOrder.size()) return false;
  std::set<std::string> come, go;
  for (const Edge& edge : change.wired) come.insert(wireKey(edge));
  for (const Edge& edge : change.unwired) go.insert(wireKey(edge));
  std::vector<std::size_t> leaving, turned;  // turned: at another place among the others
  for (const Edge& edge : change.unwired) {
    const auto found = m_numbers.find(wireKey(edge));
    if (found == m_numbers.end() || m_numbers.count(found->first) > 1) return false;
    (come.contains(found->first) ? turned : leaving).push_back(found->second);
  }
  std::vector<std::pair<std::size_t, std::size_t>> put;  // place in the file, number
  for (const std::size_t number : turned) put.emplace_back(here.index.wire(here.network, m_ofNumber[number].edge), number);
  std::vector<char> taken(m_ofNumber.size(), 0);
  for (const auto* numbers : {&leaving, &turned})
    for (const std::size_t number : *numbers) taken[number] = 1;
  std::erase_if(m_byOrder, [&](std::size_t number) { return taken[number] != 0; });
  for (const std::size_t number : leaving) dropWire(number);
  std::vector<std::size_t> fresh;
  for (const Edge& edge : change.wired) {
    if (go.contains(wireKey(edge))) continue;
    const auto at = here.index.wire(here.network, edge);
    if (at == NetworkIndex::kNone || m_numbers.contains(wireKey(edge))) return false;
    fresh.push_back(newWire(edge, edge));
    put.emplace_back(at, fresh.back());
  }
  std::sort(put.begin(), put.end());
  std::vector<std::size_t> order;
  order.reserve(m_byOrder.size() + put.size());
  std::size_t next = 0, kept = 0;
  while (next < put.size() || kept < m_byOrder.size()) {
    if (next < put.size() && (put[next].first <= order.size() || kept == m_byOrder.size())) order.push_back(put[next++].second);
    else order.push_back(m_byOrder[kept++]);
  }
  m_byOrder = std::move(order);
  if (m_byOrder.size() != here.network.edges.size()) return false;
  for (std::size_t i = 0; i < m_byOrder.size(); ++i) {
    Wire& wire = m_ofNumber[m_byOrder[i]];
    if (wire.edge != here.network.edges[i]) return false;
    wire.order = static_cast<std::uint32_t>(i);
  }
  std::vector<char> isFresh(m_ofNumber.size(), 0);
  for (const std::size_t number : fresh) isFresh[number] = 1;
  for (const std::size_t number : m_byOrder)
    if (!isFresh[number]) m_router.setOrder(number, m_ofNumber[number].order);
  for (const std::size_t number : fresh) endWire(number);
  for (const std::size_t number : fresh) placeWire(number);
  for (const std::size_t number : turned) placeWire(number, true);
  return true;
}

void NetworkScene::endWire(std::size_t number) {
  Wire& wire = m_ofNumber[number];
  wire.from = card(wire.edge.from.node);
  wire.to = card(wire.edge.to.node);
  if (wire.from == nullptr || wire.to == nullptr) return;
  const auto& outputs = wire.from->outputs();
  wire.output = static_cast<std::size_t>(std::find_if(outputs.begin(), outputs.end(), [&](const CardPin& pin) { return pin.end == wire.meant.from; }) - outputs.begin());
  m_sources[wire.source].slot = wire.output;
  m_sources[wire.source].port = portOf(wire.meant.from).value_or(wire.output);
  // Of a port that takes several, the slot is the wire's place among those that end there.
  const Drawing here = seen();
  int slot = 0;
  for (const auto other : here.index.into(here.index.node(wire.edge.to.node)))
    if (other < wire.order && here.network.edges[other].to == wire.edge.to) ++slot;
  const auto& inputs = wire.to->inputs();
  wire.input = inputs.size();
  int seen = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].end != wire.meant.to) continue;
    if (wire.input == inputs.size() || seen <= slot) wire.input = i;
    ++seen;
  }
}

void NetworkScene::placeWire(std::size_t number, bool touched) {
  const Wire& wire = m_ofNumber[number];
  if (wire.from == nullptr || wire.to == nullptr) return m_router.removeWire(number);
  const auto pinOf = [](const CardItem& card, const std::vector<CardPin>& pins, std::size_t at, double edge) {
    return card.pos() + (at < pins.size() ? pins[at].at : QPointF(0, edge));
  };
  const WireRouter::Wire ends{pinOf(*wire.from, wire.from->outputs(), wire.output, kCardHeight / 2), pinOf(*wire.to, wire.to->inputs(), wire.input, -kCardHeight / 2),
                              wire.source, wire.order};
  // Until it has its way: the old one beside cards that moved together, else straight from pin to pin.
  if (!m_router.hasWay(number) || m_router.ends(number).from != ends.from || m_router.ends(number).to != ends.to) {
    std::vector<QPointF> shown{ends.from, ends.to};
    if (m_router.hasWay(number) && ends.from - m_router.ends(number).from == ends.to - m_router.ends(number).to) {
      shown = m_router.points(number);
      for (QPointF& point : shown) point += ends.from - m_router.ends(number).from;
    }
    m_wires->setPoints(number, shown);
  }
  m_router.setWire(number, ends, touched);
  m_worded.insert(wire.source);
}

const std::vector<QPointF>& NetworkScene::wayOf(const Edge& edge) const {
  static const std::vector<QPointF> none;
  const auto found = m_numbers.find(wireKey(edge));
  return found == m_numbers.end() ? none : m_wires->points(found->second);
}

// The shape beside an output, at the side to which no wire leaves.
void NetworkScene::word(std::uint32_t number) {
  const Source& source = m_sources[number];
  bool right = false;
  const CardItem* from = nullptr;
  for (const std::size_t wire : source.wires) {
    if (m_ofNumber[wire].from == nullptr || m_ofNumber[wire].to == nullptr) continue;
    from = m_ofNumber[wire].from;
    right = right || turnsRight(m_wires->points(wire));
  }
  if (from == nullptr) return m_wires->setWords(number, std::nullopt);
  const QPointF at = from->pos() + (source.slot < from->outputs().size() ? from->outputs()[source.slot].at : QPointF(0, kCardHeight / 2));
  m_wires->setWords(number, WireWords{labelAt(source.pin, at, right), source.shape ? shapeText(*source.shape) : QStringLiteral("?"),
                                      !source.shape || m_redPins.contains(source.pin)});
}

// What follows from the analysis: costs, faults, shapes.
void NetworkScene::refreshFigures() {
  const Drawing here = seen();
  m_useAnalysis.reset();
  if (const Node* use = m_use.node.empty() ? nullptr : m_document.node(m_use.drawing, m_use.node); use != nullptr && use->unit == m_name)
    m_useAnalysis = analysisOfUse(m_document.project(), m_use);
  const Analysis& analysis = this->analysis();
  const CardFigures figures(m_document.project(), network(), analysis, m_costs, m_costKind);
  for (const auto& [id, facts] : analysis.nodes)
    if (CardItem* item = card(id)) item->setCost(figures.share(id), figures.bar(id));
  std::set<std::string> faulty;
  for (const auto& [id, faults] : figures.faults) faulty.insert(id);
  for (const std::string& id : m_faulty)
    if (CardItem* item = card(id); item != nullptr && !faulty.contains(id)) item->setFaults({}, {});
  for (const auto& [id, faults] : figures.faults)
    if (CardItem* item = card(id)) item->setFaults(faults.errors, faults.warnings);
  m_faulty = std::move(faulty);

  // Red: the wire that a problem names, and wires into a node whose inputs should agree and do not.
  std::set<Edge> red;
  for (const Problem& problem : analysis.problems) {
    if (problem.severity != Severity::error || problem.network != m_name) continue;
    if (problem.edge) red.insert(*problem.edge);
    const auto at = problem.node.empty() || !problem.field.empty() ? NetworkIndex::kNone : here.index.node(problem.node);
    if (at == NetworkIndex::kNone || here.index.into(at).size() < 2) continue;
    std::set<std::vector<std::int64_t>> shapes;
    for (const auto wire : here.index.into(at))
      if (const auto shape = shapeOf(meantBy(wire).from)) shapes.insert(shape->extents());
    if (shapes.size() > 1)
      for (const auto wire : here.index.into(at)) red.insert(meantBy(wire));
  }
  std::set<Endpoint> redPins;
  for (const Edge& edge : red) redPins.insert(edge.from);
  // Both are sorted by the node: one walk.
  auto facts = analysis.nodes.begin();
  for (const auto& [pin, number] : m_sourceOf) {
    while (facts != analysis.nodes.end() && facts->first < pin.node) ++facts;
    Source& source = m_sources[number];
    const bool known = facts != analysis.nodes.end() && facts->first == pin.node && source.port < facts->second.outputs.size();
    const bool same = known == source.shape.has_value() && (!known || *source.shape == facts->second.outputs[source.port]);
    const bool wasRed = m_redPins.contains(pin), isRed = redPins.contains(pin);
    if (!same) source.shape = known ? std::optional(facts->second.outputs[source.port]) : std::nullopt;
    if (!same || wasRed != isRed) m_worded.insert(number);
    if (!same || wasRed || isRed || !source.looked)
      for (const std::size_t wire : source.wires) m_wires->setLook(wire, {!known, red.contains(m_ofNumber[wire].meant)});
    source.looked = true;
  }
  m_redPins = std::move(redPins);
  refreshGroups(figures);
  route();
  Q_EMIT refreshed();
}

std::optional<Shape> NetworkScene::shapeOf(const Endpoint& end) const {
  const Analysis& analysis = this->analysis();
  const auto facts = analysis.nodes.find(end.node);
  const auto port = portOf(end);
  if (facts == analysis.nodes.end() || !port || *port >= facts->second.outputs.size()) return std::nullopt;
  return facts->second.outputs[*port];
}

// Among the outputs of its node, hidden or not; none for a port that it lacks.
std::optional<std::size_t> NetworkScene::portOf(const Endpoint& end) const {
  const Node* node = this->node(end.node);
  if (node == nullptr) return std::nullopt;
  const std::vector<PinSlot> outputs = outputSlots(m_document.project(), *node);
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const PinSlot& slot) { return slot.port == end.port; });
  return found == outputs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - outputs.begin()));
}

void NetworkScene::preview(const std::map<std::string, QPointF>& places) {
  const Drawing here = drawing();
  const auto put = [&](const std::string& id, QPointF at) {
    CardItem* item = card(id);
    if (item == nullptr || item->pos() == at) return;
    item->setPos(at);
    restCard(*item);
  };
  for (const auto& [id, place] : m_preview)
    if (!places.contains(id))
      if (const Node* node = here.find(id)) put(id, {node->x, node->y});
  m_preview = places;
  for (const auto& [id, place] : places) put(id, place);
  if (m_shown) {  // cards of folded groups go with their members
    m_shown = shownDrawing(m_document.project(), network(), m_preview);
    for (const Node& each : m_shown->network.nodes)
      if (network().group(each.id) != nullptr) put(each.id, {each.x, each.y});
  }
  m_groups->place(network(), m_preview);
  route();
}

void NetworkScene::placeWires(const std::string& id) {
  const Drawing here = seen();
  const auto at = here.index.node(id);
  if (at == NetworkIndex::kNone) return;
  for (const auto& wires : {here.index.into(at), here.index.outOf(at)})
    for (const auto wire : wires)
      for (auto [found, end] = m_numbers.equal_range(wireKey(here.network.edges[wire])); found != end; ++found) placeWire(found->second);
}

}  // namespace loom
