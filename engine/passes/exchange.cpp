// Where gradients leave for other ranks, and whose samples batch statistics are taken of.
#include <algorithm>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/ops/emissions.h"
#include "engine/passes/passes.h"

namespace loom {
namespace {

// The operation that writes each parameter's gradient last.
std::map<std::string, std::size_t> completions(const Program& program) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < program.operations.size(); ++i)
    for (const TensorId id : program.operations[i].outputs)
      if (id != kNoTensor && program.tensor(id).role == TensorRole::parameterGradient)
        last[program.tensor(id).name] = i;
  return last;
}

}  // namespace

std::vector<std::string> averagedStates(const Program& program) {
  std::vector<std::string> names;
  for (const Parameter& parameter : program.parameters)
    if (parameter.isState && program.findTensor(parameter.name, TensorRole::parameterGradient) != kNoTensor)
      names.push_back(parameter.name);
  return names;
}

// All that reads or changes a state works on a copy of it.
void averageStates(Program& program) {
  std::set<TensorId> changed;
  for (const Operation& operation : program.operations)
    for (const int k : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
      if (const TensorId id = operation.inputs[static_cast<std::size_t>(k)];
          program.tensor(id).role == TensorRole::state)
        changed.insert(id);
  if (changed.empty()) return;
  const auto append = [&program](Tensor tensor) {
    program.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(program.tensors.size() - 1);
  };
  const std::vector<TensorId> states(changed.begin(), changed.end());
  std::map<TensorId, TensorId> copyOf;
  std::vector<TensorId> copies, parts;
  for (const TensorId id : states) {
    const std::string name = program.tensor(id).name;
    const Shape shape = program.tensor(id).shape;
    copies.push_back(append({.name = "statistics", .shape = shape}));
    copyOf.emplace(id, copies.back());
    parts.push_back(append({.name = name, .shape = shape, .role = TensorRole::parameterGradient}));
  }
  for (Operation& operation : program.operations)
    for (TensorId& id : operation.inputs)
      if (const auto copy = copyOf.find(id); copy != copyOf.end()) id = copy->second;
  TensorId share = program.findTensor(kLossScaleScalar, TensorRole::scalar);
  if (share == kNoTensor) share = append({.name = kLossScaleScalar, .shape = {}, .role = TensorRole::scalar});
  program.operations.insert(program.operations.begin(), scaledOperation(kNoTensor, states, copies));
  program.operations.push_back(scaledOperation(share, copies, std::move(parts)));
  program.operations.back().backward = true;
}

std::vector<std::vector<std::string>> planBuckets(const Program& program, std::size_t threshold) {
  std::vector<std::pair<std::size_t, std::string>> order;
  const std::vector<std::string> states = averagedStates(program);
  for (const auto& [name, at] : completions(program))
    if (std::find(states.begin(), states.end(), name) == states.end()) order.emplace_back(at, name);
  std::sort(order.begin(), order.end());
  // A network that would fit into one bucket would be exchanged only behind its whole backward part.
  constexpr std::size_t kShares = 4, kSmall = 64 << 10;
  std::size_t all = 0;
  for (const auto& [at, name] : order)
    all += static_cast<std::size_t>(
               program.tensor(program.findTensor(name, TensorRole::parameterGradient)).shape.elements()) *
           sizeof(float);
  threshold = std::min(threshold, std::max(all / kShares, kSmall));
  std::vector<std::vector<std::string>> buckets;
  std::size_t open = 0;  // bytes in the last bucket
  for (const auto& [at, name] : order) {
    const TensorId id = program.findTensor(name, TensorRole::parameterGradient);
    const auto bytes = static_cast<std::size_t>(program.tensor(id).shape.elements()) * sizeof(float);
    if (buckets.empty() || open + bytes > threshold) {
      buckets.emplace_back();
      open = 0;
    }
    buckets.back().push_back(name);
    open += bytes;
  }
  if (!states.empty()) buckets.push_back(states);
  return buckets;
}

void exchangeGradients(Program& program, const std::vector<std::vector<std::string>>& buckets) {
  const std::map<std::string, std::size_t> last = completions(program);
  std::multimap<std::size_t, Operation> behind;  // keeps the buckets' order where two are completed at once
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    std::vector<TensorId> gradients;
    std::size_t at = 0;
    for (const std::string& name : buckets[bucket]) {
      const auto found = last.find(name);
      if (found == last.end())
        throwError(ErrorCode::internal, "the gradient of '{}' is to be exchanged, but the program computes none", name);
      gradients.push_back(program.findTensor(name, TensorRole::parameterGradient));
      at = std::max(at, found->second);
    }
    const auto done = static_cast<TensorId>(program.tensors.size());
    program.tensors.push_back({.name = "exchanged", .shape = Shape{}});
    behind.emplace(at, exchangeOperation(std::move(gradients), static_cast<std::int64_t>(bucket), done));
  }
  std::vector<Operation> operations;
  operations.reserve(program.operations.size() + buckets.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    operations.push_back(std::move(program.operations[i]));
    const auto [first, end] = behind.equal_range(i);
    for (auto it = first; it != end; ++it) operations.push_back(std::move(it->second));
  }
  program.operations = std::move(operations);
}

void setBatchStatistics(Program& program, BatchStatistics statistics) {
  if (statistics == BatchStatistics::perShard) return;
  for (Operation& operation : program.operations) {
    if (!operation.op->batchStatistics) continue;
    if (statistics == BatchStatistics::synchronised) operation.attributes.set("synchronised", true);
    if (statistics == BatchStatistics::lastBatch && !operation.op->updates.empty())
      operation.attributes.set("momentum", 0.0);
  }
}

}  // namespace loom
