#include "widgets/document/group_edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "widgets/document/card_geometry.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

constexpr double kFrameSide = 24, kFrameHead = 40, kFrameFoot = 20;

// From the innermost group outwards. A file in which groups hold each other in a circle ends it.
std::vector<std::string> chain(const Network& network, const std::string& innermost) {
  std::vector<std::string> groups;
  for (const Group* group = network.group(innermost); group != nullptr; group = network.group(group->parent)) {
    if (std::find(groups.begin(), groups.end(), group->id) != groups.end()) break;
    groups.push_back(group->id);
  }
  return groups;
}

}  // namespace

const std::vector<std::string>& groupTints() {
  static const std::vector<std::string> tints{"violet", "sky", "green", "gold", "pink", "vermilion"};
  return tints;
}

bool repeats(const Group& group) {
  return !group.repeat.is_null() && group.repeat != 1;
}
bool repeats(const Node& use) {
  return !use.repeat.is_null() && use.repeat != 1;
}

std::set<std::string> groupsIn(const Network& network, const std::string& id) {
  std::set<std::string> found;
  for (const Group& group : network.groups) {
    const std::vector<std::string> around = chain(network, group.parent);
    if (group.id != id && std::find(around.begin(), around.end(), id) != around.end()) found.insert(group.id);
  }
  return found;
}

std::set<std::string> membersOf(const Network& network, const std::string& id) {
  std::set<std::string> groups = groupsIn(network, id), members;
  groups.insert(id);
  for (const Node& node : network.nodes)
    if (!node.group.empty() && groups.contains(node.group)) members.insert(node.id);
  return members;
}

std::set<std::string> groupsInside(const Network& network, const std::set<std::string>& nodes) {
  std::set<std::string> inside;
  for (const Group& group : network.groups) {
    const std::set<std::string> members = membersOf(network, group.id);
    if (!members.empty() && std::includes(nodes.begin(), nodes.end(), members.begin(), members.end()))
      inside.insert(group.id);
  }
  return inside;
}

std::string groupAround(const Network& network, const std::set<std::string>& nodes) {
  if (nodes.empty()) return {};
  const Node* first = network.find(*nodes.begin());
  if (first == nullptr) return {};
  for (const std::string& group : chain(network, first->group)) {
    const std::set<std::string> members = membersOf(network, group);
    // A group that goes with the nodes is not around them.
    if (members.size() > nodes.size() && std::includes(members.begin(), members.end(), nodes.begin(), nodes.end()))
      return group;
  }
  return {};
}

std::string hiddenIn(const Network& network, const Node& node) {
  std::string outermost;
  if (node.group.empty()) return outermost;
  for (const std::string& id : chain(network, node.group))
    if (network.group(id)->folded) outermost = id;
  return outermost;
}

std::map<std::string, QRectF> groupFrames(const Network& network, const std::map<std::string, QPointF>& moved) {
  std::map<std::string, QRectF> frames;
  if (network.groups.empty()) return frames;
  const auto take = [&](const std::string& id, const QRectF& rect) {
    if (rect.isNull()) return;
    QRectF& frame = frames[id];
    frame = frame.isNull() ? rect : frame.united(rect);
  };
  for (const Node& node : network.nodes) {
    if (node.group.empty()) continue;
    QRectF card = cardRect(node);
    if (const auto there = moved.find(node.id); there != moved.end()) card.moveCenter(there->second);
    take(node.group, card);
  }
  // The inner ones before those around them.
  std::vector<std::pair<std::size_t, const Group*>> byDepth;
  for (const Group& group : network.groups) byDepth.emplace_back(chain(network, group.id).size(), &group);
  std::stable_sort(byDepth.begin(), byDepth.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [depth, group] : byDepth) {
    const auto found = frames.find(group->id);
    if (found == frames.end()) continue;
    found->second.adjust(-kFrameSide, -kFrameHead, kFrameSide, kFrameFoot);
    const QRectF frame = found->second;
    if (!group->parent.empty()) take(group->parent, group->folded ? foldedCard(frame) : frame);
  }
  std::erase_if(frames, [&](const auto& each) { return network.group(each.first) == nullptr; });
  return frames;
}

QRectF groupFrame(const Network& network, const std::string& id) {
  const std::map<std::string, QRectF> frames = groupFrames(network);
  const auto found = frames.find(id);
  return found == frames.end() ? QRectF() : found->second;
}

QRectF foldedCard(const QRectF& frame) {
  if (frame.isNull()) return frame;
  return {snapped(frame.center().x()) - kCardWidth / 2, frame.top() + kFrameHead, kCardWidth, kCardHeight};
}

