// NetworkScene: its wires by number, and when each of them looks for its way.
#include <QGraphicsView>
#include <algorithm>
#include <unordered_set>

#include "widgets/canvas/network_scene.h"
#include "widgets/document/card_geometry.h"

namespace loom {

QRectF NetworkScene::seenArea() const {
  constexpr std::size_t kAllAtOnce = 1500;  // wires: some milliseconds
  if (m_byOrder.size() <= kAllAtOnce || views().isEmpty()) return {};
  const QGraphicsView* view = views().front();
  const QRectF seen = view->mapToScene(view->viewport()->rect()).boundingRect();
  return seen.adjusted(-200, -200, 200, 200);
}

void NetworkScene::restCard(std::size_t number) {
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
    const bool isSeen = all || (item != nullptr && item->sceneCard().adjusted(-40, -120, 40, 120).intersects(seen)) ||
                        m_router.cardTouches(number, seen);
    if (isSeen)
      settleCard(number);
    else
      others.push_back(number);
  }
  m_restless = std::move(others);
  for (const std::size_t number : all ? m_router.route() : m_router.route(seen, kAtOnce)) showWay(number);
  wordAll();
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
  wordAll();
  if (!m_restless.empty() || !m_router.isRouted()) m_later.start();
}

void NetworkScene::showWay(std::size_t number) {
  m_wires->setPoints(number, m_router.points(number));
  reword(m_ofNumber[number].source);
}

void NetworkScene::reword(std::uint32_t source) {
  if (std::exchange(m_sources[source].toWord, true)) return;
  m_worded.push_back(source);
}

void NetworkScene::wordAll() {
  for (const std::uint32_t source : std::exchange(m_worded, {})) {
    m_sources[source].toWord = false;
    word(source);
  }
}

NumberTable::Number NetworkScene::numberOf(const Edge& edge, NumberTable::Number except) const {
  return m_numbers.find(
      Hash()(edge), [&](NumberTable::Number number) { return number != except && m_ofNumber[number].edge == edge; });
}

std::size_t NetworkScene::newWire(const Edge& edge, const Edge& meant) {
  std::size_t number = m_ofNumber.size();
  if (m_free.empty()) {
    m_ofNumber.emplace_back();
  } else {
    number = m_free.back();
    m_free.pop_back();
  }
  const std::size_t pin = Hash()(meant.from);
  std::uint32_t source = m_sourceOf.find(pin, [&](std::uint32_t each) { return m_sources[each].pin == meant.from; });
  if (source == NumberTable::kNone) {
    source = static_cast<std::uint32_t>(m_sources.size());
    m_sourceOf.put(pin, source);
    m_byPin.push_back(source);
    m_sources.push_back({meant.from, {}});
  }
  Source& from = m_sources[source];
  m_ofNumber[number] = {.edge = edge, .meant = meant, .source = source, .there = true};
  from.wires.push_back(number);
  from.looked = false;
  reword(source);
  m_numbers.put(Hash()(edge), static_cast<NumberTable::Number>(number));
  m_wires->setWire(number, meant);
  return number;
}

void NetworkScene::dropWire(std::size_t number) {
  Wire& wire = m_ofNumber[number];
  m_numbers.take(Hash()(wire.edge), static_cast<NumberTable::Number>(number));
  std::erase(m_sources[wire.source].wires, number);
  reword(wire.source);
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
  for (const std::size_t number : m_byOrder)
    endWire(number);  // placed with their cards, all of which are new to the router
}

