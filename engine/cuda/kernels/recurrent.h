#pragma once
// Arguments of the kernels in recurrent.cuh: one step of a recurrent layer, a thread for each unit of each sample. T is
// the type of factors of products; gates, cells and what flows along time are f32. Strides: numbers from one sample's
// row to the next one's.
#include <cstdint>

namespace loom::cuda {

// state: i, f, g, o before their functions; becomes i, f, g, o, c.
struct LstmCellArguments {
  float* state = nullptr;  // 5 hidden a row
  const float* cBefore = nullptr;  // null: 0
  float* y = nullptr;
  void* h = nullptr;  // y in T, without gaps; null where T is f32
  std::int64_t samples = 0, hidden = 0, stateStride = 0, cBeforeStride = 0, yStride = 0;
};

// dc is read unless `last` and overwritten with the earlier step's.
struct LstmCellGradientArguments {
  const float* state = nullptr;
  const float* cBefore = nullptr;  // null: 0
  const float* dy = nullptr;
  const float* dh = nullptr;  // from the step behind, without gaps; null: 0
  float* dc = nullptr;        // samples x hidden
  void* da = nullptr;         // 4 hidden a row
  std::int64_t samples = 0, hidden = 0, stateStride = 0, cBeforeStride = 0, dyStride = 0, daStride = 0;
  bool last = false;
};

// state: the input side of r, z, n; becomes r, z, n, u.
struct GruCellArguments {
  float* state = nullptr;          // 4 hidden a row
  const float* product = nullptr;  // U h: 3 hidden a row, without gaps; null: 0
  const float* bias = nullptr;     // 3 hidden, of the hidden side; null: 0
  const float* hBefore = nullptr;  // null: 0
  float* y = nullptr;
  void* h = nullptr;  // y in T, without gaps; null where T is f32
  std::int64_t samples = 0, hidden = 0, stateStride = 0, yStride = 0;  // hBefore's stride is y's
};

// dh is read unless `last` and overwritten with what goes past the gates to the earlier step.
struct GruCellGradientArguments {
  const float* state = nullptr;
  const float* hBefore = nullptr;  // null: 0
  const float* dy = nullptr;
  float* dh = nullptr;                 // samples x hidden
  void *input = nullptr, *side = nullptr;  // a and k: 3 hidden a row
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
