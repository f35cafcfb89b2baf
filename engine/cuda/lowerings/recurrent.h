#pragma once
// What lstm and gru share: the products of all steps at once before and behind the loop over time, in which each step
// is one product of the hidden side and one kernel.
#include "engine/cuda/lowerings/product.h"

namespace loom::cuda {

struct RecurrentShape {
  std::int64_t batch, time, channels, hidden, gates, state;  // gates, and parts of a state's row
  bool reverse;

  std::int64_t rows() const { return batch * time; }
  std::int64_t width() const { return gates * hidden; }
  // One step's rows of a tensor of batch x time x width, from the first sample's to the last one's. `step` counts in
  // the order of computation.
  Operand at(const Operand& whole, std::int64_t step, std::int64_t width) const {
    return part(whole, (reverse ? time - 1 - step : step) * width, ((batch - 1) * time + 1) * width)
        .moving(static_cast<std::size_t>(batch * width) * bytesOf(whole.type));
  }
};
RecurrentShape recurrentShape(const Plan& plan, const Operation& operation, std::int64_t gates, std::int64_t state);

inline TensorId inputOr(const Operation& operation, std::size_t index) {
  return index < operation.inputs.size() ? operation.inputs[index] : kNoTensor;
}
inline Operand readPlainFactor(Plan& plan, TensorId id) {
  return id == kNoTensor ? Operand{} : plan.read(id, plainLayout(plan.shape(id).rank()), plan.factors());
}

// x W^T + b over all steps: rows x width, in f32, during this operation.
Operand emitInputSide(Plan& plan, const RecurrentShape& shape, const Operation& operation, const std::string& name);
// The rest of a gradient, from what came to the input side (`input`) and to the hidden side, rows x width in the type
// of factors: to x, w_input and w_hidden, the first three outputs. y and h0 are in f32.
void emitToInputs(Plan& plan, const RecurrentShape& shape, const Operation& operation, const std::string& name,
                  const Operand& input, const Operand& hiddenSide, const Operand& y, const Operand& h0);
void emitToBias(Plan& plan, const RecurrentShape& shape, const Operand& side, TensorId bias);

}  // namespace loom::cuda
