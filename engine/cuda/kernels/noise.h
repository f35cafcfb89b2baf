#pragma once
// Arguments of the kernels in noise.cuh: which words they read is engine/ops/noise.h's.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

// The key of Philox(seed, stream), as base/philox.h mixes it; and where the step and the first sample stand.
struct NoiseSource {
  std::uint32_t keyLow = 0, keyHigh = 0;
  const std::int64_t *step = nullptr, *firstSample = nullptr;
};

// y = x factor where the word of the element says so, else 0; y may stand where x does. A sample is `size` neighbours,
// of which the i-th in memory is element `place of i in order` of the sample.
struct DropoutArguments {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;
  Divisor size;
  Strided order;
  NoiseSource noise;
  std::uint32_t threshold = 0;  // noiseThreshold()
  float factor = 1;
};

struct RandomArguments {
  float* y = nullptr;
  std::int64_t count = 0;
  Divisor size;  // of a sample
  NoiseSource noise;
  bool normal = false;
};

}  // namespace loom::cuda
