#include "engine/training/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/base/error.h"

namespace loom {
namespace {

bool allFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

std::string layerName(const Network& network, const std::string& origin) {
  const Node* node = network.find(origin);
  return node ? fmt::format("layer '{}' ({})", origin, node->layer) : fmt::format("'{}'", origin);
}

// Index of the sample (row of the shard) of the first value that is not finite.
std::string firstBadSample(std::span<const float> values, const Shape& shape) {
  if (shape.rank() < 1 || shape[0] < 1) return {};
  const auto perSample = values.size() / static_cast<std::size_t>(shape[0]);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return fmt::format(", sample {} of the batch", i / std::max<std::size_t>(perSample, 1));
  return {};
}

}  // namespace

std::string firstNotFinite(Backend& backend, ParameterStore& store, DivergenceQuestion question) {
  Program& program = question.program;
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != TensorRole::input || tensor.type != DataType::f32) continue;
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(values.data(), question.executable.input(tensor.name).data(), values.size() * sizeof(float));
    if (!allFinite(values))
      return fmt::format("the data: the input '{}'{}", tensor.name, firstBadSample(values, tensor.shape));
  }
  for (const Parameter& parameter : program.parameters)
    if (!allFinite(store.at(parameter.name).value))
      return fmt::format("the {} '{}'", parameter.isState ? "running state" : "weights", parameter.name);

  struct Probe {
    std::string result;
    TensorId tensor;
    std::size_t operation;
  };
  std::vector<Probe> probes;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    for (const TensorId id : program.operations[i].outputs) {
      if (id == kNoTensor || program.tensor(id).type != DataType::f32) continue;
      const TensorRole role = program.tensor(id).role;
      if (role != TensorRole::intermediate && role != TensorRole::parameterGradient) continue;
      probes.push_back({fmt::format("probe {}", probes.size()), id, i});
      if (role == TensorRole::intermediate) program.results.push_back({probes.back().result, "output", id});
    }
  }
  const Program kept = program;
  const auto executable = backend.compile(std::move(program), store, question.compile);
  for (const Tensor& tensor : kept.tensors) {
    if (tensor.role != TensorRole::input) continue;
    const std::span<const std::byte> from = question.executable.input(tensor.name);
    std::memcpy(executable->input(tensor.name).data(), from.data(), from.size());
  }
  question.step.accumulate = false;
  executable->run(question.step);
  for (const Probe& probe : probes) {
    const Tensor& tensor = kept.tensor(probe.tensor);
    const Operation& operation = kept.operations[probe.operation];
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    if (tensor.role == TensorRole::intermediate)
      executable->readResult(probe.result, values);
    else
      std::copy_n(store.at(tensor.name).gradient.begin(), values.size(), values.begin());
    if (allFinite(values)) continue;
    if (tensor.role == TensorRole::parameterGradient) return fmt::format("the gradient of '{}'", tensor.name);
    return fmt::format("the {} of {}", operation.backward ? "gradient" : "output",
                       layerName(question.network, operation.origin));
  }
  return {};
}

}  // namespace loom
