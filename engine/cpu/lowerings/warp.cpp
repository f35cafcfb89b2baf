// warp and its gradient: channels-last, a pixel's four neighbours in one pass; an image is one thread's work.
#include "engine/ops/warp.h"

#include <algorithm>

#include "engine/cpu/kernels/resample.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

// The images as they are read and written: `x` the whole ones, `y` the warped ones.
struct Images {
  std::int64_t samples, channels;
  int rows, columns, outRows, outColumns;
  int numbers;  // of a map

  Images(const Shape& x, const Shape& y, const Shape& maps)
      : samples(x[0]),
        channels(x[1]),
        rows(static_cast<int>(x[2])),
        columns(static_cast<int>(x[3])),
        outRows(static_cast<int>(y[2])),
        outColumns(static_cast<int>(y[3])),
        numbers(static_cast<int>(maps[1])) {}
  WarpTaps<float> taps(const float* maps, std::int64_t n, int row, int column) const {
    return warpTaps(maps + numbers * n, numbers, row, column, outRows, outColumns, rows, columns);
  }
  std::int64_t sizeOfX() const { return std::int64_t{rows} * columns * channels; }
  std::int64_t sizeOfY() const { return std::int64_t{outRows} * outColumns * channels; }
};

}  // namespace

void lowerWarp(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = channelsLast(4);
  const Images images(plan.shape(x), plan.shape(y), plan.shape(operation.inputs[1]));
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const auto maps = plan.read(operation.inputs[1]);
  plan.stage("warp", {}, "channels-last", [=](const Worker& worker) {
    const auto [first, last] = worker.share(images.samples * images.outRows);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t n = i / images.outRows;
      const int row = static_cast<int>(i % images.outRows);
      for (int column = 0; column < images.outColumns; ++column) {
        const WarpTaps<float> taps = images.taps(maps.get(), n, row, column);
        std::int64_t places[4];
        float weights[4];
        std::int64_t count = 0;
        for (int k = 0; k < 4; ++k) {
          if (taps.places[k] < 0) continue;
          places[count] = taps.places[k];
          weights[count++] = taps.weights[k];
        }
        addWeighted({places, weights, count, 0}, from.get().from(n * images.sizeOfX()), images.channels,
                    to.get().from((i * images.outColumns + column) * images.channels));
      }
    }
  });
}

void lowerWarpGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], dx = operation.outputs[0];
  const Layout layout = channelsLast(4);
  const Images images(plan.shape(dx), plan.shape(dy), plan.shape(operation.inputs[1]));
  const auto from = plan.read(dy, layout), maps = plan.read(operation.inputs[1]), to = plan.write(dx, layout);
  plan.stage("warp_gradient", {}, "channels-last", [=](const Worker& worker) {
    const auto [first, last] = worker.share(images.samples);
    for (std::int64_t n = first; n < last; ++n) {
      float* const whole = to.get() + n * images.sizeOfX();
      const float* slope = from.get() + n * images.sizeOfY();
      std::fill_n(whole, images.sizeOfX(), 0.0f);
      for (int row = 0; row < images.outRows; ++row)
        for (int column = 0; column < images.outColumns; ++column, slope += images.channels) {
          const WarpTaps<float> taps = images.taps(maps.get(), n, row, column);
          for (int k = 0; k < 4; ++k)
            for (std::int64_t c = 0; taps.places[k] >= 0 && c < images.channels; ++c)
              whole[taps.places[k] * images.channels + c] += taps.weights[k] * slope[c];
        }
    }
  });
}

}  // namespace loom::cpu
