#pragma once
// The loops over time of an LSTM in f32 whose frames' products are by kernels/strassen_rows.h, as columns: C' = U h'
// and dh' = U' da'. The weights' sums are made once for all frames and read by each from one place to the next, those
// of h or da stay in the level-1 cache.
#include "engine/cpu/lowerings/recurrent.h"

namespace loom::cpu {

// Whether they are, there and back.
bool halvesFrames(const Plan& plan, const RecurrentShape& shape);

// h U', a thread its units of each gate.
class HalvedFrames {
 public:
  HalvedFrames(Plan& plan, const RecurrentShape& shape, TensorId wHidden);
  // `before`: h of the frame before, hidden x batch. `ahead`: what the thread reads after it, or null.
  void multiply(const Worker& worker, const MatrixView& before, Ahead* ahead) const;
  // What the thread multiplied: its rows of gates hidden x batch.
  const float* columns(const Worker& worker) const { return m_columns.of(worker.index); }

 private:
  RecurrentShape m_shape;
  std::int64_t m_roomForWeights = 0;  // a thread
  Ref<float> m_weights;
  Rooms m_sums, m_columns;
};

// dh of the frame before = da U. Each thread multiplies what it made of da, so that threads exchange their parts of dh,
// which is shorter: its part of all units in one phase of a stage, the sum of all parts for its units in the next one.
class HalvedFramesBack {
 public:
  HalvedFramesBack(Plan& plan, const RecurrentShape& shape, TensorId wHidden);
  // `da`: gates hidden x batch. Others see it after finishStreams() (kernels/lstm_frames.h).
  void multiply(const Worker& worker, const MatrixView& da, Ahead* ahead) const;
  // What thread `thread` multiplied in the phase before the worker's: of hidden x batch, the rows of the worker's
  // units.
  const float* columns(const Worker& worker, int thread) const;

 private:
  float* handedOver(int phase, int thread) const;

  RecurrentShape m_shape;
  std::int64_t m_roomForWeights = 0;  // a thread
  Ref<float> m_weights;
  Rooms m_sums, m_parts, m_handedOver;  // H x N of each thread, and twice, for every other phase, past the caches
};

}  // namespace loom::cpu
