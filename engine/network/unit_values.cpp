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

bool isArgumentRange(const Json& range) {
  if (range.is_null()) return true;
  if (!range.is_array() || range.size() != 2) return false;
  for (const Json& bound : range)
    if (!bound.is_null() && !bound.is_number()) return false;
  return range[0].is_null() || range[1].is_null() || range[0].get<double>() <= range[1].get<double>();
}

Json outOfRange(const Json& value, const Json& range) {
  if (range.is_null()) return nullptr;
  if (value.is_array()) {
    for (const Json& each : value)
      if (const Json out = outOfRange(each, range); !out.is_null()) return out;
    return nullptr;
  }
  if (!value.is_number()) return nullptr;
  const double number = value.get<double>();
  const bool out = (!range[0].is_null() && number < range[0].get<double>()) ||
                   (!range[1].is_null() && number > range[1].get<double>());
  return out ? value : Json();
}

std::string rangeWords(const Json& range) {
  if (range[1].is_null()) return "at least " + range[0].dump();
  if (range[0].is_null()) return "at most " + range[1].dump();
  return range[0].dump() + " to " + range[1].dump();
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
    const LayerRole role = roleOf(inner.layer);
    if (role == LayerRole::input) {
      const Json type = inner.values.value("type", Json("values"));
      ports.inputs.push_back({.key = inner.id,
                              .label = inner.id,
                              .help = "An Input of the unit " + unit->name + ".",
                              .type = type == "label"   ? PortType::labels
                                      : type == "index" ? PortType::indices
                                                        : PortType::values});
    } else if (role == LayerRole::output) {
      ports.outputs.push_back(
          {.key = inner.id, .label = inner.id, .help = "An Output of the unit " + unit->name + "."});
    }
  }
  return ports;
}

}  // namespace loom
