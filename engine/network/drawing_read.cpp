// Networks and units of a project's file.
#include <cmath>

#include "engine/catalogue/nulls.h"
#include "engine/network/form_reader.h"
#include "engine/network/unit_values.h"

namespace loom {
namespace {

class DrawingReader : private FormReader {
 public:
  explicit DrawingReader(Project& project) : m_project(project) {}

  std::vector<Problem> read(const Json& file) {
    const Json* units = child(file, "", "units", Json::value_t::object);
    // A node may use a unit that stands further down: what it needs to know of each comes first.
    if (units)
      for (const auto& [key, value] : units->items()) readHead(key, value);
    if (const Json* networks = child(file, "", "networks", Json::value_t::object))
      for (const auto& [key, value] : networks->items()) {
        Network& network = m_project.networks.emplace_back();
        network.name = key;
        readDrawing(network, "network", join("networks", key), value);
      }
    if (units) {
      auto unit = m_project.units.begin();
      for (const auto& [key, value] : units->items()) readDrawing(*unit++, "unit", join("units", key), value);
    }
    return std::move(m_problems);
  }

 private:
  // The first pins of a node: what a wire means that names none.
  struct FirstPorts {
    std::string input = "input", output = "output";
  };

  void readHead(const std::string& name, const Json& json) {
    const std::string path = join("units", name);
    Network& unit = m_project.units.emplace_back();
    unit.name = name;
    if (!json.is_object()) return;
    FirstPorts& ports = m_units[name];
    if (const auto nodes = json.find("nodes"); nodes != json.end() && nodes->is_array()) {
      bool hasInput = false, hasOutput = false;
      for (const Json& node : *nodes) {
        if (!node.is_object()) continue;
        const std::string id = textOf(node, "id"), layer = textOf(node, "layer");
        const LayerDefinition* known = layer.empty() ? nullptr : findLayer(layer);
        if (!known || id.empty()) continue;
        if (known->role == LayerRole::input && !std::exchange(hasInput, true)) ports.input = id;
        if (known->role == LayerRole::output && !std::exchange(hasOutput, true)) ports.output = id;
      }
    }
    text(json, path, "help", unit.words.help);
    text(json, path, "icon", unit.words.icon);
    text(json, path, "origin", unit.words.origin);
    if (const Json* arguments = child(json, path, "arguments", Json::value_t::object))
      for (const auto& [key, value] : arguments->items()) readArgument(unit, key, value, path + ".arguments");
  }

  static std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  void readArgument(Network& unit, const std::string& name, const Json& json, const std::string& path) {
    if (!isArgumentName(name))
      return report(join(path, name),
                    fmt::format("{}: '{}' is no name for an argument: a letter, then letters, digits and '_', at most "
                                "64, and none of id, "
                                "layer, unit, at, shares, group, repeat",
                                path, clipped(name)),
                    unit.name);
    Argument argument{.name = name, .defaultValue = json};
    if (json.is_object()) {
      onlyKeys(json, join(path, name), {"default", "label", "help", "range"}, unit.name);
      const auto value = json.find("default");
      argument.defaultValue = value == json.end() ? Json(nullptr) : *value;
      text(json, join(path, name), "label", argument.label);
      text(json, join(path, name), "help", argument.help);
      if (const auto range = json.find("range"); range != json.end()) {
        if (isArgumentRange(*range))
          argument.range = *range;
        else
          report(join(path, name) + ".range",
                 fmt::format("{}.range is {}, but [lowest, highest] is wanted, null where it is open", join(path, name),
                             shown(*range)),
                 unit.name);
      }
    }
    if (!isArgumentValue(argument.defaultValue)) {
      report(join(path, name),
             fmt::format("{} is {}, but a number, a text, a truth value or a list of numbers is wanted",
                         join(path, name), shown(argument.defaultValue)),
             unit.name);
      argument.defaultValue = nullptr;
    }
    unit.arguments.push_back(std::move(argument));
  }

