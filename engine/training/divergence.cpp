#include "engine/training/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
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

// What an operation writes.
struct Probe {
  TensorId tensor;
  std::size_t operation;
};

std::int64_t bytesKept(const Tensor& tensor) {
  return tensor.role == TensorRole::intermediate ? tensor.shape.elements() * std::int64_t{sizeof(float)} : 0;
}

// The shard once more, with these probes as results.
std::string firstNotFinite(Backend& backend, ParameterStore& store, const DivergenceQuestion& question,
                           std::span<const Probe> probes) {
  const auto nameOf = [](std::size_t i) { return fmt::format("probe {}", i); };
  Program program = question.program;
  for (std::size_t i = 0; i < probes.size(); ++i)
    if (program.tensor(probes[i].tensor).role == TensorRole::intermediate)
      program.results.push_back({.name = nameOf(i), .tensor = probes[i].tensor});
  const auto executable = backend.compile(std::move(program), store, question.compile);
  for (const Tensor& tensor : question.program.tensors) {
    if (tensor.role != TensorRole::input) continue;
    const std::span<const std::byte> from = question.executable.input(tensor.name);
    std::memcpy(executable->input(tensor.name).data(), from.data(), from.size());
  }
  executable->run(question.step);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const Tensor& tensor = question.program.tensor(probes[i].tensor);
    const Operation& operation = question.program.operations[probes[i].operation];
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    if (tensor.role == TensorRole::intermediate)
      executable->readResult(nameOf(i), values);
    else
      store.at(tensor.name).gradient.read(values);
    if (allFinite(values)) continue;
    if (tensor.role == TensorRole::parameterGradient) return fmt::format("the gradient of '{}'", tensor.name);
    return fmt::format("the {} of {}", operation.backward ? "gradient" : "output",
                       layerName(question.network, operation.origin));
  }
  return {};
}

}  // namespace

std::string firstNotFinite(Backend& backend, ParameterStore& store, DivergenceQuestion question) {
  const Program& program = question.program;
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != TensorRole::input || tensor.type != DataType::f32) continue;
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(values.data(), question.executable.input(tensor.name).data(), values.size() * sizeof(float));
    if (!allFinite(values))
      return fmt::format("the data: the input '{}'{}", tensor.name, firstBadSample(values, tensor.shape));
  }
  for (const Parameter& parameter : program.parameters)
    // Running statistics follow from what a step computes and never lead to it.
    if (!parameter.isState && !allFinite(store.at(parameter.name).value.values()))
      return fmt::format("the weights '{}'", parameter.name);

  // Running statistics that operations change in place, and their averages, tell of the end and not of the beginning.
  std::vector<bool> changing(program.tensors.size());
  for (const Operation& operation : program.operations)
    for (const int k : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
      changing[static_cast<std::size_t>(operation.inputs[static_cast<std::size_t>(k)])] = true;
  const auto isOfState = [&](const Tensor& tensor) {
    const Parameter* of = program.findParameter(tensor.name);
    return of != nullptr && of->isState;
  };
  std::vector<Probe> probes;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    for (const TensorId id : program.operations[i].outputs) {
      if (id == kNoTensor || changing[static_cast<std::size_t>(id)]) continue;
      const Tensor& tensor = program.tensor(id);
      if (tensor.type != DataType::f32) continue;
      if (tensor.role == TensorRole::intermediate ||
          (tensor.role == TensorRole::parameterGradient && !isOfState(tensor)))
        probes.push_back({id, i});
    }
  }
  question.step.accumulate = false;
  if (question.compile.memoryBudget > 0) question.compile.memoryBudget += static_cast<std::size_t>(question.mostKept);
  for (std::size_t first = 0; first < probes.size();) {
    std::size_t last = first;
    for (std::int64_t bytes = 0; last < probes.size() && (last == first || bytes < question.mostKept); ++last)
      bytes += bytesKept(program.tensor(probes[last].tensor));
    const std::string found = firstNotFinite(backend, store, question, std::span(probes).subspan(first, last - first));
    if (!found.empty()) return found;
    first = last;
  }
  return {};
}

}  // namespace loom
