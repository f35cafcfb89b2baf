#pragma once
// Arguments of the kernels in recurrent.cuh: one step of a recurrent layer, a thread for each unit of each sample. T is
// the type of factors of products; gates, cells and what flows along time are f32. Strides: numbers from one sample's
// row to the next one's.
#include <cstdint>

namespace loom::cuda {

// gates: i, f, g, o before their functions; state: i, f, g, o, c.
struct LstmCellArguments {
  const float* gates = nullptr;    // 4 hidden a row
  float* state = nullptr;          // 5 hidden a row
  const float* cBefore = nullptr;  // samples x hidden; null: 0
  float* c = nullptr;              // samples x hidden; may be cBefore
  float* y = nullptr;
  void* h = nullptr;  // y in T: samples x hidden
  std::int64_t samples = 0, hidden = 0, gateStride = 0, stateStride = 0, yStride = 0;
};

// dc is read unless `last` and overwritten with the earlier step's.
struct LstmCellGradientArguments {
  const float* state = nullptr;
  const float* cBefore = nullptr;  // null: 0
  const float* dy = nullptr;
  const float* dh = nullptr;            // from the step behind: samples x hidden; null: 0
  float* dc = nullptr;                  // samples x hidden
  void *da = nullptr, *step = nullptr;  // 4 hidden a row; the same without gaps, for the next product
  std::int64_t samples = 0, hidden = 0, stateStride = 0, cBeforeStride = 0, dyStride = 0, daStride = 0;
  bool last = false;
};

// gates: the input side of r, z, n; state: r, z, n, u.
struct GruCellArguments {
  const float* gates = nullptr;    // 3 hidden a row
  float* state = nullptr;          // 4 hidden a row
  const float* product = nullptr;  // U h: samples x 3 hidden; null: 0
  const float* bias = nullptr;     // 3 hidden, of the hidden side; null: 0
  const float* hBefore = nullptr;  // samples x hidden; null: 0
  float* h = nullptr;              // samples x hidden; may be hBefore
  float* y = nullptr;
  void* factor = nullptr;  // h in T; null where T is f32
  std::int64_t samples = 0, hidden = 0, gateStride = 0, stateStride = 0, yStride = 0;
};

// dh is read unless `last` and overwritten with what goes past the gates to the earlier step.
struct GruCellGradientArguments {
  const float* state = nullptr;
  const float* hBefore = nullptr;  // null: 0
  const float* dy = nullptr;
  float* dh = nullptr;                                      // samples x hidden
  void *input = nullptr, *side = nullptr, *step = nullptr;  // a and k: 3 hidden a row; k again, without gaps
  std::int64_t samples = 0, hidden = 0, stateStride = 0, yStride = 0, sideStride = 0;  // dy's stride is y's
  bool last = false;
};

// to[n][t] = y of the step before t in the order of computation, h0 (or 0) at the first. In T; y and h0 in f32.
struct RecurrentShiftArguments {
  const float* y = nullptr;   // samples x time x hidden
  const float* h0 = nullptr;  // samples x hidden; null: 0
  void* to = nullptr;
  std::int64_t samples = 0, time = 0, hidden = 0;
  bool reverse = false;
};

}  // namespace loom::cuda
