// prepare_images: a window for each sample, then one pass over the output.
#include "engine/cuda/kernels/images.h"
#include "engine/cuda/kernels/philox.cuh"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

__global__ void __launch_bounds__(256) sampleWindows(SampleWindowsArguments a) {
  for (std::int64_t n = firstOfThread(); n < a.batch; n += threadsOfGrid()) {
    const auto row = static_cast<std::uint64_t>(a.samples[2 * n]);
    const std::int64_t epoch = a.samples[2 * n + 1];
    a.windows[n] = windowOf(a.steps, a.count, a.rows, a.columns, true, [&](std::uint64_t number) {
      return noiseBlock(a.keyLow, a.keyHigh, row, windowCounter(epoch, number));
    });
  }
}

template <class T>
__global__ void __launch_bounds__(256) prepareImages(PrepareImagesArguments a) {
  T* const y = static_cast<T*>(a.y);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t n = divided(i, a.sample), inSample = i - n * a.sample.divisor;
    const std::int64_t row = divided(inSample, a.line), inLine = inSample - row * a.line.divisor;
    const std::int64_t column = divided(inLine, a.pixel), channel = inLine - column * a.pixel.divisor;
    const SampleWindow& window = a.windows[n];
    const int border = window.borderAt(row, column);
    float value;
    if (border >= 0) {
      value = a.borders[border * a.channels + channel];
    } else {
      const std::int64_t from =
          ((n * a.channels + channel) * a.rows + window.sourceRow(row)) * a.columns + window.sourceColumn(column);
      value = scaledThenShifted(static_cast<float>(a.x[from]), a.scale[channel], a.shift[channel]);
    }
    y[i] = fromFloat<T>(value);
  }
}

LOOM_KERNELS(images, LOOM_KERNEL_ONE("sample_windows", sampleWindows, SampleWindowsArguments),
             LOOM_KERNEL("prepare_images", prepareImages, PrepareImagesArguments))

}  // namespace loom::cuda
