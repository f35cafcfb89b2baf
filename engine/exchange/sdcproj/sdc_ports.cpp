#include "engine/exchange/sdcproj/sdc_ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/catalogue/text.h"

namespace loom::sdc {

std::string validName(const std::string& wanted, const std::string& otherwise, std::set<std::string>& taken) {
  std::string name;
  for (const char c : wanted) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_') && name != wanted) name.pop_back();
  if (name.empty()) name = otherwise;
  if (!((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'))) name = "n" + name;
  if (name.size() > 100) name.resize(100);
  for (int number = 1;; ++number) {
    const std::string candidate = number == 1 ? name : fmt::format("{}_{}", name, number);
    if (taken.insert(candidate).second) return candidate;
  }
}

std::string unitPort(std::size_t place) {
  return fmt::format("#{}", place);
}

std::string mainPort(const std::string& layer) {
  const LayerDefinition* definition = findLayer(layer);
  return definition && !definition->entry.inputs.empty() ? definition->entry.inputs[0].key : "input";
}

std::string outputPort(const std::string& layer) {
  const LayerDefinition* definition = findLayer(layer);
  return definition && !definition->entry.outputs.empty() ? definition->entry.outputs[0].key : "output";
}

std::string portOf(const Layer& layer, const std::string& drawn, bool isLoss, std::int64_t pin, std::size_t& used) {
  // Several wires to the first pin of a unit are its first inputs, one after the other.
  if (layer.type == "Unit")
    return unitPort(pin == 0 ? used++ : static_cast<std::size_t>(std::clamp<std::int64_t>(pin, 0, 1000)));
  const LayerDefinition* definition = findLayer(drawn);
  if (!definition) return pin == 0 ? "input" : fmt::format("input{}", pin);
  const std::vector<Port>& ports = definition->entry.inputs;
  if (isLoss && pin == 1) return "target";
  if (pin > 0) {
    const std::string side = sidePort(layer.type, pin);
    const auto known = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.key == side; });
    return known != ports.end()                                            ? known->key
           : !side.empty() && ports.size() > static_cast<std::size_t>(pin) ? ports[static_cast<std::size_t>(pin)].key
                                                                           : std::string();
  }
  const std::size_t before = used++;
  if (!ports.empty() && ports[0].several) return ports[0].key;
  return before < ports.size() && (before == 0 || ports[before].key != "target") ? ports[before].key : std::string();
}

Json argumentValue(Translation& t, const Names& names, const std::string& argument, const std::string& text) {
  if (text == "True" || text == "False") return text == "True";
  if (splitList(text).size() > 1) {
    if (auto list = listValue(text, names)) return *list;
  } else if (auto number = numberValue(text, names)) {
    return *number;
  }
  if (text.find_first_of("*[(/") != text.npos)
    t.fault(fmt::format("{} is {}, which has no meaning here: set the argument", clipped(argument), clipped(text)));
  return text;
}

}  // namespace loom::sdc
