#include "engine/network/cost_memo.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/catalogue/text.h"
#include "engine/network/node_analysis.h"

namespace loom {
namespace {

void append(std::string& key, std::int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The node alone, as in training, for one sample.
LayerCost lowered(const GraphNode& node, const NodeFacts& facts, const std::vector<DataType>& types) {
  ProgramBuilder builder(1, 1, true);
  std::vector<TensorId> inputs;
  std::size_t next = 0;
  for (std::size_t port = 0; port < node.inputs.size(); ++port) {
    if (node.inputs[port].empty()) inputs.push_back(kNoTensor);
    for (std::size_t wire = 0; wire < node.inputs[port].size(); ++wire, ++next)
      inputs.push_back(builder.input(std::to_string(next), facts.inputs[next].prepended(1), types[next]));
  }
  const Values values(node.layer->entry, node.node->values);
  node.layer->lower({node.node->id, scopeOf(*node.node), values, inputs, builder});
  const Program& program = builder.program();
  LayerCost cost{facts.outputs, facts.outputValues, 0, {}};
  for (const Operation& operation : program.operations)
    if (operation.op->multiplyAdds)
      cost.multiplyAdds += operation.op->multiplyAdds(program.specs(operation.inputs), program.specs(operation.outputs),
                                                      operation.attributes);
  const std::string prefix = scopeOf(*node.node) + "/";
  for (const Parameter& parameter : program.parameters)
    cost.weights.push_back({parameter.name.starts_with(prefix) ? parameter.name.substr(prefix.size()) : parameter.name,
                            parameter.shape, parameter.isState});
  return cost;
}

}  // namespace

std::shared_ptr<const LayerCost> CostMemo::of(const GraphNode& node, const std::string& kind,
                                              const std::string& network, const std::vector<Shape>& inputs,
                                              const std::vector<DataType>& types, NodeFacts& facts,
                                              std::vector<Problem>& problems) {
  std::string key = kind;
  for (const auto& port : node.inputs) append(key, static_cast<std::int64_t>(port.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    append(key, -1 - static_cast<std::int64_t>(types[i]));
    for (const std::int64_t extent : inputs[i]) append(key, extent);
  }
  if (const auto known = m_known.find(key); known != m_known.end()) {
    const LayerCost& cost = *known->second;
    facts.outputs = cost.outputs;
    facts.outputValues = cost.outputValues;
    facts.multiplyAdds = cost.multiplyAdds;
    facts.known = true;
    return known->second;
  }
  if (!inferShapes(node, network, facts, problems)) return nullptr;
  try {
    auto cost = std::make_shared<const LayerCost>(lowered(node, facts, types));
    facts.multiplyAdds = cost->multiplyAdds;
    m_known.emplace(std::move(key), cost);
    return cost;
  } catch (const Error& error) {
    problems.push_back({.network = network,
                        .node = node.node->id,
                        .message = fmt::format("{}: {}", clipped(node.node->id), error.message())});
    return nullptr;
  }
}

}  // namespace loom
