#include "engine/passes/fusion.h"

#include <numeric>

#include "engine/passes/recomputation.h"

namespace loom {
namespace {

bool is(const Operation& operation, Pointwise what) {
  return operation.op->pointwise != nullptr && operation.op->pointwise(operation.attributes) == what;
}

class Planner {
 public:
  Planner(const Program& program, const std::function<Joins(const Operation&)>& joinsOf)
      : m_program(program), m_joinsOf(joinsOf) {
    m_fusion.outputs.resize(program.operations.size());
    m_fusion.computedBy.resize(program.operations.size());
    std::iota(m_fusion.computedBy.begin(), m_fusion.computedBy.end(), 0);
    m_fusion.consumers.resize(program.tensors.size());
    m_producer.assign(program.tensors.size(), -1);
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const Operation& operation = program.operations[i];
      for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
        if (operation.inputs[k] != kNoTensor && reads(operation, k))
          consumers(operation.inputs[k]).push_back(static_cast<int>(i));
      }
      for (TensorId id : operation.outputs) {
        if (id != kNoTensor) m_producer[static_cast<std::size_t>(id)] = static_cast<int>(i);
      }
      m_fusion.outputs[i].output = operation.outputs.empty() ? kNoTensor : operation.outputs[0];
    }
    for (const NamedResult& result : program.results) consumers(result.tensor).push_back(-1);
  }

  Fusion plan() {
    for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
      if (m_fusion.outputs[i].skip) continue;
      const Joins joins = m_joinsOf(m_program.operations[i]);
      if (joins.addend) takeAddend(i);
      if (joins.relu) takeRelu(i);
      if (joins.maskBehind && !m_fusion.outputs[i].relu) takeMaskBehind(i);
      if (joins.masked >= 0) takeMask(i, static_cast<std::size_t>(joins.masked));
      if (joins.gradientOf >= 0) takeReluGradient(i, static_cast<std::size_t>(joins.gradientOf));
    }
    return std::move(m_fusion);
  }

 private:
  // Inputs that a kernel reads.
  bool reads(const Operation& operation, std::size_t input) const {
    // The gradient of a ReLU is computed from its output.
    if (input == 0 && is(operation, Pointwise::reluGradient)) return false;
    // What ranks exchange is the store's memory after it was written: no reason to keep a copy.
    return !operation.op->communicates ||
           m_program.tensor(operation.inputs[input]).role != TensorRole::parameterGradient;
  }
  std::vector<int>& consumers(TensorId id) { return m_fusion.consumers[static_cast<std::size_t>(id)]; }
  // `other` is computed in the pass of operation i.
  void join(int other, std::size_t i) {
    m_fusion.outputs[static_cast<std::size_t>(other)].skip = true;
    m_fusion.computedBy[static_cast<std::size_t>(other)] = static_cast<int>(i);
  }
  const Operation& operation(int index) const { return m_program.operations[static_cast<std::size_t>(index)]; }
  // The one operation that reads the tensor, -1 when there are others or none. What is computed again is joined as it
  // was the first time, or it would be rounded elsewhere.
  int only(TensorId id) {
    const auto& all = consumers(id);
    if (all.size() != 1 || all[0] < 0 || m_program.tensor(id).role != TensorRole::intermediate) return -1;
    const int maker = m_producer[static_cast<std::size_t>(id)];
    return maker < 0 || repetitionOf(operation(maker)) == repetitionOf(operation(all[0])) ? all[0] : -1;
  }

  void takeRelu(std::size_t i) {
    FusedOutput& mine = m_fusion.outputs[i];
    const int next = only(mine.output);
    if (next < 0 || !is(operation(next), Pointwise::relu)) return;
    mine.relu = true;
    mine.output = operation(next).outputs[0];
    join(next, i);
  }

  // y = normalise(x), sum = y + other: `other` must stand before the normalisation runs.
  void takeAddend(std::size_t i) {
    FusedOutput& mine = m_fusion.outputs[i];
    const int next = only(mine.output);
    if (next < 0 || !is(operation(next), Pointwise::sum)) return;
    const auto& inputs = operation(next).inputs;
    const TensorId other = inputs[0] == mine.output ? inputs[1] : inputs[0];
    if (other == mine.output || m_program.tensor(inputs[0]).shape != m_program.tensor(inputs[1]).shape) return;
    const int maker = m_producer[static_cast<std::size_t>(other)];
    if (maker >= static_cast<int>(i)) return;
    // A tensor whose producer was itself fused into a later operation would not be there yet.
    mine.addend = other;
    mine.output = operation(next).outputs[0];
    join(next, i);
    consumers(other).push_back(static_cast<int>(i));
  }

  // dx of a ReLU that only a normalisation's gradient reads: the mask is applied while it is read.
  void takeMask(std::size_t i, std::size_t input) {
    const TensorId dy = m_program.operations[i].inputs[input];
    const int maker = m_producer[static_cast<std::size_t>(dy)];
    if (maker < 0 || m_fusion.outputs[static_cast<std::size_t>(maker)].skip || only(dy) != static_cast<int>(i) ||
        !is(operation(maker), Pointwise::reluGradient))
      return;
    FusedOutput& mine = m_fusion.outputs[i];
    mine.mask = operation(maker).inputs[1];
    mine.maskedFrom = operation(maker).inputs[2];
    join(maker, i);
    consumers(mine.mask).push_back(static_cast<int>(i));
    consumers(mine.maskedFrom).push_back(static_cast<int>(i));
  }

  // The sum of gradients that come back to a ReLU: its mask is applied to the sum before that is written.
  void takeMaskBehind(std::size_t i) {
    FusedOutput& mine = m_fusion.outputs[i];
    const int next = only(mine.output);
    if (next < 0 || !is(operation(next), Pointwise::reluGradient) || operation(next).inputs[2] != mine.output) return;
    if (m_producer[static_cast<std::size_t>(operation(next).inputs[1])] >= static_cast<int>(i)) return;
    mine.mask = operation(next).inputs[1];
    mine.output = operation(next).outputs[0];
    join(next, i);
    consumers(mine.mask).push_back(static_cast<int>(i));
  }

  // A ReLU before a max pooling: its gradient is taken where the pooling's is written.
  void takeReluGradient(std::size_t i, std::size_t input) {
    FusedOutput& mine = m_fusion.outputs[i];
    const int next = only(mine.output);
    if (next < 0 || !is(operation(next), Pointwise::reluGradient)) return;
    if (operation(next).inputs[2] != mine.output || operation(next).inputs[1] != m_program.operations[i].inputs[input])
      return;
    mine.relu = true;
    mine.output = operation(next).outputs[0];
    join(next, i);
  }

  const Program& m_program;
  const std::function<Joins(const Operation&)>& m_joinsOf;
  Fusion m_fusion;
  std::vector<int> m_producer;
};

}  // namespace

Fusion planFusion(const Program& program, const std::function<Joins(const Operation&)>& joinsOf) {
  return Planner(program, joinsOf).plan();
}

}  // namespace loom
