// Expressions over shapes: found in the order in which the shapes become known.
#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "engine/base/error.h"
#include "engine/catalogue/text.h"
#include "engine/network/flattener.h"

namespace loom {

namespace {

bool isSound(const LayerDefinition& layer, const Json& values) {
  const std::vector<FieldProblem> found = validate(layer.entry, values);
  return std::none_of(found.begin(), found.end(),
                      [](const FieldProblem& each) { return each.severity == FieldProblem::Severity::error; });
}

}  // namespace

void Flattener::findShapes() {
  const std::size_t count = m_flat.network.nodes.size();
  std::unordered_map<std::string_view, std::size_t> byId;
  for (std::size_t i = 0; i < count; ++i) byId.emplace(m_flat.network.nodes[i].id, i);
  // What each node waits for: what leads to it, and what its expressions ask for.
  std::vector<std::vector<std::pair<std::size_t, const Edge*>>> sources(count);
  std::vector<std::vector<std::size_t>> waitedFor(count), keys(count);
  std::vector<std::size_t> waiting(count, 0);
  const auto wait = [&](std::size_t node, std::size_t source) {
    waitedFor[source].push_back(node);
    ++waiting[node];
  };
  for (const Edge& edge : m_flat.network.edges) {
    const auto from = byId.find(edge.from.node), to = byId.find(edge.to.node);
    if (from == byId.end() || to == byId.end()) continue;
    sources[to->second].emplace_back(from->second, &edge);
    wait(to->second, from->second);
  }
  std::vector<std::size_t> asked;
  const std::vector<Pending> pending = std::move(m_pending);
  const auto drawnValue = [&](const Pending& each) { return m_flat.origins[each.flat]->values.at(each.key); };
  m_asked = &asked;
  for (std::size_t p = 0; p < pending.size(); ++p) {
    keys[pending[p].flat].push_back(p);
    asked.clear();
    Json value = drawnValue(pending[p]);
    findValue(pending[p].flat, pending[p].key, value);
    for (const std::size_t source : asked) wait(pending[p].flat, source);
  }
  m_asked = nullptr;
  m_pending.clear();

  const auto outputOf = [&](std::size_t source, const std::string& port) {
    const LayerDefinition* const layer = findLayer(m_flat.network.nodes[source].layer);
    std::size_t output = 0;
    while (layer && output < layer->entry.outputs.size() && layer->entry.outputs[output].key != port) ++output;
    return output;
  };
  std::vector<std::vector<Shape>> shapes(count);
  m_shapes = &shapes;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<char> done(count, 0);
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    done[i] = 1;
    for (const std::size_t p : keys[i]) {
      Json value = drawnValue(pending[p]);
      findValue(i, pending[p].key, value);
      m_flat.network.nodes[i].values[pending[p].key] = std::move(value);
    }
    const Node& node = m_flat.network.nodes[i];
    if (const LayerDefinition* layer = findLayer(node.layer)) {
      std::vector<Shape> inputs;
      bool isKnown = true;
      for (const Port& port : layer->entry.inputs)
        for (const auto& [source, edge] : sources[i]) {
          if (edge->to.port != port.key) continue;
          const std::size_t output = outputOf(source, edge->from.port);
          isKnown = isKnown && output < shapes[source].size();
          if (isKnown) inputs.push_back(shapes[source][output]);
        }
      try {
        const auto least = static_cast<std::size_t>(std::count_if(
            layer->entry.inputs.begin(), layer->entry.inputs.end(), [](const Port& port) { return !port.optional; }));
        if (isKnown && inputs.size() >= least && isSound(*layer, node.values))
          shapes[i] = layer->shapes({node.id, Values(layer->entry, node.values), inputs});
      } catch (const Error&) {
        shapes[i].clear();  // told by analyse()
      }
    }
    for (const std::size_t next : waitedFor[i])
      if (--waiting[next] == 0) ready.push(next);
  }
  // What a node gives to a unit that asks nothing of it is shown all the same.
  for (std::size_t use = 0; use < m_uses.size(); ++use)
    for (std::size_t i = 0; i < m_uses[use].arguments.size(); ++i) {
      Fault fault;
      argument(use, i, fault);
    }
  m_shapes = nullptr;
  // What is left waits for itself. A circle of wires is told as such; one that an expression closes is told here.
  for (std::size_t p = 0; p < pending.size(); ++p) {
    const std::size_t i = pending[p].flat;
    if (done[i]) continue;
    const DrawnNode& origin = m_flat.origins[i];
    tellFault(origin.use, *origin, pending[p].key, shown(drawnValue(pending[p])),
              {"the shape that it asks for follows from this node, or from a circle of wires", {}, {}}, -1);
  }
}

}  // namespace loom
