#include "engine/network/structure_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/network/flatten.h"

namespace loom {
namespace {

std::vector<std::string> parted(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(by, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

// Whether a part of a key names a node alone: its field stands behind a later one.
bool isNodeAlone(const std::string& part) {
  const bool whole = part.starts_with("networks.") || part.starts_with("units.");
  return std::count(part.begin(), part.end(), '.') < (whole ? 4 : 1);
}

std::string behindLastDot(const std::string& text) {
  return text.substr(text.rfind('.') + 1);
}

// "networks.main.nodes." of a key or a node's place; empty of a short one.
std::string drawingBefore(const std::string& part) {
  const auto nodes = part.find(".nodes.");
  return nodes == std::string::npos ? std::string() : part.substr(0, nodes + 7);
}

std::string textIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json* nodeIn(Json& drawing, const std::string& id) {
  for (Json& node : drawing["nodes"])
    if (node.is_object() && textIn(node, "id") == id) return &node;
  return nullptr;
}

// What a node may say, and its pins in their order: of a layer, or of a unit of the project.
struct NodeKind {
  std::vector<std::string> fields, inputs, outputs;
};

NodeKind kindOf(const Json& project, const std::string& layer, const std::string& unit) {
  NodeKind kind;
  if (const LayerDefinition* const known = unit.empty() ? findLayer(layer) : nullptr) {
    for (const Field& field : known->entry.fields) kind.fields.push_back(field.key);
    for (const Port& port : known->entry.inputs) kind.inputs.push_back(port.key);
    for (const Port& port : known->entry.outputs) kind.outputs.push_back(port.key);
    return kind;
  }
  const Json drawing = project.value("units", Json::object()).value(unit, Json::object());
  if (const auto arguments = drawing.find("arguments"); arguments != drawing.end() && arguments->is_object())
    for (const auto& [name, value] : arguments->items()) kind.fields.push_back(name);
  kind.fields.push_back("repeat");
  if (const auto nodes = drawing.find("nodes"); nodes != drawing.end() && nodes->is_array())
    for (const Json& node : *nodes) {
      if (!node.is_object()) continue;
      const LayerRole role = roleOf(textIn(node, "layer"));
      if (role == LayerRole::input) kind.inputs.push_back(textIn(node, "id"));
      if (role == LayerRole::output) kind.outputs.push_back(textIn(node, "id"));
    }
  return kind;
}

bool isIn(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "pool1" and "pool1.output" begin or end at pool1.
bool isAt(const Json& end, const std::string& id) {
  return end.is_string() &&
         end.get_ref<const std::string&>().substr(0, end.get_ref<const std::string&>().find('.')) == id;
}

// A wire that names a pin which the new kind lacks goes to the one in its place.
void renamePin(Json& end, const std::vector<std::string>& before, const std::vector<std::string>& now) {
  const std::string text = end.get<std::string>();
  const auto dot = text.find('.');
  if (dot == std::string::npos) return;
  const std::string pin = text.substr(dot + 1);
  const auto place = static_cast<std::size_t>(std::find(before.begin(), before.end(), pin) - before.begin());
  if (!isIn(now, pin) && place < before.size() && place < now.size()) end = text.substr(0, dot + 1) + now[place];
}

template <class Visit>
void eachWire(Json& drawing, Visit visit) {
  const auto edges = drawing.find("edges");
  if (edges == drawing.end() || !edges->is_array()) return;
  for (Json& edge : *edges)
    if (edge.is_array() && edge.size() == 2) visit(edge[0], edge[1]);
}

void exchange(const Json& project, Json& drawing, Json& node, const std::string& wanted) {
  const std::string layer = textIn(node, "layer"), unit = textIn(node, "unit"), id = textIn(node, "id");
  const LayerDefinition* const known = findLayer(wanted);
  if (unit.empty() && (layer == wanted || (known && findLayer(layer) == known))) return;
  const Json units = project.value("units", Json::object());
  const bool isUnit = !known && units.contains(wanted);
  if (isUnit && unit == wanted) return;
  const NodeKind before = kindOf(project, layer, unit),
                 now = kindOf(project, isUnit ? "" : wanted, isUnit ? wanted : "");
  for (const std::string& field : before.fields)
    if (!isIn(now.fields, field)) node.erase(field);
  node.erase(isUnit ? "layer" : "unit");
  node[isUnit ? "unit" : "layer"] = wanted;
  eachWire(drawing, [&](Json& from, Json& to) {
    if (isAt(from, id)) renamePin(from, before.outputs, now.outputs);
    if (isAt(to, id)) renamePin(to, before.inputs, now.inputs);
  });
}

void leaveOut(Json& drawing, const std::string& id, const std::string& setting) {
  std::vector<Json> sources;
  std::set<std::string> outputs;
  eachWire(drawing, [&](Json& from, Json& to) {
    if (isAt(to, id)) sources.push_back(from);
    if (isAt(from, id)) outputs.insert(from.get<std::string>());
  });
  if (sources.size() != 1 || outputs.size() != 1)
    throwError(ErrorCode::badArgument,
               "'{}': {} wires end at '{}' and {} of its outputs are wired on; a node can be left out where one wire "
               "leads to it and one output leads on",
               setting, sources.size(), id, outputs.size());
  Json edges = Json::array();
  eachWire(drawing, [&](Json& from, Json& to) {
    if (!isAt(to, id)) edges.push_back({isAt(from, id) ? sources.front() : from, to});
  });
  drawing["edges"] = std::move(edges);
  Json nodes = Json::array();
  for (Json& node : drawing["nodes"])
    if (textIn(node, "id") != id) nodes.push_back(std::move(node));
  drawing["nodes"] = std::move(nodes);
}

// A group that is repeated, as a person would draw it. Once: the drawing as it is.
void repeatChain(Json& drawing, const std::vector<std::string>& ids, const Json& value, const std::string& setting) {
  if (!value.is_number_integer() || value < 1 || value > kMostRepeats)
    throwError(ErrorCode::badArgument, "'{}': {} is no number of repeats: a whole number from 1 to {} is wanted",
               setting, value.dump(), kMostRepeats);
  std::vector<Json*> nodes;
  for (const std::string& id : ids) {
    nodes.push_back(nodeIn(drawing, id));
    if (nodes.back()) continue;
    std::vector<std::string> known;
    for (const Json& node : drawing["nodes"]) known.push_back(node.is_object() ? textIn(node, "id") : "");
    const std::string near = nearest(id, known);
    throwError(ErrorCode::badArgument, "'{}': the drawing has no node '{}'{}", setting, id,
               near.empty() ? "" : fmt::format(": did you mean '{}'?", near));
  }
  const std::string around = textIn(*nodes.front(), "group");
  for (const Json* node : nodes)
    if (textIn(*node, "group") != around)
      throwError(ErrorCode::badArgument,
                 "'{}': '{}' and '{}' stand in different groups; a chain that is repeated lies in one", setting,
                 ids.front(), textIn(*node, "id"));
  if (value == 1) return;
  std::set<std::string> taken;
  for (const char* kind : {"nodes", "groups", "comments"})
    for (const Json& each : drawing.value(kind, Json::array()))
      if (each.is_object()) taken.insert(textIn(each, "id"));
  std::string id = ids.front() + "_chain";
  for (int number = 2; taken.count(id); ++number) id = fmt::format("{}_chain{}", ids.front(), number);
  Json group{{"id", id}, {"title", ids.size() == 1 ? ids.front() : ids.front() + " to " + ids.back()}};
  if (!around.empty()) group["parent"] = around;
  group["repeat"] = value;
  for (Json* node : nodes) (*node)["group"] = id;
  drawing["groups"].push_back(std::move(group));  // last: a new key may move all others
}

}  // namespace

std::vector<std::string> singleKeys(const std::string& key) {
  if (key.find(',') == std::string::npos) return {key};
  std::vector<std::string> keys, alone;
  for (const std::string& part : parted(key, ',')) {
    if (isNodeAlone(part)) {
      alone.push_back(part);
      continue;
    }
    const std::string field = behindLastDot(part), node = part.substr(0, part.size() - field.size() - 1);
    if (field == "repeat" && !alone.empty()) {
      alone.push_back(node);
      std::string before, chain;
      for (const std::string& each : alone) {
        if (before.empty()) before = drawingBefore(each);
        chain += (chain.empty() ? "" : ",") + behindLastDot(each);
      }
      keys.push_back(before + chain + ".repeat");
    } else {
      for (const std::string& each : alone)
        keys.push_back((drawingBefore(each).empty() ? drawingBefore(part) : "") + each + '.' + field);
      keys.push_back(part);
    }
    alone.clear();
  }
  keys.insert(keys.end(), alone.begin(), alone.end());
  return keys;
}

bool applyStructure(Json& project, const std::vector<std::string>& path, const Json& value,
                    const std::string& setting) {
  const bool isLayer = path.back() == "layer" && value.is_string(), isRepeat = path.back() == "repeat";
  if (path.size() != 5 || path[2] != "nodes" || (!isLayer && !isRepeat) || !project.contains(path[0]) ||
      !project[path[0]].is_object() || !project[path[0]].contains(path[1]))
    return false;
  Json& drawing = project[path[0]][path[1]];
  if (!drawing.is_object() || !drawing.contains("nodes") || !drawing["nodes"].is_array()) return false;
  const std::vector<std::string> ids = parted(path[3], ',');
  Json* const node = nodeIn(drawing, ids.front());
  if (isRepeat && (ids.size() > 1 || (node && !node->contains("unit")))) {
    repeatChain(drawing, ids, value, setting);
    return true;
  }
  if (!isLayer || !node) return false;
  if (value == kNoLayer)
    leaveOut(drawing, ids.front(), setting);
  else
    exchange(project, drawing, *node, value.get<std::string>());
  return true;
}

}  // namespace loom
