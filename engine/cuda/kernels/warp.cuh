// warp and its gradient.
#include "engine/cuda/kernels/strided.cuh"
#include "engine/cuda/kernels/warp.h"
#include "engine/ops/warp.h"

namespace loom::cuda {

template <class T>
__global__ void __launch_bounds__(256) warpImages(WarpArguments a) {
  T* const y = static_cast<T*>(a.y);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t pixel = divided(i, a.channels), line = divided(pixel, a.outColumns),
                       n = divided(line, a.outRows);
    const T* const from =
        static_cast<const T*>(a.x) + n * a.rows * a.columns * a.channels.divisor + (i - pixel * a.channels.divisor);
    const WarpTaps<float> taps =
        warpTaps(a.maps + a.numbers * n, a.numbers, static_cast<int>(line - n * a.outRows.divisor),
                 static_cast<int>(pixel - line * a.outColumns.divisor), static_cast<int>(a.outRows.divisor),
                 static_cast<int>(a.outColumns.divisor), a.rows, a.columns);
    float sum = 0;
    for (int k = 0; k < 4; ++k)
      if (taps.places[k] >= 0) sum += taps.weights[k] * toFloat(from[taps.places[k] * a.channels.divisor]);
    y[i] = fromFloat<T>(sum);
  }
}

// dx is 0 before.
__global__ void __launch_bounds__(256) warpGradient(WarpGradientArguments a) {
  const std::int64_t channels = a.channels.divisor;
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t n = divided(i, a.channels), c = i - n * channels;
    float* const whole = a.dx + n * a.rows * a.columns * channels + c;
    const float* const slopes = a.dy + n * a.outRows * a.outColumns * channels + c;
    for (int row = 0; row < a.outRows; ++row)
      for (int column = 0; column < a.outColumns; ++column) {
        const WarpTaps<float> taps =
            warpTaps(a.maps + a.numbers * n, a.numbers, row, column, a.outRows, a.outColumns, a.rows, a.columns);
        const float slope = slopes[(static_cast<std::int64_t>(row) * a.outColumns + column) * channels];
        for (int k = 0; k < 4; ++k)
          if (taps.places[k] >= 0) whole[taps.places[k] * channels] += taps.weights[k] * slope;
      }
  }
}

LOOM_KERNELS(warp, LOOM_KERNEL("warp", warpImages, WarpArguments),
             LOOM_KERNEL_ONE("warp_gradient", warpGradient, WarpGradientArguments))

}  // namespace loom::cuda
