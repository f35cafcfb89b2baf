#include "engine/program/tensor_summary.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/json.h"

namespace loom {
namespace {

constexpr std::size_t kMostAxes = 16;
constexpr double kMostValues = 9e15;  // whole numbers that a double still holds

void countValues(TensorSummary& tensor, std::span<const float> values) {
  double sum = 0;
  bool any = false;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? tensor.nan : tensor.infinite);
      continue;
    }
    if (value == 0) ++tensor.zeros;
    tensor.least = any ? std::min(tensor.least, static_cast<double>(value)) : value;
    tensor.greatest = any ? std::max(tensor.greatest, static_cast<double>(value)) : value;
    any = true;
    sum += value;
  }
  if (any) tensor.mean = sum / static_cast<double>(tensor.finite());
}

void fillBins(TensorSummary& tensor, std::span<const float> values) {
  if (tensor.finite() < 2 || tensor.least == tensor.greatest) return;
  tensor.aboveZero = tensor.least == 0 && tensor.zeros * 10 > tensor.finite();
  tensor.low = tensor.least;
  tensor.high = tensor.greatest;
  tensor.bins.assign(TensorSummary::kBins, 0);
  const double scale = TensorSummary::kBins / (tensor.high - tensor.low);
  for (const float value : values) {
    if (!std::isfinite(value) || (tensor.aboveZero && value == 0)) continue;
    const auto bin = static_cast<int>((value - tensor.low) * scale);
    ++tensor.bins[static_cast<std::size_t>(std::clamp(bin, 0, TensorSummary::kBins - 1))];
  }
}

// The last two axes are a picture's; what stands before them are channels. One row or column is no picture.
void fillTiles(TensorSummary& tensor, std::span<const float> values) {
  const Shape& shape = tensor.shape;
  if (shape.rank() < 2 || shape[-1] < 2 || shape[-2] < 2) return;
  const std::int64_t rows = shape[-2], columns = shape[-1];
  tensor.channels = tensor.values / (rows * columns);
  tensor.tiles = static_cast<int>(std::min<std::int64_t>(tensor.channels, TensorSummary::kMostTiles));
  tensor.tileHeight = static_cast<int>(std::min<std::int64_t>(rows, TensorSummary::kLongestEdge));
  tensor.tileWidth = static_cast<int>(std::min<std::int64_t>(columns, TensorSummary::kLongestEdge));
  const double range = tensor.greatest - tensor.least;
  const double alike = tensor.greatest == 0 ? 0 : 0.5;  // zeros alone look like the zeros among other values
  tensor.pixels.reserve(static_cast<std::size_t>(tensor.tiles * tensor.tileHeight * tensor.tileWidth));
  for (int tile = 0; tile < tensor.tiles; ++tile) {
    const float* const picture = values.data() + tile * rows * columns;
    for (int y = 0; y < tensor.tileHeight; ++y)
      for (int x = 0; x < tensor.tileWidth; ++x) {
        // The mean of what a pixel covers; one value that is not finite shows.
        double sum = 0;
        std::int64_t covered = 0;
        bool finite = true;
        for (std::int64_t r = y * rows / tensor.tileHeight; r < (y + 1) * rows / tensor.tileHeight; ++r)
          for (std::int64_t c = x * columns / tensor.tileWidth; c < (x + 1) * columns / tensor.tileWidth; ++c) {
            const float value = picture[r * columns + c];
            finite &= std::isfinite(value);
            sum += value;
            ++covered;
          }
        const double share = range > 0 ? (sum / static_cast<double>(covered) - tensor.least) / range : alike;
        tensor.pixels.push_back(!finite ? TensorSummary::kNotFinite
                                        : static_cast<std::uint8_t>(std::lround(254 * std::clamp(share, 0.0, 1.0))));
      }
  }
}

[[noreturn]] void refuse(const char* what) {
  throwError(ErrorCode::badData, "a tensor was told in words that cannot be understood: {}", what);
}

const Json& at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) refuse(key);
  return *found;
}

std::int64_t countAt(const Json& json, const char* key, std::int64_t most) {
  const Json& value = at(json, key);
  if (!value.is_number_integer() || value < 0 || value > most) refuse(key);
  return value.get<std::int64_t>();
}

double numberAt(const Json& json, const char* key) {
  const double value = numberFromJson(at(json, key));
  if (!std::isfinite(value)) refuse(key);
  return value;
}

