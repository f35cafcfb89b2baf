// NetworkScene: how it follows the document, by what a change names.
#include <algorithm>
#include <iterator>
#include <optional>

#include "widgets/canvas/card_content.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/document/background.h"
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
  const NetworkChange nothing{.network = m_name};
  const NetworkChange* own = &nothing;
  // What a unit is may change the words and pins of what uses it; whether it is there, and how often it is used, too.
  bool counted = change.networkList;
  std::set<std::string> units;
  for (const NetworkChange& each : change.networks) {
    if (each.network == m_name)
      own = &each;
    else
      units.insert(each.network);
    counted = counted || !each.added.empty() || !each.removed.empty();
  }
  std::optional<NetworkChange> more;
  if (counted || !units.empty()) {
    const std::set<std::string> told(own->changed.begin(), own->changed.end());
    for (const Node& node : network().nodes) {
      if (node.unit.empty() || (!counted && !units.contains(node.unit)) || told.contains(node.id)) continue;
      if (!more) more = *own;
      more->changed.push_back(node.id);
    }
    if (more) own = &*more;
  }
  if (!anew && own->moved.empty() && !own->structure() && !own->comments) {
    m_fresh = false;  // what is announced of both may be another than what the one before said
    return;
  }
  if (!m_seen) {
    m_stale = true;
    return;
  }
  if (anew)
    rebuild();
  else if (m_shown || hasFolded(network()))
    follow(differenceToSeen(*own));  // folding makes another drawing of it
  else
    follow(*own);
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
  m_byPin.clear();
  m_sortedPins = 0;
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
    refreshCard(here.index.node(node.id), item);
    restCard(item.number());
  }
  m_byOrder.clear();
  numberWires();
  refreshFigures();
  keepPicks();
}

// What has become of the cards and wires that are here, now that folded groups make another drawing than before: `told`
// says what changed in the drawing itself.
NetworkChange NetworkScene::differenceToSeen(const NetworkChange& told) {
  NetworkChange change{.network = m_name};
  change.groups = told.groups;
  change.comments = told.comments;
  change.arguments = told.arguments;
  std::optional<ShownDrawing> before = std::exchange(m_shown, std::nullopt);
  const std::map<std::string, std::string> hid = before ? before->in : std::map<std::string, std::string>();
  const std::set<std::string> folded = before ? before->folded() : std::set<std::string>();
  const bool sameWires = before && hasFolded(network()) && before->follow(drawing(), told, m_preview);
  if (sameWires)
    m_shown = std::exchange(before, std::nullopt);
  else if (hasFolded(network()))
    m_shown = shownDrawing(m_document.project(), network(), m_preview);
  if (before) besideTheWindow([old = std::make_shared<ShownDrawing>(std::move(*before))] {});  // it is large
  const Drawing here = seen();
  // Only what is told, is hidden or was can have come or gone.
  std::set<std::string> come, gone;
  const auto look = [&](const std::string& id) {
    const bool was = card(id) != nullptr, is = here.find(id) != nullptr;
    if (was && !is) gone.insert(id);
    if (!was && is) come.insert(id);
  };
  for (const std::vector<std::string>* ids : {&told.removed, &told.added})
    std::for_each(ids->begin(), ids->end(), look);
  for (const auto& [node, group] : hid) look(node);
  for (const std::string& group : folded) look(group);
  std::set<std::string> cards;
  if (m_shown) {
    for (const auto& [node, group] : m_shown->in) look(node);
    cards = m_shown->folded();
    std::for_each(cards.begin(), cards.end(), look);
  }
  change.added.assign(come.begin(), come.end());
  change.removed.assign(gone.begin(), gone.end());
  const auto stands = [&](const std::string& id) {
    const CardItem* item = card(id);
    const Node* node = item == nullptr ? nullptr : here.find(id);
    return node != nullptr && item->pos() == QPointF(node->x, node->y);
  };
  const auto follows = [&](const std::string& id) { return card(id) != nullptr && here.find(id) != nullptr; };
  for (const std::string& id : told.moved)
    if (follows(id) && !m_preview.contains(id) && !stands(id)) change.moved.push_back(id);
  std::copy_if(told.changed.begin(), told.changed.end(), std::back_inserter(change.changed), follows);
  for (const std::string& group : cards) {
    if (!follows(group)) continue;
    change.changed.push_back(group);
    if (!stands(group)) change.moved.push_back(group);
  }
  if (sameWires) return change;
  // Wires that stay in their order are left alone; where some changed places, all between the first and the last of
  // them are told.
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
  std::vector<const Edge*> old = was, fresh = now, left, drawn;
  std::sort(old.begin(), old.end(), less);
  std::sort(fresh.begin(), fresh.end(), less);
  std::set_difference(old.begin(), old.end(), fresh.begin(), fresh.end(), std::back_inserter(left), less);
  std::set_difference(fresh.begin(), fresh.end(), old.begin(), old.end(), std::back_inserter(drawn), less);
  const auto without = [&](std::vector<const Edge*>& all, const std::vector<const Edge*>& some) {
    std::erase_if(all, [&](const Edge* edge) { return std::binary_search(some.begin(), some.end(), edge, less); });
  };
  without(was, left);
  without(now, drawn);
  const auto [first, other] = std::mismatch(was.begin(), was.end(), now.begin(), now.end(), same);
  auto last = was.end();
  for (auto back = now.end(); last != first && back != other && same(*(last - 1), *(back - 1)); --back) --last;
  left.insert(left.end(), first, last);
  drawn.insert(drawn.end(), first, last);
  for (const Edge* edge : left) change.unwired.push_back(*edge);
  for (const Edge* edge : drawn) change.wired.push_back(*edge);
  change.edges = !change.wired.empty() || !change.unwired.empty();
  return change;
}