  void readDrawing(Network& drawing, const std::string& kind, const std::string& path, const Json& json) {
    checkName(kind, drawing.name, path);
    if (!json.is_object())
      return report(path, fmt::format("{} is {}, but an object with nodes and edges is wanted", path, shown(json)),
                    drawing.name);
    std::vector<std::string> known{"nodes", "edges", "groups", "comments"};
    if (kind == "unit") known.insert(known.begin(), {"help", "icon", "origin", "arguments"});
    onlyKeys(json, path, known, drawing.name);
    each(json, path, "nodes", [&](const Json& item, const std::string& place) { readNode(drawing, item, place); });
    each(json, path, "edges", [&](const Json& item, const std::string& place) { readEdge(drawing, item, place); });
    each(json, path, "groups", [&](const Json& item, const std::string& place) { readGroup(drawing, item, place); });
    each(json, path, "comments",
         [&](const Json& item, const std::string& place) { readComment(drawing, item, place); });
    m_ids.clear();
  }

  template <class Read>
  void each(const Json& json, const std::string& path, const char* key, Read read) {
    if (const Json* list = child(json, path, key, Json::value_t::array))
      for (std::size_t i = 0; i < list->size(); ++i) read((*list)[i], fmt::format("{}.{}[{}]", path, key, i));
  }

  void readNode(Network& network, const Json& json, const std::string& path) {
    if (!json.is_object())
      return report(path, fmt::format("{} is {}, but an object with id and layer is wanted", path, shown(json)),
                    network.name);
    Node node;
    const bool named = text(json, path, "id", node.id);
    const bool isUnit = json.contains("unit");
    if (isUnit && json.contains("layer"))
      report(join(path, "layer"),
             fmt::format("{}: has both 'layer' and 'unit', but a node is one of the two; 'layer' is left out", path),
             network.name, node.id);
    if (isUnit ? !text(json, path, "unit", node.unit) || node.unit.empty() : !text(json, path, "layer", node.layer)) {
      if (isUnit && node.unit.empty() && json["unit"].is_string())
        report(join(path, "unit"), fmt::format("{}: 'unit' is empty, but the name of a unit is wanted", path),
               network.name, node.id);
      if (!isUnit && !json.contains("layer"))
        report(join(path, "layer"), fmt::format("{}: the key 'layer' is missing", path), network.name, node.id);
      return;
    }
    const LayerDefinition* layer = isUnit ? nullptr : findLayer(node.layer);
    const Network* unit = isUnit ? std::as_const(m_project).unit(node.unit) : nullptr;
    if (layer) node.layer = layer->entry.id;  // an alias
    if (!named || m_ids.count(node.id)) {
      const std::string was = node.id;
      node.id = freeId(layer || unit, named ? was : std::string("node"));
      report(join(path, "id"),
             named ? fmt::format("{}: two nodes are called '{}', but names must differ; this one is read as '{}'", path,
                                 clipped(was), clipped(node.id))
                   : fmt::format("{}: {}; the node is read as '{}'", path,
                                 json.contains("id") ? "'id' is no text" : "the key 'id' is missing", clipped(node.id)),
             network.name, node.id);
    }
    text(json, path, "shares", node.shares);
    text(json, path, "group", node.group);
    node.placed = readPair(json, path, "at", "the place of its centre is wanted, such as [120, 60]", node.x, node.y);
    if (isUnit && json.contains("repeat") && json["repeat"] != 1) node.repeat = json["repeat"];
    Json values = Json::object();
    static const std::vector<std::string> own{"id", "layer", "at", "shares", "group"};
    for (const auto& [key, value] : json.items())
      if (std::find(own.begin(), own.end(), key) == own.end() && !(isUnit && (key == "unit" || key == "repeat")))
        values[key] = value;
    node.values = unit    ? withoutDefaults(*unit, values)
                  : layer ? withoutDefaultsButNulls(layer->entry, values)
                          : std::move(values);
    m_ids.emplace(node.id, portsOf(node, layer));
    network.nodes.push_back(std::move(node));
  }

  FirstPorts portsOf(const Node& node, const LayerDefinition* layer) const {
    if (const auto unit = m_units.find(node.unit); unit != m_units.end()) return unit->second;
    FirstPorts ports;
    if (layer && !layer->entry.inputs.empty()) ports.input = layer->entry.inputs[0].key;
    if (layer && !layer->entry.outputs.empty()) ports.output = layer->entry.outputs[0].key;
    return ports;
  }

  std::string freeId(bool isKnown, const std::string& wanted) const {
    const std::string base = isValidId(wanted) && wanted.size() < 100 ? wanted : isKnown ? "node" : "unknown";
    std::string id = base;
    for (std::size_t number = 2; m_ids.count(id); ++number) id = fmt::format("{}_{}", base, number);
    return id;
  }