QRectF foldedCard(const Network& network, const std::string& id) {
  return foldedCard(groupFrame(network, id));
}

QRectF commentRect(const Comment& comment) {
  return {comment.x - comment.width / 2, comment.y - comment.height / 2, comment.width, comment.height};
}

namespace {

// Nodes outside that ways from (or, backwards, to) the nodes lead through.
struct Reach {
  std::set<std::string_view> below, above;

  Reach(const Network& network, const std::set<std::string>& nodes) {
    std::unordered_multimap<std::string_view, std::string_view> after, before;
    for (const Edge& edge : network.edges) {
      after.emplace(edge.from.node, edge.to.node);
      before.emplace(edge.to.node, edge.from.node);
    }
    for (auto& [along, seen] : {std::pair(&after, &below), std::pair(&before, &above)}) {
      std::vector<std::string_view> open(nodes.begin(), nodes.end());
      while (!open.empty()) {
        const std::string_view at = open.back();
        open.pop_back();
        for (auto [next, end] = along->equal_range(at); next != end; ++next)
          if (!nodes.contains(std::string(next->second)) && seen->insert(next->second).second)
            open.push_back(next->second);
      }
    }
  }
};

}  // namespace

std::set<std::string> reachOf(const Network& network, const std::set<std::string>& nodes) {
  const Reach reach(network, nodes);
  std::set<std::string> all = nodes;
  all.insert(reach.below.begin(), reach.below.end());
  all.insert(reach.above.begin(), reach.above.end());
  return all;
}

std::string wayAround(const Network& network, const std::set<std::string>& nodes) {
  const Reach reach(network, nodes);
  for (const Node& node : network.nodes)
    if (reach.below.contains(node.id) && reach.above.contains(node.id)) return node.id;
  return {};
}

std::string makeGroup(Network& network, const std::vector<std::string>& ids, const std::string& title) {
  std::set<std::string> nodes;
  for (const std::string& id : ids)
    if (network.find(id) != nullptr) nodes.insert(id);
  if (nodes.empty()) return {};
  const std::set<std::string> inside = groupsInside(network, nodes);
  Group made;
  made.id = network.freeId("group");
  made.title = title;
  made.parent = groupAround(network, nodes);
  made.colour = groupTints()[network.groups.size() % groupTints().size()];
  // Whole groups come as they are, as groups in the new one; of others only the nodes.
  for (Group& group : network.groups)
    if (inside.contains(group.id) && !inside.contains(group.parent)) group.parent = made.id;
  for (Node& node : network.nodes)
    if (nodes.contains(node.id) && !inside.contains(node.group)) node.group = made.id;
  network.groups.push_back(made);
  dropEmptyGroups(network);
  makeRoom(network, made.id);
  return made.id;
}

void dissolveGroup(Network& network, const std::string& id) {
  const Group* group = network.group(id);
  if (group == nullptr) return;
  if (group->folded) setFolded(network, id, false);
  const std::string parent = network.group(id)->parent;
  for (Node& node : network.nodes)
    if (node.group == id) node.group = parent;
  for (Group& each : network.groups)
    if (each.parent == id) each.parent = parent;
  std::erase_if(network.groups, [&](const Group& each) { return each.id == id; });
}

namespace {

std::set<std::string> heldGroups(const Network& network) {
  std::set<std::string> held;
  for (const Node& node : network.nodes)
    for (const std::string& id : chain(network, node.group)) held.insert(id);
  return held;
}

}  // namespace

void dropEmptyGroups(Network& network) {
  const std::set<std::string> held = heldGroups(network);
  std::erase_if(network.groups, [&](const Group& group) { return !held.contains(group.id); });
}

void dropEmptyGroups(DrawingEdit& edit) {
  if (edit.network().groups.empty()) return;
  const std::set<std::string> held = heldGroups(edit.network());
  if (held.size() == edit.network().groups.size()) return;
  std::erase_if(edit.groups(), [&](const Group& group) { return !held.contains(group.id); });
}

