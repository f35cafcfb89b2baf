#include "engine/network/flat_pin.h"

#include <algorithm>

namespace loom {
namespace {

std::optional<std::size_t> placeOf(const std::vector<Port>& ports, const std::string& key) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.key == key; });
  if (found == ports.end()) return {};
  return static_cast<std::size_t>(found - ports.begin());
}

class PinFinder {
 public:
  PinFinder(const Project& project, const FlatNetwork& flat, const DrawnPin& drawn)
      : m_project(project), m_flat(flat), m_drawn(drawn) {}

  std::optional<FlatPin> find() const {
    const Network* drawing = m_project.drawing(m_drawn.drawing);
    const Node* node = drawing ? drawing->find(m_drawn.from.node) : nullptr;
    if (!node) return {};
    if (!node->unit.empty()) return behindUse(*drawing, *node);
    if (const auto pin = ofLayer(*drawing, *node)) return pin;
    return roleOf(node->layer) == LayerRole::input ? ofInput(*drawing, *node) : std::nullopt;
  }

 private:
  // Whether this use stands in the one that is meant.
  bool inMeantUse(std::size_t use) const {
    if (m_drawn.useNode.empty()) return true;
    for (;;) {
      const DrawingUse& one = m_flat.uses[use];
      if (one.node >= 0) {
        const Network& around = *m_flat.uses[one.parent].drawing;
        if (around.name == m_drawn.useDrawing && around.nodes[static_cast<std::size_t>(one.node)].id == m_drawn.useNode)
          return true;
      }
      if (use == 0) return false;
      use = one.parent;
    }
  }

  // Whether the wire leads out of the group in which its beginning stands.
  bool leavesGroup(const Network& drawing, const Node& node) const {
    const Node* end = m_drawn.to.empty() ? nullptr : drawing.find(m_drawn.to);
    if (!end || node.group.empty()) return false;
    for (std::string group = end->group; !group.empty();) {
      if (group == node.group) return false;
      const Group* found = drawing.group(group);
      group = found ? found->parent : std::string();
    }
    return true;
  }

  std::optional<FlatPin> ofLayer(const Network& drawing, const Node& node) const {
    const bool last = leavesGroup(drawing, node);
    std::optional<std::size_t> chosen;
    for (std::size_t i = 0; i < m_flat.origins.size(); ++i) {
      const DrawnNode& origin = m_flat.origins[i];
      if (origin.drawing == nullptr || origin.drawing->name != drawing.name || origin->id != node.id ||
          !inMeantUse(origin.use))
        continue;
      chosen = i;
      if (!last) break;
    }
    if (!chosen) return {};
    return pinOf({m_flat.network.nodes[*chosen].id, m_drawn.from.port});
  }

  std::optional<FlatPin> behindUse(const Network& drawing, const Node& node) const {
    const auto output = placeOf(portsOf(m_project, node).outputs, m_drawn.from.port);
    if (!output) return {};
    std::optional<std::size_t> chosen;
    for (std::size_t u = 1; u < m_flat.uses.size(); ++u) {
      const DrawingUse& use = m_flat.uses[u];
      const Network& around = *m_flat.uses[use.parent].drawing;
      if (use.node < 0 || around.name != drawing.name ||
          around.nodes[static_cast<std::size_t>(use.node)].id != node.id || !inMeantUse(use.parent))
        continue;
      chosen = u;
      if (use.repeat + 1 == use.repeats && !leavesGroup(drawing, node)) break;
    }
    if (!chosen || *output >= m_flat.uses[*chosen].outputs.size()) return {};
    return pinOf(m_flat.uses[*chosen].outputs[*output]);
  }

  // An Input inside a unit gives what the unit is given.
  std::optional<FlatPin> ofInput(const Network& drawing, const Node& node) const {
    std::size_t place = 0;
    for (const Node& each : drawing.nodes) {
      if (each.id == node.id) break;
      place += roleOf(each.layer) == LayerRole::input;
    }
    for (std::size_t u = 1; u < m_flat.uses.size(); ++u) {
      const DrawingUse& use = m_flat.uses[u];
      if (use.node < 0 || use.drawing->name != drawing.name || !inMeantUse(u)) continue;
      return place < use.inputs.size() ? pinOf(use.inputs[place]) : std::nullopt;
    }
    return {};
  }

  std::optional<FlatPin> pinOf(const Endpoint& pin) const {
    const Node* node = m_flat.network.find(pin.node);
    const LayerDefinition* layer = node ? findLayer(node->layer) : nullptr;
    if (!layer) return {};
    const auto port = pin.port.empty() ? std::optional<std::size_t>(0) : placeOf(layer->entry.outputs, pin.port);
    if (!port || *port >= layer->entry.outputs.size()) return {};
    return FlatPin{pin, *port};
  }

  const Project& m_project;
  const FlatNetwork& m_flat;
  const DrawnPin& m_drawn;
};

}  // namespace

std::optional<FlatPin> flatPin(const Project& project, const FlatNetwork& flat, const DrawnPin& drawn) {
  return PinFinder(project, flat, drawn).find();
}

}  // namespace loom