  // Two numbers; false where there are none that can be used, which is told where there is something.
  bool readPair(const Json& json, const std::string& path, const char* key, const char* wanted, double& first,
                double& second) {
    const auto found = json.find(key);
    if (found == json.end()) return false;
    const auto usable = [](const Json& value) { return value.is_number() && std::abs(value.get<double>()) <= 1e7; };
    if (!found->is_array() || found->size() != 2 || !usable((*found)[0]) || !usable((*found)[1])) {
      report(join(path, key), fmt::format("{}: '{}' is {}, but {}", path, key, shown(*found), wanted));
      return false;
    }
    first = (*found)[0].get<double>();
    second = (*found)[1].get<double>();
    return true;
  }

  void readEdge(Network& network, const Json& json, const std::string& path) {
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_string())
      return report(
          path,
          fmt::format("{} is {}, but two names are wanted, such as [\"conv1\", \"relu1\"] or [\"y\", \"loss.target\"]",
                      path, shown(json)),
          network.name);
    const auto endpoint = [&](const Json& value, bool isInput) {
      const std::string& name = value.get_ref<const std::string&>();
      const auto dot = name.find('.');
      if (dot != std::string::npos) return Endpoint{name.substr(0, dot), name.substr(dot + 1)};
      const auto found = m_ids.find(name);
      const FirstPorts ports = found == m_ids.end() ? FirstPorts{} : found->second;
      return Endpoint{name, isInput ? ports.input : ports.output};
    };
    network.edges.push_back({endpoint(json[0], false), endpoint(json[1], true)});
  }

  // The id of a group or comment; one that is missing or taken gets a free one.
  template <class Item>
  bool readId(const Network& network, const Json& json, const std::string& path, const std::vector<std::string>& known,
              const char* base, Item& item) {
    if (!json.is_object()) {
      report(path, fmt::format("{} is {}, but an object with an id is wanted", path, shown(json)), network.name);
      return false;
    }
    onlyKeys(json, path, known, network.name);
    const bool named = text(json, path, "id", item.id);
    const bool taken = named && (network.find(item.id) || network.group(item.id) || network.comment(item.id));
    if (named && !taken) return true;
    const std::string was = item.id;
    item.id = network.freeId(named && was.size() < 100 ? was : base);
    report(join(path, "id"),
           taken ? fmt::format("{}: '{}' is taken already, but names must differ; this one is read as '{}'", path,
                               clipped(was), clipped(item.id))
                 : fmt::format("{}: the key 'id' is missing; it is read as '{}'", path, clipped(item.id)),
           network.name);
    return true;
  }

  void readGroup(Network& network, const Json& json, const std::string& path) {
    Group group;
    if (!readId(network, json, path, {"id", "title", "colour", "parent", "folded", "repeat", "counter"}, "group",
                group))
      return;
    text(json, path, "title", group.title);
    text(json, path, "colour", group.colour);
    text(json, path, "parent", group.parent);
    text(json, path, "counter", group.counter);
    if (const Json* folded = child(json, path, "folded", Json::value_t::boolean)) group.folded = folded->get<bool>();
    if (json.contains("repeat") && json["repeat"] != 1) group.repeat = json["repeat"];
    network.groups.push_back(std::move(group));
  }

  void readComment(Network& network, const Json& json, const std::string& path) {
    Comment comment;
    if (!readId(network, json, path, {"id", "text", "at", "size", "colour"}, "comment", comment)) return;
    text(json, path, "text", comment.text);
    text(json, path, "colour", comment.colour);
    readPair(json, path, "at", "the place of its centre is wanted, such as [120, 60]", comment.x, comment.y);
    double width = 0, height = 0;
    if (readPair(json, path, "size", "its width and height are wanted, such as [200, 80]", width, height)) {
      if (width > 0 && height > 0)
        comment.width = width, comment.height = height;
      else
        report(join(path, "size"), fmt::format("{}: 'size' is {}, but both are more than 0", path, shown(json["size"])),
               network.name);
    }
    network.comments.push_back(std::move(comment));
  }

  Project& m_project;
  std::map<std::string, FirstPorts> m_units;
  std::map<std::string, FirstPorts> m_ids;  // of the drawing that is being read
};

}  // namespace

void readDrawings(const Json& file, Project& project, std::vector<Problem>& problems) {
  std::vector<Problem> found = DrawingReader(project).read(file);
  problems.insert(problems.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

}  // namespace loom