void NetworkScene::follow(const NetworkChange& change) {
  const Drawing here = seen();
  std::vector<std::size_t> left;
  std::vector<char> leaves(m_cards->numbers(), 0);
  for (const std::string& id : change.removed)
    if (const CardItem* item = card(id)) {
      left.push_back(item->number());
      leaves[item->number()] = 1;
      m_cards->remove(id);
      m_faulty.erase(id);
    }
  if (!left.empty())
    for (Wire& wire : m_ofNumber)
      if ((wire.fromCard != kNoCard && leaves[wire.fromCard]) || (wire.toCard != kNoCard && leaves[wire.toCard])) {
        wire.from = wire.to = nullptr;
        wire.fromCard = wire.toCard = kNoCard;
      }
  // What is told of each card: a large drawing may move as a whole, so each is looked up once.
  enum : char { kMoved = 1, kStirred = 2, kNew = 4 };
  struct Touched {
    NetworkIndex::Position at;
    CardItem* item = nullptr;
  };
  std::vector<Touched> touched;
  std::vector<char> told(here.network.nodes.size(), 0);
  touched.reserve(change.moved.size() + change.added.size() + change.changed.size());
  const auto touch = [&](const std::string& id, char what) {
    const auto at = here.index.node(id);
    if (at == NetworkIndex::kNone) return;
    if (!told[at]) touched.push_back({at});
    told[at] = static_cast<char>(told[at] | what);
  };
  for (const std::string& id : change.added) touch(id, kMoved | kStirred | kNew);
  for (const std::string& id : change.moved) touch(id, kMoved);
  for (const std::string& id : change.changed) touch(id, kStirred);
  for (const std::vector<Edge>* edges : {&change.wired, &change.unwired})
    for (const Edge& edge : *edges) {
      touch(edge.from.node, kStirred);
      touch(edge.to.node, kStirred);
    }
  for (Touched& each : touched) {
    const Node& node = here.network.nodes[each.at];
    each.item = &m_cards->add(node.id);
    if ((told[each.at] & kMoved) && (m_preview.empty() || !m_preview.contains(node.id)))
      each.item->setPos(node.x, node.y);
  }
  for (const Touched& each : touched)
    if (told[each.at] & kStirred) refreshCard(each.at, *each.item);
  if (change.edges && !numberWires(change)) {
    rebuild();
    return;
  }
  for (const std::size_t number : left) restCard(number);
  for (const Touched& each : touched) restCard(each.item->number());
  for (const auto& [at, item] : touched) {
    if (!(told[at] & kStirred)) continue;
    const bool isNew = told[at] & kNew;  // then its wires are as new, and have their ends but for those that hung loose
    for (const auto& wires : {here.index.into(at), here.index.outOf(at)})
      for (const auto wire : wires)
        if (const Wire& ends = m_ofNumber[m_byOrder[wire]]; !isNew || ends.from == nullptr || ends.to == nullptr)
          endWire(m_byOrder[wire]);
  }
  // What the analysis says is taken when it is of this drawing; what it said stays until then.
  if (change.structure() && m_document.checksAreCurrent()) {
    refreshFigures();
  } else {
    if (change.groups)
      refreshGroups(CardFigures(m_document.project(), network(), analysis(), m_costs, m_costKind));
    else if (change.comments)
      m_groups->followComments(network());
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
    restCard(item->number());
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