// Wires that stay keep their numbers, and with them their ways.
bool NetworkScene::numberWires(const NetworkChange& change) {
  const Drawing here = seen();
  if (m_numbers.size() != m_byOrder.size()) return false;
  const auto ofAll = [](const std::vector<Edge>& edges) {
    return std::unordered_set<Edge, Hash>(edges.begin(), edges.end());
  };
  // Looked up only where wires came and went in one step: some of them may have changed places alone.
  const bool both = !change.wired.empty() && !change.unwired.empty();
  const std::unordered_set<Edge, Hash> come = both ? ofAll(change.wired) : ofAll({}),
                                       go = both ? ofAll(change.unwired) : ofAll({});
  std::vector<std::size_t> leaving, turned;  // turned: at another place among the others
  for (const Edge& edge : change.unwired) {
    const auto number = numberOf(edge);
    if (number == NumberTable::kNone || numberOf(edge, number) != NumberTable::kNone) return false;
    (come.contains(edge) ? turned : leaving).push_back(number);
  }
  std::vector<std::pair<std::size_t, std::size_t>> put;  // place in the file, number
  for (const std::size_t number : turned)
    put.emplace_back(here.index.wire(here.network, m_ofNumber[number].edge), number);
  std::vector<char> taken(m_ofNumber.size(), 0);
  for (const auto* numbers : {&leaving, &turned})
    for (const std::size_t number : *numbers) taken[number] = 1;
  std::erase_if(m_byOrder, [&](std::size_t number) { return taken[number] != 0; });
  for (const std::size_t number : leaving) dropWire(number);
  std::vector<std::size_t> fresh;
  for (const Edge& edge : change.wired) {
    if (go.contains(edge)) continue;
    const auto at = here.index.wire(here.network, edge);
    if (at == NetworkIndex::kNone || numberOf(edge) != NumberTable::kNone) return false;
    fresh.push_back(newWire(edge, meantBy(at)));
    put.emplace_back(at, fresh.back());
  }
  std::sort(put.begin(), put.end());
  std::vector<std::size_t> order;
  order.reserve(m_byOrder.size() + put.size());
  std::size_t next = 0, kept = 0;
  while (next < put.size() || kept < m_byOrder.size()) {
    if (next < put.size() && (put[next].first <= order.size() || kept == m_byOrder.size()))
      order.push_back(put[next++].second);
    else
      order.push_back(m_byOrder[kept++]);
  }
  m_byOrder = std::move(order);
  if (m_byOrder.size() != here.network.edges.size()) return false;
  for (std::size_t i = 0; i < m_byOrder.size(); ++i) {
    Wire& wire = m_ofNumber[m_byOrder[i]];
    if (wire.edge != here.network.edges[i] || (m_shown && wire.meant != meantBy(i))) return false;
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
  wire.fromCard = wire.from != nullptr ? wire.from->number() : kNoCard;
  wire.toCard = wire.to != nullptr ? wire.to->number() : kNoCard;
  if (wire.from == nullptr || wire.to == nullptr) return;
  const auto& outputs = wire.from->outputs();
  wire.output = static_cast<std::size_t>(
      std::find_if(outputs.begin(), outputs.end(), [&](const CardPin& pin) { return pin.end == wire.meant.from; }) -
      outputs.begin());
  m_sources[wire.source].slot = wire.output;
  // Pins of a node stand in the order of its ports; those of a folded group do not.
  m_sources[wire.source].port =
      isFoldedGroup(wire.edge.from.node) ? portOf(wire.meant.from).value_or(wire.output) : wire.output;
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
  const WireRouter::Wire ends{pinOf(*wire.from, wire.from->outputs(), wire.output, kCardHeight / 2),
                              pinOf(*wire.to, wire.to->inputs(), wire.input, -kCardHeight / 2), wire.source,
                              wire.order};
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
  reword(wire.source);
}

void NetworkScene::placeWires(const std::string& id) {
  const Drawing here = seen();
  const auto at = here.index.node(id);
  if (at == NetworkIndex::kNone) return;
  for (const auto& wires : {here.index.into(at), here.index.outOf(at)})
    for (const auto wire : wires) placeWire(m_byOrder[wire]);
}

const std::vector<QPointF>& NetworkScene::wayOf(const Edge& edge) const {
  static const std::vector<QPointF> none;
  const auto number = numberOf(edge);
  return number == NumberTable::kNone ? none : m_wires->points(number);
}

}  // namespace loom
