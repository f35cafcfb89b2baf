#include "widgets/document/node_clipboard.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

constexpr char kFragment[] = "fragment";

// "conv" -> "conv2", "conv2" -> "conv3": the number at the end counts on until it is free.
template <class Taken>
std::string freeName(const std::string& wanted, const Taken& taken) {
  if (!taken(wanted)) return wanted;
  std::size_t end = wanted.size();
  while (end > 1 && std::isdigit(static_cast<unsigned char>(wanted[end - 1])) && wanted.size() - end < 9) --end;
  const std::string stem = wanted.substr(0, end);
  for (long number = end == wanted.size() ? 2 : std::stol(wanted.substr(end)) + 1;; ++number) {
    const std::string id = stem + std::to_string(number);
    if (!taken(id)) return id;
  }
}

// Every unit that the nodes use, directly or not, in the order of the project.
std::vector<Network> unitsOf(const Project& project, const Network& drawing) {
  std::set<std::string> names;
  std::vector<const Network*> open{&drawing};
  while (!open.empty()) {
    const Network* at = open.back();
    open.pop_back();
    for (const Node& node : at->nodes) {
      const Network* unit = node.unit.empty() ? nullptr : project.unit(node.unit);
      if (unit != nullptr && names.insert(node.unit).second) open.push_back(unit);
    }
  }
  std::vector<Network> units;
  for (const Network& unit : project.units)
    if (names.contains(unit.name)) units.push_back(unit);
  return units;
}

// As a file has it: what it leaves out (places that the canvas chose) makes no difference.
std::string textOf(const Network& unit) {
  Project alone;
  alone.units.push_back(unit);
  alone.training.updates.push_back(defaultUpdate());
  return writeProject(alone);
}

void renameUnits(Network& drawing, const std::map<std::string, std::string>& names) {
  for (Node& node : drawing.nodes)
    if (const auto renamed = names.find(node.unit); renamed != names.end()) node.unit = renamed->second;
}

}  // namespace

std::string copyText(const Project& project, const Network& drawing, const std::vector<std::string>& ids) {
  const std::set<std::string> wanted(ids.begin(), ids.end());
  Project fragment;
  Network& copy = fragment.networks.emplace_back();
  copy.name = kFragment;
  std::set<std::string> nodes;
  for (const Node& node : drawing.nodes) {
    if (!wanted.contains(node.id)) continue;
    nodes.insert(node.id);
    copy.nodes.push_back(node);
    copy.nodes.back().placed = true;
  }
  const std::set<std::string> groups = groupsInside(drawing, nodes);
  for (const Group& group : drawing.groups) {
    if (!groups.contains(group.id)) continue;
    Group& made = copy.groups.emplace_back(group);
    if (!groups.contains(made.parent)) made.parent.clear();
  }
  for (Node& node : copy.nodes)
    if (!groups.contains(node.group)) node.group.clear();
  for (const Edge& edge : drawing.edges)
    if (nodes.contains(edge.from.node) && nodes.contains(edge.to.node)) copy.edges.push_back(edge);
  for (const Comment& comment : drawing.comments)
    if (wanted.contains(comment.id)) copy.comments.push_back(comment);
  fragment.units = unitsOf(project, copy);
  fragment.training.updates.push_back(defaultUpdate());
  return writeProject(fragment);
}

Copied readCopied(std::string_view text, const Drawing& shown, QPointF centre) {
  const Project& project = shown.project;
  const Network& drawing = shown.network;
  Copied copied;
  // Some other text: a JSON object that says what it is begins every project.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{' || text.find("\"loom\"") == std::string_view::npos)
    return copied;
  ReadProject read = readProject(text, "clipboard");
  if (!read.readable || read.project.networks.empty()) return copied;
  Network coming = std::move(read.project.networks.front());

  // Units that are there already, just the same, are used as they are; others come under names that are free.
  std::map<std::string, std::string> names;
  Project known;  // the names of what is there, and of what has been given one
  for (const Network& unit : project.units) known.units.push_back({unit.name, {}, {}});
  for (const Network& network : project.networks) known.networks.push_back({network.name, {}, {}});
  std::vector<Network> come;
  for (const Network& unit : read.project.units) {
    const Network* here = project.unit(unit.name);
    if (here != nullptr && textOf(*here) == textOf(unit)) continue;
    const std::string name = freeDrawingName(known, unit.name);
    if (name != unit.name) names[unit.name] = name;
    known.units.push_back({name, {}, {}});
    come.push_back(unit);
    come.back().name = name;
  }
  for (Network& unit : come) {
    renameUnits(unit, names);
    placeUnplaced(unit);
  }
  renameUnits(coming, names);
  std::erase_if(coming.nodes, [&](const Node& node) {
    return !node.unit.empty() && project.unit(node.unit) != nullptr && contains(project, node.unit, drawing.name);
  });
  std::unordered_set<std::string_view> nodes;
  for (const Node& node : coming.nodes) nodes.insert(node.id);
  std::erase_if(coming.edges,
                [&](const Edge& edge) { return !nodes.contains(edge.from.node) || !nodes.contains(edge.to.node); });

  std::unordered_set<std::string> given;
  std::unordered_map<std::string, std::string> ids;
  const auto taken = [&](const std::string& id) {
    return given.contains(id) || shown.find(id) != nullptr || drawing.group(id) != nullptr ||
           drawing.comment(id) != nullptr;
  };
  const auto rename = [&](std::string& id) {
    const std::string free = freeName(id, taken);
    given.insert(free);
    ids[id] = free;
    id = free;
  };
  double left = std::numeric_limits<double>::max(), top = left, right = -left, bottom = -left;
  const auto take = [&](double x, double y) {
    left = std::min(left, x), right = std::max(right, x);
    top = std::min(top, y), bottom = std::max(bottom, y);
  };
  for (Node& node : coming.nodes) rename(node.id), take(node.x, node.y);
  for (Group& group : coming.groups) rename(group.id);
  for (Comment& comment : coming.comments) rename(comment.id), take(comment.x, comment.y);
  if (left > right) return {};
  const QPointF shift = snapped(centre - QPointF((left + right) / 2, (top + bottom) / 2));
  const auto follow = [&](std::string& id) {
    if (const auto renamed = ids.find(id); renamed != ids.end()) id = renamed->second;
  };
  for (Node& node : coming.nodes) {
    node.x += shift.x(), node.y += shift.y();
    node.placed = true;
    follow(node.shares);
    follow(node.group);
  }
  for (Group& group : coming.groups) follow(group.parent);
  for (Comment& comment : coming.comments) comment.x += shift.x(), comment.y += shift.y();
  for (Edge& edge : coming.edges) {
    follow(edge.from.node);
    follow(edge.to.node);
  }
  copied.drawing = std::move(coming);
  copied.units = std::move(come);
  return copied;
}

}  // namespace loom