bool flagAt(const Json& json, const char* key) {
  const Json& value = at(json, key);
  if (!value.is_boolean()) refuse(key);
  return value.get<bool>();
}

const Json& listAt(const Json& json, const char* key, std::size_t most) {
  const Json& value = at(json, key);
  if (!value.is_array() || value.size() > most) refuse(key);
  return value;
}

}  // namespace

TensorSummary summarise(const Shape& shape, std::span<const float> values, bool whole) {
  if (shape.elements() != static_cast<std::int64_t>(values.size()))
    throwError(ErrorCode::internal, "{} values were given for a tensor of {}", values.size(), shape.toString());
  TensorSummary tensor;
  tensor.shape = shape;
  tensor.whole = whole;
  tensor.values = static_cast<std::int64_t>(values.size());
  countValues(tensor, values);
  fillBins(tensor, values);
  fillTiles(tensor, values);
  const std::size_t first = std::min<std::size_t>(values.size(), TensorSummary::kMostFirst);
  tensor.first.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
  return tensor;
}

Json toJson(const TensorSummary& tensor) {
  Json first = Json::array();
  for (const float value : tensor.first) first.push_back(numberToJson(value));
  return {{"shape", tensor.shape.extents()},
          {"whole", tensor.whole},
          {"values", tensor.values},
          {"zeros", tensor.zeros},
          {"nan", tensor.nan},
          {"infinite", tensor.infinite},
          {"least", numberToJson(tensor.least)},
          {"mean", numberToJson(tensor.mean)},
          {"greatest", numberToJson(tensor.greatest)},
          {"bins", tensor.bins},
          {"low", numberToJson(tensor.low)},
          {"high", numberToJson(tensor.high)},
          {"above_zero", tensor.aboveZero},
          {"first", std::move(first)},
          {"channels", tensor.channels},
          {"tiles", tensor.tiles},
          {"tile_height", tensor.tileHeight},
          {"tile_width", tensor.tileWidth}};
}

TensorSummary readTensorSummary(const Json& json, std::string_view pixels) {
  if (!json.is_object()) refuse("no object");
  TensorSummary tensor;
  std::vector<std::int64_t> extents;
  double all = 1;
  for (const Json& extent : listAt(json, "shape", kMostAxes)) {
    if (!extent.is_number_integer() || extent < 1) refuse("shape");
    extents.push_back(extent.get<std::int64_t>());
    all *= static_cast<double>(extents.back());
    if (all > kMostValues) refuse("shape");
  }
  tensor.shape = Shape(std::move(extents));
  tensor.whole = flagAt(json, "whole");
  tensor.values = countAt(json, "values", tensor.shape.elements());
  if (tensor.values != tensor.shape.elements()) refuse("values");
  tensor.nan = countAt(json, "nan", tensor.values);
  tensor.infinite = countAt(json, "infinite", tensor.values - tensor.nan);
  tensor.zeros = countAt(json, "zeros", tensor.finite());
  tensor.least = numberAt(json, "least");
  tensor.mean = numberAt(json, "mean");
  tensor.greatest = numberAt(json, "greatest");
  for (const Json& bin : listAt(json, "bins", TensorSummary::kBins)) {
    if (!bin.is_number_integer() || bin < 0 || bin > tensor.values) refuse("bins");
    tensor.bins.push_back(bin.get<std::int64_t>());
  }
  tensor.low = numberAt(json, "low");
  tensor.high = numberAt(json, "high");
  tensor.aboveZero = flagAt(json, "above_zero");
  for (const Json& value : listAt(json, "first", TensorSummary::kMostFirst))
    tensor.first.push_back(static_cast<float>(numberFromJson(value)));
  tensor.channels = countAt(json, "channels", tensor.values);
  tensor.tiles = static_cast<int>(countAt(json, "tiles", TensorSummary::kMostTiles));
  tensor.tileHeight = static_cast<int>(countAt(json, "tile_height", TensorSummary::kLongestEdge));
  tensor.tileWidth = static_cast<int>(countAt(json, "tile_width", TensorSummary::kLongestEdge));
  const auto wanted = static_cast<std::size_t>(tensor.tiles) * static_cast<std::size_t>(tensor.tileHeight) *
                      static_cast<std::size_t>(tensor.tileWidth);
  if (pixels.size() != wanted || (tensor.tiles > 0 && (wanted == 0 || tensor.channels < tensor.tiles)))
    refuse("pixels");
  tensor.pixels.assign(pixels.begin(), pixels.end());
  return tensor;
}

}  // namespace loom
