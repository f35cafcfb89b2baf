#pragma once
// Arguments of the kernels in images.cuh: prepare_images of engine/ops, in two launches. What a step of the preparation
// means is engine/base/sample_window.h's.
#include <cstdint>

#include "engine/base/sample_window.h"
#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

// For each sample, where its pixels come from.
struct SampleWindowsArguments {
  const std::int64_t* samples = nullptr;  // batch x {row, epoch}
  SampleWindow* windows = nullptr;        // batch
  std::int64_t batch = 0, rows = 0, columns = 0;
  std::uint32_t keyLow = 0, keyHigh = 0;  // as base/philox.h mixes it
  int count = 0;                          // of the steps
  WindowStep steps[kMostWindows];
};

// y = x scale + shift, or a border's value; y batch x rows x columns x channels.
struct PrepareImagesArguments {
  const std::uint8_t* x = nullptr;  // batch x channels x rows x columns
  const SampleWindow* windows = nullptr;
  const float *scale = nullptr, *shift = nullptr, *borders = nullptr;  // channels; channels; steps x channels
  void* y = nullptr;
  std::int64_t count = 0;                            // of y
  std::int64_t channels = 0, rows = 0, columns = 0;  // of x
  Divisor sample, line, pixel;                       // elements of y: in a sample, a row, a pixel
};

}  // namespace loom::cuda
