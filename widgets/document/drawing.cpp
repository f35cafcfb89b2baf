#include "widgets/document/drawing.h"

#include <algorithm>
#include <unordered_map>

namespace loom {

const Project kNoUnits;

std::shared_ptr<const NodePorts> drawnPorts(const Project& project, const Node& node) {
  if (!node.unit.empty())
    return project.unit(node.unit) == nullptr ? nullptr : std::make_shared<const NodePorts>(portsOf(project, node));
  static std::unordered_map<std::string, std::shared_ptr<const NodePorts>> ofLayers;  // on the window's thread alone
  const auto [ports, isNew] = ofLayers.try_emplace(node.layer);
  if (isNew)
    if (const LayerDefinition* layer = findLayer(node.layer))
      ports->second = std::make_shared<const NodePorts>(NodePorts{layer->entry.inputs, layer->entry.outputs});
  return ports->second;
}

const Port* findPort(const std::vector<Port>& ports, std::string_view key) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.key == key; });
  return found == ports.end() ? nullptr : &*found;
}

}  // namespace loom
