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

// Units [first, last) of every gate that a thread owns in the loop over time: whole panels of products.
inline std::pair<std::int64_t, std::int64_t> unitsOf(const Worker& worker, const RecurrentShape& shape) {
  return worker.share(shape.hidden, panelWidth());
}

// Room for the gradients of the gates before their nonlinearity. In bf16 where products round them anyway.
StoredRef gateGradients(Plan& plan, const RecurrentShape& shape);

// dW = da' in, summed over all rows, unless nobody wants it.
void emitWeightGradient(Plan& plan, const RecurrentShape& shape, const std::string& name, const StoredRef& da,
                        const StoredRef& in, std::int64_t width, TensorId dw);
// The same of the hidden side: `in` is h of the frame before, that is y's rows, and h0's or nothing at the first.
void emitHiddenWeightGradient(Plan& plan, const RecurrentShape& shape, const std::string& name, const StoredRef& da,
                              const StoredRef& y, const Ref<float>& h0, TensorId dw);

// db = sum of da over all rows: a thread adds its units' of each frame in the loop over time, while they are in its
// cache.
class RecurrentBiasGradient {
 public:
  RecurrentBiasGradient(Plan& plan, const RecurrentShape& shape, const StoredRef& da, TensorId db)
      : m_shape(shape), m_da(da), m_to(plan.wanted(db) ? plan.writeGradient(db) : Plan::Target{}) {}
  void add(const Worker& worker, std::int64_t step) const;
  // The same of a frame in sixteens (kernels/lstm_frames.h).
  void addSixteens(const Worker& worker, const float* da) const;

 private:
  RecurrentShape m_shape;
  StoredRef m_da;
  Plan::Target m_to;
};
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
