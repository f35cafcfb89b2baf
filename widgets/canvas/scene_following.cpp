// NetworkScene: how it follows the document, by what a change names.
#include <algorithm>
#include <iterator>

#include "widgets/canvas/card_content.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/document/group_edits.h"

namespace loom {

void NetworkScene::followChange(const ProjectChange& change) {
  m_cards->setRules(nullptr, {}, false);  // they refer to the drawing as it was
  if (change.networkList && m_document.network(m_name) == nullptr) {
    const auto& networks = m_document.project().networks;
    setNetwork(networks.empty() ? std::string() : networks.front().name);
    return;
  }
  const bool anew = std::find(change.came.begin(), change.came.end(), m_name) != change.came.end();
  NetworkChange own{.network = m_name};
  // What a unit is may change the words and pins of what uses it; whether it is there, and how often it is used, too.
  bool counted = change.networkList;
  std::set<std::string> units;
  for (const NetworkChange& each : change.networks) {
    if (each.network == m_name) own = each;
    else units.insert(each.network);
    counted = counted || !each.added.empty() || !each.removed.empty();
  }
  if (counted || !units.empty()) {
    const std::set<std::string> told(own.changed.begin(), own.changed.end());
    for (const Node& node : network().nodes)
      if (!node.unit.empty() && (counted || units.contains(node.unit)) && !told.contains(node.id)) own.changed.push_back(node.id);
  }
  if (!anew && own.moved.empty() && !own.structure() && !own.comments) {
    m_fresh = false;  // what is announced of both may be another than what the one before said
    return;
  }
  if (!m_seen) {
    m_stale = true;
    return;
  }
  if (anew) rebuild();
  else if (m_shown || hasFolded(network())) follow(differenceToSeen(own));  // folding makes another drawing of it
  else follow(own);
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

// What has become of the cards and wires that are here, now that folded groups make another drawing than before: `told` says what changed
// in the drawing itself.
NetworkChange NetworkScene::differenceToSeen(const NetworkChange& told) {
  m_shown.reset();
  if (hasFolded(network())) m_shown = shownDrawing(m_document.project(), network(), m_preview);
  const Drawing here = seen();
  NetworkChange change{.network = m_name};
  change.groups = told.groups;
  change.comments = told.comments;
  change.arguments = told.arguments;
  const std::set<std::string> changed(told.changed.begin(), told.changed.end());
  m_cards->each([&](const CardItem& item) {
    if (here.find(item.id()) == nullptr) change.removed.push_back(item.id());
  });
  for (const Node& node : here.network.nodes) {
    const CardItem* item = card(node.id);
    if (item == nullptr) {
      change.added.push_back(node.id);
      continue;
    }
    if (!m_preview.contains(node.id) && item->pos() != QPointF(node.x, node.y)) change.moved.push_back(node.id);
    if (changed.contains(node.id) || network().group(node.id) != nullptr) change.changed.push_back(node.id);
  }
  // Wires that stay in their order are left alone; where some changed places, all between the first and the last of them are told.
  std::vector<const Edge*> was, now;
  std::size_t head = 0, tail = 0;
  const auto& edges = here.network.edges;
  const std::size_t least = std::min(m_byOrder.size(), edges.size());
  const auto wasAt = [&](std::size_t i) -> const Edge& { return m_ofNumber[m_byOrder[i]].edge; };
  while (head < least && wasAt(head) == edges[head]) ++head;
  while (tail < least - head && wasAt(m_byOrder.size() - 1 - tail) == edges[edges.size() - 1 - tail]) ++tail;
  for (std::size_t i = head; i < m_byOrder.size() - tail; ++i) was.push_back(&wasAt(i));
  for (std::size_t i = head; i < edges.size() - tail; ++i) now.push_back(&edges[i]);
  const auto same = [](const Edge* a, const Edge* b) { return *a == *b; };
  const auto less = [](const Edge* a, const Edge* b) { return *a < *b; };
  std::vector<const Edge*> before = was, after = now, gone, come;
  std::sort(before.begin(), before.end(), less);
  std::sort(after.begin(), after.end(), less);
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(gone), less);
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(come), less);
  const auto without = [&](std::vector<const Edge*>& all, const std::vector<const Edge*>& some) {
    std::erase_if(all, [&](const Edge* edge) { return std::binary_search(some.begin(), some.end(), edge, less); });
  };
  without(was, gone);
  without(now, come);
  const auto [first, other] = std::mismatch(was.begin(), was.end(), now.begin(), now.end(), same);
  auto last = was.end();
  for (auto back = now.end(); last != first && back != other && same(*(last - 1), *(back - 1)); --back) --last;
  gone.insert(gone.end(), first, last);
  come.insert(come.end(), first, last);
  for (const Edge* edge : gone) change.unwired.push_back(*edge);
  for (const Edge* edge : come) change.wired.push_back(*edge);
  change.edges = !change.wired.empty() || !change.unwired.empty();
  return change;
}

void NetworkScene::follow(const NetworkChange& change) {
  const Drawing here = seen();
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
  const std::set<std::string> added(change.added.begin(), change.added.end());
  for (const std::string& id : stirred) {
    const auto at = here.index.node(id);
    if (at == NetworkIndex::kNone) continue;
    const bool isNew = added.contains(id);  // then its wires are as new, and have their ends but for those that hung loose
    for (const auto& wires : {here.index.into(at), here.index.outOf(at)})
      for (const auto wire : wires)
        if (const Wire& ends = m_ofNumber[m_byOrder[wire]]; !isNew || ends.from == nullptr || ends.to == nullptr) endWire(m_byOrder[wire]);
  }
  // What the analysis says is taken when it is of this drawing; what it said stays until then.
  if (change.structure() && m_document.checksAreCurrent()) {
    refreshFigures();
  } else {
    if (change.groups) refreshGroups(CardFigures(m_document.project(), network(), analysis(), m_costs, m_costKind));
    else if (change.comments) m_groups->followComments(network());
    m_groups->place(network(), m_preview);
    route();
    Q_EMIT refreshed();
  }
  keepPicks();
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
  if (m_shown)  // cards of folded groups go with their members
    for (const auto& [group, frame] : groupFrames(network(), m_preview))
      if (const auto at = m_shown->index.node(group); at != NetworkIndex::kNone) {
        Node& card = m_shown->network.nodes[at];
        const QPointF place = foldedCard(frame).center();
        card.x = place.x();
        card.y = place.y();
        put(group, place);
      }
  m_groups->place(network(), m_preview);
  route();
}

}  // namespace loom
