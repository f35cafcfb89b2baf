// dropout and random: functions of (seed, node, step, sample of the global batch, element); see ops/noise.h.
#include "engine/cuda/kernels/noise.h"

#include "engine/base/error.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"
#include "engine/ops/noise.h"

namespace loom::cuda {
namespace {

NoiseSource noiseOf(const Operation& operation) {
  const std::uint64_t key =
      static_cast<std::uint64_t>(operation.attributes.integer("seed", 0)) ^
      (static_cast<std::uint64_t>(operation.attributes.integer("stream")) * 0x9E3779B97F4A7C15ull);
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

// The step or the first sample: as a whole number, since a float loses digits beyond 2^24.
Operand wholeNumber(Plan& plan, TensorId id) {
  if (plan.tensor(id).type != DataType::i64)
    throwError(ErrorCode::internal, "'{}' is a number of steps or samples and must be i64, but is {}",
               plan.tensor(id).name, toString(plan.tensor(id).type));
  return plan.read(id);
}

void lowerDropout(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Shape& shape = plan.shape(x);
  // Samples must lie one behind the other; in which order the numbers of each, does not matter.
  const Layout layout = plan.layoutOf(x)[0] == 0 ? plan.layoutOf(x) : plainLayout(shape.rank());
  const Operand from = plan.read(x, layout, type), step = wholeNumber(plan, operation.inputs[1]),
                firstSample = wholeNumber(plan, operation.inputs[2]), to = plan.write(y, layout);
  plan.mayOverwrite(y, x);
  std::vector<Axis> axes;
  for (std::size_t k = 1; k < layout.size(); ++k) {
    std::int64_t stride = 1;
    for (std::size_t axis = static_cast<std::size_t>(layout[k]) + 1; axis < shape.rank(); ++axis)
      stride *= shape.extents()[axis];
    axes.push_back({shape[layout[k]], stride});
  }
  const double probability = operation.attributes.real("probability");
  DropoutArguments arguments{.count = shape.elements(),
                             .size = divisorOf(shape.elements() / shape[0]),
                             .order = stridedOf(axes),
                             .noise = noiseOf(operation),
                             .threshold = noiseThreshold(probability),
                             .factor = static_cast<float>(1 / (1 - probability))};
  plan.kernel(named("dropout", type), overPacks(arguments.count, type), {from, step, firstSample}, {to}, [=]() mutable {
    arguments.x = from.address();
    arguments.y = to.address();
    arguments.noise.step = step.address<const std::int64_t>();
    arguments.noise.firstSample = firstSample.address<const std::int64_t>();
    return arguments;
  });
}

void lowerRandom(Plan& plan, const Operation& operation) {
  const TensorId y = operation.outputs[0];
  const Shape& shape = plan.shape(y);
  const Operand step = wholeNumber(plan, operation.inputs[0]), firstSample = wholeNumber(plan, operation.inputs[1]),
                to = plan.write(y);
  RandomArguments arguments{.count = shape.elements(),
                            .size = divisorOf(shape.elements() / shape[0]),
                            .noise = noiseOf(operation),
                            .normal = operation.attributes.text("distribution") == "normal"};
  plan.kernel("random", overElements(arguments.count), {step, firstSample}, {to}, [=]() mutable {
    arguments.y = to.address<float>();
    arguments.noise.step = step.address<const std::int64_t>();
    arguments.noise.firstSample = firstSample.address<const std::int64_t>();
    return arguments;
  });
}

}  // namespace

LoweringRows noiseRows() {
  static const LoweringRow rows[] = {
      {"dropout", lowerDropout, {}, {{0}, true}},
      {"random", lowerRandom},
  };
  return rows;
}

}  // namespace loom::cuda
