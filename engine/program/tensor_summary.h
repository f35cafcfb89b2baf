#pragma once
// One sample's tensor as a person can look at it: figures over all its values, a histogram, the first values, and small
// pictures of its channels. Bounded whatever the tensor's size, so that it travels and is painted in milliseconds.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/base/shape.h"

namespace loom {

struct TensorSummary {
  static constexpr int kMostTiles = 64, kLongestEdge = 64, kBins = 32, kMostFirst = 64;
  static constexpr std::uint8_t kNotFinite = 255;  // a pixel that stands for a value that is none

  Shape shape;                               // of one sample
  bool whole = false;                        // whole numbers: labels, indices
  std::int64_t values = 0, zeros = 0;        // all; those that are 0
  std::int64_t nan = 0, infinite = 0;        // the others are finite
  double least = 0, mean = 0, greatest = 0;  // of the finite ones; 0 where there are none
  // Counts between `low` and `high`. Of values that are never below 0 and often 0 (behind a ReLU) those above 0 alone,
  // which `aboveZero` tells: one bar would dwarf all others.
  std::vector<std::int64_t> bins;
  double low = 0, high = 0;
  bool aboveZero = false;
  std::vector<float> first;  // values as they stand, row-major
  // Channels as pictures on one common scale: 0 is `least`, 254 `greatest`. A matrix is one picture; vectors have none.
  std::int64_t channels = 0;
  int tiles = 0, tileHeight = 0, tileWidth = 0;
  std::vector<std::uint8_t> pixels;  // tile by tile, row by row

  std::int64_t finite() const { return values - nan - infinite; }
};

// `values`: of one sample, row-major, as many as `shape` has.
TensorSummary summarise(const Shape& shape, std::span<const float> values, bool whole);

// All but the pixels, which travel as bytes beside it.
Json toJson(const TensorSummary& tensor);
// What another process says. Throws Error(badData) for whatever is no such summary: a size that is wrong, a number that
// is none, pixels that do not fit.
TensorSummary readTensorSummary(const Json& json, std::string_view pixels);

}  // namespace loom