std::string whyNotRepeat(const Network& network, const std::set<std::string>& nodes) {
  if (nodes.empty()) return "Select the nodes that are to be repeated";
  std::set<Endpoint> in, out;
  for (const Edge& edge : network.edges) {
    const bool from = nodes.contains(edge.from.node), to = nodes.contains(edge.to.node);
    if (to && !from) in.insert(edge.from);
    if (from && !to) out.insert(edge.from);
  }
  for (const std::string& id : nodes) {
    const Node* node = network.find(id);
    if (node != nullptr && node->unit.empty() && node->layer == "Input")
      return fmt::format("{} is an input: it cannot be repeated", id);
  }
  if (const std::string way = wayAround(network, nodes); !way.empty())
    return fmt::format("{} stands between the repeated nodes: repeat it too", way);
  if (in.size() != 1) return fmt::format("A repeat needs one tensor that comes in, here are {}", in.size());
  if (out.size() != 1) return fmt::format("A repeat needs one tensor that goes out, here are {}", out.size());
  return {};
}

bool shiftBelow(Network& network, double from, double way, const std::set<std::string>& staying) {
  if (way == 0) return false;
  const auto below = [&](const QRectF& card) { return card.top() >= from - 1; };
  // As they are seen: nodes, and folded groups with all that they hide.
  struct Card {
    QRectF rect;
    std::vector<Node*> nodes;
  };
  std::vector<Card> moving;
  CardGrid others;
  std::size_t count = 0;
  const auto take = [&](const std::string& id, Card card) {
    if (!staying.contains(id) && below(card.rect)) moving.push_back(std::move(card));
    else others.put(count++, card.rect);
  };
  std::map<std::string, std::vector<Node*>> hidden;
  for (Node& node : network.nodes) {
    if (const std::string group = hiddenIn(network, node); !group.empty()) hidden[group].push_back(&node);
    else take(node.id, {cardRect(node), {&node}});
  }
  if (!hidden.empty()) {
    const std::map<std::string, QRectF> frames = groupFrames(network);
    for (auto& [group, nodes] : hidden) {
      const auto frame = frames.find(group);
      take(group, {foldedCard(frame == frames.end() ? QRectF() : frame->second), std::move(nodes)});
    }
  }
  if (way < 0)
    for (const Card& card : moving)
      if (others.touches(card.rect.translated(0, way).adjusted(-kGrid, -5, kGrid, 5))) return false;
  for (const Card& card : moving)
    for (Node* node : card.nodes) node->y += way;
  for (Comment& comment : network.comments)
    if (below(commentRect(comment))) comment.y += way;
  return true;
}

void makeRoom(Network& network, const std::string& group) {
  keepPlaces(network);
  const QRectF frame = groupFrame(network, group);
  if (frame.isNull()) return;
  const std::set<std::string> members = membersOf(network, group);
  const auto overlap = [&](const QRectF& band, bool above) {
    double most = 0;
    for (const Node& node : network.nodes) {
      const QRectF card = cardRect(node);
      if (members.contains(node.id) || !hiddenIn(network, node).empty() || !card.adjusted(0, -8, 0, 8).intersects(band))
        continue;
      most = std::max(most, above ? card.bottom() + 8 - band.top() : band.bottom() + 8 - card.top());
    }
    return std::ceil(most / kGrid) * kGrid;
  };
  const double top = frame.top() + kFrameHead, bottom = frame.bottom() - kFrameFoot;
  const double below = overlap(QRectF(frame.left(), bottom, frame.width(), kFrameFoot), false);
  if (below > 0) shiftBelow(network, bottom, below, {});
  const double above = overlap(QRectF(frame.left(), frame.top(), frame.width(), kFrameHead), true);
  if (above > 0) shiftBelow(network, top, above, {});
}

void keepPlaces(Network& network) {
  for (Node& node : network.nodes) node.placed = true;
}

void setFolded(Network& network, const std::string& id, bool folded) {
  Group* group = network.group(id);
  if (group == nullptr || group->folded == folded) return;
  keepPlaces(network);
  const std::set<std::string> members = membersOf(network, id);
  if (members.empty()) return;
  group->folded = false;
  const QRectF frame = groupFrame(network, id), card = foldedCard(network, id);
  // By the same way there and back, so that opening brings back what folding took.
  const double bottom = frame.bottom() - kFrameFoot, way = std::floor((bottom - card.bottom()) / kGrid) * kGrid;
  group->folded = folded;
  if (way <= 0) return;
  if (folded) {
    shiftBelow(network, bottom, -way, {id});
  } else {
    std::set<std::string> inside = members;
    inside.merge(groupsIn(network, id));
    shiftBelow(network, card.bottom(), way, inside);
  }
}

std::vector<std::string> commentsIn(const Network& network, const QRectF& rect) {
  std::vector<std::string> ids;
  for (const Comment& comment : network.comments)
    if (rect.contains(commentRect(comment))) ids.push_back(comment.id);
  return ids;
}

}  // namespace loom
