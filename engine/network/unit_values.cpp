#include "engine/network/unit_values.h"

#include <algorithm>

namespace loom {

bool isArgumentValue(const Json& value) {
  const auto isScalar = [](const Json& item) { return item.is_number() || item.is_string(); };
  return value.is_null() || value.is_boolean() || isScalar(value) ||
         (value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), isScalar));
}

bool isAlike(const Json& value, const Json& usual) {
  if (value.is_null() || usual.is_null() || isExpression(value) || isExpression(usual)) return true;
  return isArgumentValue(value) && value.is_boolean() == usual.is_boolean() && value.is_string() == usual.is_string();
}

Json withoutDefaults(const Network& unit, const Json& given) {
  Json result = Json::object();
  if (!given.is_object()) return result;
  for (const Argument& argument : unit.arguments) {
    const auto found = given.find(argument.name);
    if (found != given.end() && !found->is_null() && *found != argument.defaultValue) result[argument.name] = *found;
  }
  for (const auto& [key, value] : given.items())
    if (!unit.argument(key)) result[key] = value;
  return result;
}

NodePorts portsOf(const Project& project, const Node& node) {
  NodePorts ports;
  if (node.unit.empty()) {
    if (const LayerDefinition* layer = findLayer(node.layer)) ports = {layer->entry.inputs, layer->entry.outputs};
    return ports;
  }
  const Network* unit = project.unit(node.unit);
  if (!unit) return ports;
  for (const Node& inner : unit->nodes) {
    if (inner.layer == "Input") {
      const Json type = inner.values.value("type", Json("values"));
      ports.inputs.push_back({.key = inner.id,
                              .label = inner.id,
                              .help = "An Input of the unit " + unit->name + ".",
                              .type = type == "label"   ? PortType::labels
                                      : type == "index" ? PortType::indices
                                                        : PortType::values});
    } else if (inner.layer == "Output") {
      ports.outputs.push_back(
          {.key = inner.id, .label = inner.id, .help = "An Output of the unit " + unit->name + "."});
    }
  }
  return ports;
}

}  // namespace loom
