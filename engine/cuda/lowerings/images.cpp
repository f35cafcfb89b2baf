// prepare_images: bytes from the host become what a network reads. Written channels-last, as convolutions want it.
#include "engine/cuda/kernels/images.h"

#include <algorithm>
#include <span>

#include "engine/base/philox.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/ops/image_preparation.h"

namespace loom::cuda {
namespace {

Operand constantFloats(Plan& plan, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return plan.constant(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void lowerPrepareImages(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Shape in = plan.shape(x), out = plan.shape(y);
  const DataType type = plan.tensor(y).type;
  const ImagePreparation preparation = imagePreparationOf(operation.attributes);
  const Operand samples = plan.read(operation.inputs[1]),
                windows = plan.scratch(static_cast<std::size_t>(in[0]) * sizeof(SampleWindow));
  const std::uint64_t key = preparation.seed ^ (hashName(kImageStream) * 0x9E3779B97F4A7C15ull);
  SampleWindowsArguments places{.batch = in[0],
                                .rows = in[2],
                                .columns = in[3],
                                .keyLow = static_cast<std::uint32_t>(key),
                                .keyHigh = static_cast<std::uint32_t>(key >> 32),
                                .count = static_cast<int>(preparation.steps.size())};
  std::copy(preparation.steps.begin(), preparation.steps.end(), places.steps);
  plan.kernel("sample_windows", overElements(in[0]), {samples}, {windows}, [=]() mutable {
    places.samples = samples.address<const std::int64_t>();
    places.windows = windows.address<SampleWindow>();
    return places;
  });

  const Layout layout = channelsLast(4);
  const Operand from = plan.read(x), scale = constantFloats(plan, preparation.scale),
                shift = constantFloats(plan, preparation.shift), borders = constantFloats(plan, preparation.borders),
                to = plan.write(y, layout);
  PrepareImagesArguments arguments{.count = out.elements(),
                                   .channels = in[1],
                                   .rows = in[2],
                                   .columns = in[3],
                                   .sample = divisorOf(out[1] * out[2] * out[3]),
                                   .line = divisorOf(out[3] * out[1]),
                                   .pixel = divisorOf(out[1])};
  plan.kernel(named("prepare_images", type), overElements(arguments.count), {from, windows, scale, shift, borders},
              {to}, [=]() mutable {
                arguments.x = from.address<const std::uint8_t>();
                arguments.windows = windows.address<const SampleWindow>();
                arguments.scale = scale.address<const float>();
                arguments.shift = shift.address<const float>();
                arguments.borders = borders.address<const float>();
                arguments.y = to.address();
                return arguments;
              });
}

}  // namespace

LoweringRows imagesRows() {
  static const LoweringRow rows[] = {
      {"prepare_images", lowerPrepareImages, {}, {{}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
