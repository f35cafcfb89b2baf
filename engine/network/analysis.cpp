#include "engine/network/analysis.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/incremental_analysis.h"

namespace loom {

bool Analysis::sound() const {
  return std::none_of(problems.begin(), problems.end(),
                      [](const Problem& problem) { return problem.severity == Severity::error; });
}

Analysis analyse(const Network& network, ParameterUses& uses) {
  return IncrementalAnalysis().update(network, &uses);
}

Analysis analyse(const Network& network) {
  return IncrementalAnalysis().update(network);
}

std::vector<DatasetInput> datasetInputs(const Network& network) {
  std::vector<DatasetInput> inputs;
  for (const Node& node : network.nodes) {
    const LayerDefinition* layer = findLayer(node.layer);
    if (!layer || layer->role != LayerRole::input) continue;
    try {
      const Values values(layer->entry, node.values);
      if (values.text("source") != "dataset" || !values.has("shape")) continue;
      DatasetInput
          input;  // member by member: what throws inside of braces leaves g++ 12 to destroy what was never made
      input.node = node.id;
      input.variable = values.text("variable");
      if (input.variable.empty()) input.variable = node.id;
      input.shape = Shape(values.integers("shape"));
      input.type = values.text("type") == "values" ? DataType::f32 : DataType::i32;
      inputs.push_back(std::move(input));
    } catch (const Error&) {
      continue;  // analyse() tells what is wrong with its fields
    }
  }
  return inputs;
}

}  // namespace loom
