// local_response_normalization with its gradient, which goes through memory once: each channel's part in its
// neighbours' gradients first.
#include "engine/cuda/kernels/local_response_normalization.h"

#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

ResponseWindow windowOf(const Plan& plan, const Operation& operation) {
  const Attributes& attributes = operation.attributes;
  const std::int64_t size = attributes.integer("size", 5);
  return {.channels = plan.shape(operation.inputs[0])[1],
          .before = size / 2,
          .after = (size - 1) / 2,
          .alpha = static_cast<float>(attributes.real("alpha", 1e-4) / static_cast<double>(size)),
          .beta = static_cast<float>(attributes.real("beta", 0.75)),
          .k = static_cast<float>(attributes.real("k", 1.0))};
}

void lowerLocalResponseNormalization(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Layout layout = channelsLast(plan.shape(x).rank());
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  const ResponseWindow window = windowOf(plan, operation);
  const std::int64_t count = plan.shape(x).elements();
  plan.kernel(named("local_response", type), overElements(count), {from}, {to}, [=] {
    return ResponseArguments{.window = window, .x = from.address(), .y = to.address(), .count = count};
  });
}

void lowerLocalResponseNormalizationGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dy = operation.inputs[1], dx = operation.outputs[0];
  const DataType type = plan.tensor(dx).type;
  const Layout layout = channelsLast(plan.shape(x).rank());
  const std::int64_t count = plan.shape(x).elements();
  const Operand from = plan.read(x, layout, type), gradient = plan.read(dy, layout, type),
                factors = plan.scratch(static_cast<std::size_t>(count) * sizeof(float)), to = plan.write(dx, layout);
  const ResponseWindow window = windowOf(plan, operation);
  plan.kernel(named("local_response_factors", type), overElements(count), {from, gradient}, {factors}, [=] {
    return ResponseFactorsArguments{.window = window,
                                    .x = from.address(),
                                    .dy = gradient.address(),
                                    .factors = factors.address<float>(),
                                    .count = count};
  });
  plan.kernel(named("local_response_gradient", type), overElements(count), {from, gradient, factors}, {to}, [=] {
    return ResponseGradientArguments{.window = window,
                                     .x = from.address(),
                                     .dy = gradient.address(),
                                     .factors = factors.address<const float>(),
                                     .dx = to.address(),
                                     .count = count};
  });
}

}  // namespace

LoweringRows localResponseNormalizationRows() {
  static const LoweringRow rows[] = {
      {"local_response_normalization", lowerLocalResponseNormalization, {}, {{0}, true}},
      {"local_response_normalization_gradient", lowerLocalResponseNormalizationGradient, {}, {{0, 1}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
