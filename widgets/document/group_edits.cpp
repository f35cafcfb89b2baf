#include "widgets/document/group_edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "widgets/document/card_geometry.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

constexpr double kAir = 5;  // between a card that moves up and what stands there
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

// Nodes outside that ways from (or, backwards, to) the nodes lead through, by position.
struct Reach {
  std::vector<char> below, above;

  Reach(const Drawing& drawing, const std::set<std::string>& nodes) {
    std::vector<char> inside(drawing.network.nodes.size(), 0);
    std::vector<NetworkIndex::Position> first;
    for (const std::string& id : nodes)
      if (const auto at = drawing.index.node(id); at != NetworkIndex::kNone && !inside[at]) {
        inside[at] = 1;
        first.push_back(at);
      }
    for (const bool down : {true, false}) {
      std::vector<char>& seen = down ? below : above;
      seen.assign(inside.size(), 0);
      std::vector<NetworkIndex::Position> open = first;
      while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        for (const auto wire : down ? drawing.index.outOf(at) : drawing.index.into(at)) {
          const auto next = down ? drawing.index.to(wire) : drawing.index.from(wire);
          if (next == NetworkIndex::kNone || inside[next] || std::exchange(seen[next], 1)) continue;
          open.push_back(next);
        }
      }
    }
  }
};

}  // namespace

std::set<std::string> reachOf(const Drawing& drawing, const std::set<std::string>& nodes) {
  const Reach reach(drawing, nodes);
  std::set<std::string> all = nodes;
  for (std::size_t i = 0; i < reach.below.size(); ++i)
    if (reach.below[i] || reach.above[i]) all.insert(drawing.network.nodes[i].id);
  return all;
}

std::string wayAround(const Drawing& drawing, const std::set<std::string>& nodes) {
  const Reach reach(drawing, nodes);
  for (std::size_t i = 0; i < reach.below.size(); ++i)
    if (reach.below[i] && reach.above[i]) return drawing.network.nodes[i].id;
  return {};
}

std::string makeGroup(DrawingEdit& edit, const std::vector<std::string>& ids, const std::string& title) {
  const Network& network = edit.network();
  std::set<std::string> nodes;
  for (const std::string& id : ids)
    if (edit.find(id) != nullptr) nodes.insert(id);
  if (nodes.empty()) return {};
  const std::set<std::string> inside = groupsInside(network, nodes);
  Group made;
  made.id = network.freeId("group");
  made.title = title;
  made.parent = groupAround(network, nodes);
  made.colour = groupTints()[network.groups.size() % groupTints().size()];
  // Whole groups come as they are, as groups in the new one; of others only the nodes.
  for (Group& group : edit.groups())
    if (inside.contains(group.id) && !inside.contains(group.parent)) group.parent = made.id;
  std::vector<std::size_t> coming;
  for (const std::string& id : nodes)
    if (const auto at = edit.index().node(id); !inside.contains(network.nodes[at].group)) coming.push_back(at);
  edit.changeAll(std::move(coming), [&](Node& node) { node.group = made.id; });
  edit.groups().push_back(made);
  dropEmptyGroups(edit);
  makeRoom(edit, made.id);
  return made.id;
}

void dissolveGroup(DrawingEdit& edit, const std::string& id) {
  const Group* group = edit.network().group(id);
  if (group == nullptr) return;
  if (group->folded) setFolded(edit, id, false);
  const std::string parent = edit.network().group(id)->parent;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < edit.network().nodes.size(); ++i)
    if (edit.network().nodes[i].group == id) members.push_back(i);
  edit.changeAll(std::move(members), [&](Node& node) { node.group = parent; });
  for (Group& each : edit.groups())
    if (each.parent == id) each.parent = parent;
  std::erase_if(edit.groups(), [&](const Group& each) { return each.id == id; });
}

void moveToGroup(DrawingEdit& edit, const std::vector<std::string>& ids, const std::string& group) {
  std::vector<std::size_t> nodes;
  for (const std::string& id : ids) {
    if (const auto at = edit.index().node(id); at != NetworkIndex::kNone) nodes.push_back(at);
    const Group* inner = edit.network().group(id);
    if (inner == nullptr || id == group || groupsIn(edit.network(), id).contains(group)) continue;
    for (Group& each : edit.groups())
      if (each.id == id) each.parent = group;
  }
  edit.changeAll(std::move(nodes), [&](Node& node) { node.group = group; });
  dropEmptyGroups(edit);
}

void dropEmptyGroups(DrawingEdit& edit) {
  if (edit.network().groups.empty()) return;
  std::set<std::string> held;
  for (const Node& node : edit.network().nodes)
    if (!node.group.empty() && !held.contains(node.group))
      for (const std::string& id : chain(edit.network(), node.group)) held.insert(id);
  if (held.size() == edit.network().groups.size()) return;
  std::erase_if(edit.groups(), [&](const Group& group) { return !held.contains(group.id); });
}

