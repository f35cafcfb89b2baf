// prepare_images: pixel by pixel, for programs that come with it; the loader does the same in larger pieces.
#include "engine/base/philox.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/ops/image_preparation.h"

namespace loom::cpu {

void lowerPrepareImages(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const auto from = plan.read(x).as<std::uint8_t>();
  const auto samples = plan.read(operation.inputs[1]).as<std::int64_t>();
  const auto to = plan.write(y);
  const Shape in = plan.shape(x), out = plan.shape(y);
  const ImagePreparation preparation = imagePreparationOf(operation.attributes);
  const Philox random(preparation.seed, kImageStream);
  plan.stage("prepare_images", [=](const Worker& worker) {
    const auto [first, last] = worker.share(in[0]);
    for (std::int64_t n = first; n < last; ++n) {
      const auto row = static_cast<std::uint64_t>(samples.get()[2 * n]);
      const std::int64_t epoch = samples.get()[2 * n + 1];
      const SampleWindow window =
          windowOf(preparation.steps.data(), static_cast<int>(preparation.steps.size()), in[2], in[3], true,
                   [&](std::uint64_t number) { return random(row, windowCounter(epoch, number)); });
      float* write = to.get() + n * out[1] * out[2] * out[3];
      for (std::int64_t c = 0; c < out[1]; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const std::uint8_t* const plane = from.get() + (n * in[1] + c) * in[2] * in[3];
        const float scale = preparation.scale[channel], shift = preparation.shift[channel];
        for (std::int64_t i = 0; i < out[2]; ++i)
          for (std::int64_t j = 0; j < out[3]; ++j) {
            const int border = window.borderAt(i, j);
            *write++ = border >= 0 ? preparation.border(border)[channel]
                                   : scaledThenShifted(plane[window.sourceRow(i) * in[3] + window.sourceColumn(j)],
                                                       scale, shift);
          }
      }
    }
  });
}

}  // namespace loom::cpu
