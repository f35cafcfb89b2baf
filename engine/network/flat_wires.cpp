// From each flat node back along the drawn wires, through pins and repeats, to the flat node that they come from.
#include "engine/network/flattener.h"

namespace loom {
namespace {

std::string firstOutput(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  return layer && !layer->entry.outputs.empty() ? layer->entry.outputs[0].key : std::string("output");
}

}  // namespace

void Flattener::wire() {
  // In the order of the repeats, so that each finds what the one before it found.
  for (std::size_t u = 1; u < m_uses.size(); ++u) {
    if (m_uses[u].body != 0) continue;
    m_uses[u].inputs.resize(m_uses[u].plan->inputs.size());
    for (std::size_t pin = 0; pin < m_uses[u].inputs.size(); ++pin) {
      FlatPin found = inputOf(u, pin);
      m_uses[u].inputs[pin] = std::move(found);
    }
  }
  for (std::size_t i = 0; i < m_flat.origins.size(); ++i) {
    const DrawnNode origin = m_flat.origins[i];
    if (!origin.drawing) continue;
    const DrawingPlan& plan = *m_uses[origin.use].plan;
    for (const std::size_t e : plan.incoming[origin.node]) {
      const Edge& drawn = plan.drawing->edges[e];
      const std::ptrdiff_t source = plan.wires[e].from;
      Endpoint from;
      if (source < 0) {  // the flat network tells that there is no such node
        from = {pathOf(origin.use, drawn.from.node), drawn.from.port};
      } else {
        const FlatPin pin = resolve(origin.use, static_cast<std::size_t>(source), drawn.from.port);
        const std::size_t node = pin.node < 0 ? unwired() : static_cast<std::size_t>(pin.node);
        from = {m_flat.network.nodes[node].id, pin.node < 0 ? "output" : pin.port};
      }
      m_flat.network.edges.push_back({std::move(from), {m_flat.network.nodes[i].id, drawn.to.port}});
      m_flat.edges.push_back(e);
    }
  }
  // Wires that end nowhere, of a drawing's first use: the flat network tells of them where they begin.
  std::set<const Network*> seen;
  for (std::size_t u = 0; u < m_uses.size(); ++u) {
    const DrawingPlan& plan = *m_uses[u].plan;
    if (m_uses[u].body != 0 || !seen.insert(plan.drawing).second) continue;
    for (std::size_t e = 0; e < plan.wires.size(); ++e) {
      if (plan.wires[e].to >= 0) continue;
      const Edge& drawn = plan.drawing->edges[e];
      if (plan.wires[e].from >= 0 && !plan.drawing->nodes[static_cast<std::size_t>(plan.wires[e].from)].unit.empty())
        continue;
      m_flat.network.edges.push_back(
          {{pathOf(u, drawn.from.node), drawn.from.port}, {pathOf(u, drawn.to.node), drawn.to.port}});
      m_flat.edges.push_back(e);
    }
  }
  const auto endpoint = [&](const FlatPin& pin) {
    return pin.node < 0 ? Endpoint{} : Endpoint{m_flat.network.nodes[static_cast<std::size_t>(pin.node)].id, pin.port};
  };
  for (std::size_t u = 1; u < m_uses.size(); ++u) {
    if (m_uses[u].body != 0) continue;
    for (std::size_t pin = 0; pin < m_uses[u].plan->inputs.size(); ++pin)
      m_flat.uses[u].inputs.push_back(endpoint(inputOf(u, pin)));
    for (std::size_t pin = 0; pin < m_uses[u].plan->outputs.size(); ++pin)
      m_flat.uses[u].outputs.push_back(endpoint(outputOf(u, pin)));
  }
}

// What comes into a unit's Input in one of its uses.
Flattener::FlatPin Flattener::inputOf(std::size_t unitUse, std::size_t pin) {
  const DrawingPlan& plan = *m_uses[unitUse].plan;
  return resolve(unitUse, plan.inputs[pin], "output");
}

Flattener::FlatPin Flattener::outputOf(std::size_t unitUse, std::size_t pin) {
  const DrawingPlan& plan = *m_uses[unitUse].plan;
  return resolve(unitUse, plan.outputs[pin], "output");
}

// One step a turn, so that a thousand empty repeats need no stack. A circle that holds no node ends at the bound.
Flattener::FlatPin Flattener::resolve(std::size_t use, std::size_t node, std::string port) {
  const auto follow = [&](const DrawingPlan& plan, std::ptrdiff_t edge) {
    if (edge < 0 || plan.wires[static_cast<std::size_t>(edge)].from < 0) return false;
    node = static_cast<std::size_t>(plan.wires[static_cast<std::size_t>(edge)].from);
    port = plan.drawing->edges[static_cast<std::size_t>(edge)].from.port;
    return true;
  };
  const std::size_t most = m_isCircle ? 1000 : 4 * m_uses.size() + 1000;
  for (std::size_t steps = 0; steps < most; ++steps) {
    const Use& at = m_uses[use];
    const DrawingPlan& plan = *at.plan;
    const Node& drawn = plan.drawing->nodes[node];
    const std::size_t body = plan.bodyOf[node];
    if (body != at.body && !plan.isWithin(body, at.body)) {
      // Outside of this repeat: what the repeat before gives, or what the wire comes from.
      if (at.previous >= 0) {
        const PlannedPin& exit = plan.bodies[at.body].exit;
        if (exit.node < 0) return {};
        use = static_cast<std::size_t>(at.previous);
        node = static_cast<std::size_t>(exit.node);
        port = exit.port;
      } else {
        use = m_flat.uses[use].parent;
      }
      continue;
    }
    if (body != at.body) {
      // Inside of a repeated group: what its last repeat gives.
      std::size_t inner = body;
      while (plan.bodies[inner].parent != at.body) inner = plan.bodies[inner].parent;
      const auto slot = at.bodies.find(inner);
      if (slot == at.bodies.end()) return {};
      if (slot->second.last >= 0) {
        use = static_cast<std::size_t>(slot->second.last);
        continue;
      }
      const PlannedPin& entry = plan.bodies[inner].entry;  // of none: what comes in goes out
      if (entry.node < 0) return {};
      node = static_cast<std::size_t>(entry.node);
      port = entry.port;
      continue;
    }
    const Slot slot = at.nodes[plan.placeIn[node]];
    if (!drawn.unit.empty()) {
      const Network* const unit = m_project.unit(drawn.unit);
      if (!unit) return {};
      const auto planned = m_plans.find(unit);
      if (planned == m_plans.end()) return {};
      const DrawingPlan& inside = *planned->second;
      const std::ptrdiff_t pin = port.empty() ? (inside.outputs.empty() ? -1 : 0) : inside.pin(inside.outputs, port);
      if (pin < 0) return {};
      if (slot.last >= 0) {
        use = static_cast<std::size_t>(slot.last);
        if (!follow(inside, inside.incoming[inside.outputs[static_cast<std::size_t>(pin)]].empty()
                                ? -1
                                : static_cast<std::ptrdiff_t>(
                                      inside.incoming[inside.outputs[static_cast<std::size_t>(pin)]][0])))
          return {};
        continue;
      }
      if (static_cast<std::size_t>(pin) >= inside.inputs.size()) return {};
      if (!follow(plan, plan.edgeTo(node, inside.drawing->nodes[inside.inputs[static_cast<std::size_t>(pin)]].id)))
        return {};
      continue;
    }
    if (at.root != 0 && isOutputPin(drawn)) {
      if (plan.incoming[node].empty() || !follow(plan, static_cast<std::ptrdiff_t>(plan.incoming[node][0]))) return {};
      continue;
    }
    if (at.root != 0 && isInputPin(drawn)) {
      const std::ptrdiff_t pin = plan.pin(plan.inputs, drawn.id);
      const std::size_t root = at.root;
      if (static_cast<std::size_t>(pin) < m_uses[root].inputs.size() &&
          m_uses[root].inputs[static_cast<std::size_t>(pin)])
        return *m_uses[root].inputs[static_cast<std::size_t>(pin)];
      if (m_uses[root].previous >= 0 && static_cast<std::size_t>(pin) < plan.outputs.size()) {
        const std::vector<std::size_t>& wires = plan.incoming[plan.outputs[static_cast<std::size_t>(pin)]];
        use = static_cast<std::size_t>(m_uses[root].previous);
        if (wires.empty() || !follow(plan, static_cast<std::ptrdiff_t>(wires[0]))) return {};
        continue;
      }
      const DrawingUse& around = m_flat.uses[root];
      const DrawingPlan& outer = *m_uses[around.parent].plan;
      const std::ptrdiff_t edge = outer.edgeTo(static_cast<std::size_t>(around.node), drawn.id);
      use = around.parent;
      if (!follow(outer, edge)) return {};
      continue;
    }
    if (slot.first < 0) return {};
    return {slot.first, port.empty() ? firstOutput(drawn) : port};
  }
  if (!std::exchange(m_isCircle, true))
    tell(use, m_uses[use].plan->drawing->nodes[node].id, "",
         "the wires go in a circle through units and repeats that hold no layer on the way");
  return {};
}

// Stands for what is not wired, which is told at the pin: of an unknown shape, so that nothing behind it is told again.
std::size_t Flattener::unwired() {
  if (m_unwired < 0) {
    m_unwired = static_cast<std::ptrdiff_t>(m_flat.network.nodes.size());
    const std::string id = m_flat.network.freeId(std::string("unwired"));
    Node& node = m_flat.network.nodes.emplace_back();
    node.id = id;
    node.layer = "Input";
    node.values["shape"] = "=shape";
    m_flat.origins.push_back({});
  }
  return static_cast<std::size_t>(m_unwired);
}

}  // namespace loom