std::string whyNotRepeat(const Drawing& drawing, const std::set<std::string>& nodes) {
  const Network& network = drawing.network;
  if (nodes.empty()) return "Select the nodes that are to be repeated";
  std::set<Endpoint> in, out;
  for (const Edge& edge : network.edges) {
    const bool from = nodes.contains(edge.from.node), to = nodes.contains(edge.to.node);
    if (to && !from) in.insert(edge.from);
    if (from && !to) out.insert(edge.from);
  }
  for (const std::string& id : nodes) {
    const Node* node = drawing.find(id);
    if (node != nullptr && node->unit.empty() && roleOf(node->layer) == LayerRole::input)
      return fmt::format("{} is an input: it cannot be repeated", id);
  }
  if (const std::string way = wayAround(drawing, nodes); !way.empty())
    return fmt::format("{} stands between the repeated nodes: repeat it too", way);
  if (in.size() != 1) return fmt::format("A repeat needs one tensor that comes in, here are {}", in.size());
  if (out.size() != 1) return fmt::format("A repeat needs one tensor that goes out, here are {}", out.size());
  return {};
}

bool shiftBelow(DrawingEdit& edit, double from, double way, const std::set<std::string>& staying) {
  if (way == 0) return false;
  const Network& network = edit.network();
  const auto below = [&](const QRectF& card) { return card.top() >= from - 1; };
  // As they are seen: nodes, and folded groups with all that they hide.
  std::vector<QRectF> cards;  // that move
  std::vector<std::pair<std::size_t, QPointF>> moving;
  CardGrid others;
  std::size_t count = 0;
  const auto goes = [&](const std::string& id, const QRectF& card) {
    const bool moves = below(card) && !staying.contains(id);
    if (way < 0 && moves) cards.push_back(card);
    // What ends above the highest place that a card may come to is in nobody's way.
    if (way < 0 && !moves && card.bottom() > from + way - 1 - kAir) others.put(count++, card);
    return moves;
  };
  const auto move = [&](std::size_t at) {
    moving.emplace_back(at, QPointF(network.nodes[at].x, network.nodes[at].y + way));
  };
  std::map<std::string, std::vector<std::size_t>> hidden;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    if (const std::string group = hiddenIn(network, node); !group.empty())
      hidden[group].push_back(i);
    else if (goes(node.id, cardRect(node)))
      move(i);
  }
  if (!hidden.empty()) {
    const std::map<std::string, QRectF> frames = groupFrames(network);
    for (const auto& [group, nodes] : hidden) {
      const auto frame = frames.find(group);
      if (goes(group, foldedCard(frame == frames.end() ? QRectF() : frame->second)))
        std::for_each(nodes.begin(), nodes.end(), move);
    }
    std::sort(moving.begin(), moving.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  for (const QRectF& card : cards)
    if (others.touches(card.translated(0, way).adjusted(-kGrid, -kAir, kGrid, kAir))) return false;
  edit.moveAll(moving);
  if (std::any_of(network.comments.begin(), network.comments.end(),
                  [&](const Comment& comment) { return below(commentRect(comment)); }))
    for (Comment& comment : edit.comments())
      if (below(commentRect(comment))) comment.y += way;
  return true;
}

void makeRoom(DrawingEdit& edit, const std::string& group) {
  edit.freezePlaces();
  const Network& network = edit.network();
  const QRectF frame = groupFrame(network, group);
  if (frame.isNull()) return;
  const std::set<std::string> members = membersOf(network, group);
  const auto overlap = [&](const QRectF& band, bool above) {
    double most = 0;
    for (const Node& node : network.nodes) {
      const QRectF card = cardRect(node);
      if (!card.adjusted(0, -8, 0, 8).intersects(band) || members.contains(node.id) || !hiddenIn(network, node).empty())
        continue;
      most = std::max(most, above ? card.bottom() + 8 - band.top() : band.bottom() + 8 - card.top());
    }
    return std::ceil(most / kGrid) * kGrid;
  };
  const double top = frame.top() + kFrameHead, bottom = frame.bottom() - kFrameFoot;
  const double below = overlap(QRectF(frame.left(), bottom, frame.width(), kFrameFoot), false);
  if (below > 0) shiftBelow(edit, bottom, below, {});
  const double above = overlap(QRectF(frame.left(), frame.top(), frame.width(), kFrameHead), true);
  if (above > 0) shiftBelow(edit, top, above, {});
}

void setFolded(DrawingEdit& edit, const std::string& id, bool folded) {
  const Network& network = edit.network();
  const Group* known = network.group(id);
  if (known == nullptr || known->folded == folded) return;
  edit.freezePlaces();
  const std::set<std::string> members = membersOf(network, id);
  if (members.empty()) return;
  const QRectF frame = groupFrame(network, id), card = foldedCard(frame);  // the same, folded or not
  for (Group& group : edit.groups())
    if (group.id == id) group.folded = folded;
  // By the same way there and back, so that opening brings back what folding took.
  const double bottom = frame.bottom() - kFrameFoot, way = std::floor((bottom - card.bottom()) / kGrid) * kGrid;
  if (way <= 0) return;
  if (folded) {
    shiftBelow(edit, bottom, -way, {id});
  } else {
    std::set<std::string> inside = members;
    inside.merge(groupsIn(network, id));
    shiftBelow(edit, card.bottom(), way, inside);
  }
}

std::vector<std::string> commentsIn(const Network& network, const QRectF& rect) {
  std::vector<std::string> ids;
  for (const Comment& comment : network.comments)
    if (rect.contains(commentRect(comment))) ids.push_back(comment.id);
  return ids;
}

}  // namespace loom
