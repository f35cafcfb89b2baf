#pragma once
// What `prepare_images` does to a sample, as its attributes say it.
#include <cstdint>
#include <vector>

#include "engine/base/sample_window.h"
#include "engine/program/attributes.h"

namespace loom {

struct ImagePreparation {
  std::vector<WindowStep> steps;       // at most kMostWindows
  std::vector<float> borders;          // steps x channels: what each step puts there
  std::vector<float> scale, shift;     // by channel: y = x scale + shift, multiplied and rounded first
  std::uint64_t seed = 0;              // of Philox(seed, kImageStream)
  std::int64_t rows = 0, columns = 0;  // of the output

  const float* border(int step) const { return borders.data() + static_cast<std::size_t>(step) * scale.size(); }
};

// The name of the loader's random numbers, so that both draw the same.
inline constexpr const char* kImageStream = "prepare";

Attributes attributesOf(const ImagePreparation& preparation);
ImagePreparation imagePreparationOf(const Attributes& attributes);

}  // namespace loom
