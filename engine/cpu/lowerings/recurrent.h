#pragma once
// What lstm and gru share: products of the input side over all frames at once, then the loop over time in which each
// thread owns some units, its part of the hidden weights stays in its cache, and a frame is a phase of the stage.
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/cpu/lowerings/product.h"

namespace loom::cpu {

struct RecurrentShape {
  std::int64_t batch, time, channels, hidden, gates, state;  // gates and parts of a state row
  bool reverse;
  bool bf16;  // products of factors rounded to it; gates, cells and what is summed stay f32

  // Frame of the step in the order of computation.
  std::int64_t at(std::int64_t step) const { return reverse ? time - 1 - step : step; }
  // Where frame `step` begins in a tensor with rows of `width`, in the layout below: a row for each sample.
  std::int64_t frame(std::int64_t step, std::int64_t width) const { return at(step) * batch * width; }
};
// Frames stand behind each other (T x N x C): what a frame reads and writes is one piece of memory. With samples behind
// each other its rows would lie multiples of 4 KiB apart, and want the same eight places of the level-1 cache.
inline Layout byFrame() {
  return {1, 0, 2};
}
RecurrentShape recurrentShape(const Plan& plan, const Operation& operation, std::int64_t gates, std::int64_t state);

// The rows of a tensor N x T x H that are read one by one: by frame, or by sample where it stands so.
struct RowsOfFrames {
  StoredRef all;
  RecurrentShape shape;
  std::int64_t frame, sample;  // rows from one to the next
  Stored at(std::int64_t step, std::int64_t n) const {
    return all.get().from((shape.at(step) * frame + n * sample) * shape.hidden);
  }
};
RowsOfFrames readRows(Plan& plan, const RecurrentShape& shape, TensorId id);

// state[:, gates 0 ... gates) = x W^T + b, over all frames.
void emitInputSide(Plan& plan, const RecurrentShape& shape, TensorId x, TensorId wInput, const Ref<float>& bias,
                   const Plan::Target& state);

// U^T of each gate by itself (hidden x hidden), packed: gate g at g * packedSize(hidden, hidden, bf16).
Ref<float> packHiddenByGate(Plan& plan, const RecurrentShape& shape, TensorId wHidden);
// U itself (gates hidden x hidden), for the way back.
Ref<float> packHidden(Plan& plan, const RecurrentShape& shape, TensorId wHidden);

// Whether the products of a frame are computed by kernels/strassen.h, whose sums of weights are made once for all
// frames: in f32, there and back.
bool halvesFrames(const Plan& plan, const RecurrentShape& shape);

// Room for the gradients of the gates before their nonlinearity. In bf16 where products round them anyway.
StoredRef gateGradients(Plan& plan, const RecurrentShape& shape);

// h of the frame before for every row of y (h0 or 0 at the first), as one matrix, by frame.
StoredRef shiftedOutput(Plan& plan, const RecurrentShape& shape, const StoredRef& y, const Ref<float>& h0);

// dW = da^T in, summed over all rows; and db = sum of da. Targets that nobody wants are left out.
void emitWeightGradient(Plan& plan, const RecurrentShape& shape, const std::string& name, const StoredRef& da,
                        const StoredRef& in, std::int64_t width, TensorId dw);
void emitRecurrentBiasGradient(Plan& plan, const RecurrentShape& shape, const StoredRef& da, TensorId db);
// dx = da W, where anybody wants it.
void emitInputGradient(Plan& plan, const RecurrentShape& shape, const std::string& name, const StoredRef& da,
                       TensorId wInput, TensorId dx);

// Stages are named after what they compute in.
inline std::string named(const RecurrentShape& shape, const std::string& stage) {
  return shape.bf16 ? stage + " in bf16" : stage;
}

inline TensorId inputOr(const Operation& operation, std::size_t index) {
  return index < operation.inputs.size() ? operation.inputs[index] : kNoTensor;
}

}  // namespace loom::cpu
