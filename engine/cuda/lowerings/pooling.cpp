// Max and average pooling with their gradients, channels-last. Where a maximum stood is kept for the gradient, which
// then needs neither x nor y.
#include "engine/cuda/kernels/pooling.h"

#include <algorithm>

#include "engine/cuda/lowerings/lowerings.h"
#include "engine/ops/pooling_geometry.h"

namespace loom::cuda {
namespace {

PoolingWindows windowsOf(const PoolingGeometry& g) {
  PoolingWindows windows{.batch = g.batch, .channels = g.channels};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    windows.input[axis] = static_cast<int>(g.input[axis]);
    windows.output[axis] = static_cast<int>(g.output[axis]);
    windows.kernel[axis] = static_cast<int>(g.kernel[axis]);
    windows.strides[axis] = static_cast<int>(g.strides[axis]);
    windows.before[axis] = static_cast<int>(g.before[axis]);
  }
  return windows;
}

// One thread for a few channels of a place, as many as stand in 16 bytes.
Launch overPlaces(const PoolingWindows& windows, const int (&extents)[3], DataType type) {
  const std::int64_t few = 16 / static_cast<std::int64_t>(bytesOf(type));
  return overElements(windows.batch * extents[0] * extents[1] * extents[2] * windows.channels,
                      windows.channels % few == 0 ? few : 1);
}

// Memory for where the maxima stand.
struct Places {
  std::size_t bytes = 0;
  bool wide = false;
};
Places placesOf(const PoolingGeometry& g) {
  const bool wide = g.kernel[0] * g.kernel[1] * g.kernel[2] > 256;
  return {static_cast<std::size_t>(g.outputShape().elements()) * (wide ? sizeof(std::int32_t) : 1), wide};
}
std::string placesKey(TensorId y) {
  return "maxima of tensor " + std::to_string(y);
}

// `to` and `places` may be left out.
void maxPooling(Plan& plan, const PoolingWindows& windows, const Operand& from, const Operand& to,
                const Operand& places, bool wide) {
  plan.kernel(named("max_pooling", from.type), overPlaces(windows, windows.output, from.type), {from}, {to, places},
              [=] {
                return MaxPoolingArguments{
                    .windows = windows, .x = from.address(), .y = to.address(), .places = {places.address(), wide}};
              });
}

void lowerMaxPooling(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = channelsLast(plan.shape(x).rank());
  const PoolingGeometry g = poolingGeometry(plan.shape(x), operation.attributes);
  const Operand from = plan.read(x, layout, plan.tensor(y).type), to = plan.write(y, layout);
  const auto& operations = plan.program().operations;
  const bool wanted = std::any_of(operations.begin(), operations.end(), [&](const Operation& other) {
    return other.op->name == "max_pooling_gradient" && other.inputs[0] == x && other.inputs[1] == y;
  });
  const Places places = placesOf(g);
  maxPooling(plan, windowsOf(g), from, to, wanted ? plan.shared(placesKey(y), places.bytes) : Operand{}, places.wide);
}

void lowerMaxPoolingGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.inputs[1], dx = plan.fused().output;
  const DataType type = plan.tensor(dx).type;
  const Layout layout = channelsLast(plan.shape(x).rank());
  const PoolingGeometry g = poolingGeometry(plan.shape(x), operation.attributes);
  const PoolingWindows windows = windowsOf(g);
  const Places places = placesOf(g);
  const bool known = plan.hasShared(placesKey(y));
  const Operand kept = known ? plan.shared(placesKey(y), places.bytes) : plan.scratch(places.bytes);
  if (!known) maxPooling(plan, windows, plan.read(x, layout), {}, kept, places.wide);
  const Operand gradient = plan.read(operation.inputs[2], layout, type),
                positive = plan.fused().relu ? plan.read(y, layout, type) : Operand{}, to = plan.write(dx, layout);
  plan.kernel(named("max_pooling_gradient", type), overPlaces(windows, windows.input, type), {kept, gradient, positive},
              {to}, [=] {
                return MaxPoolingGradientArguments{.windows = windows,
                                                   .places = {kept.address(), places.wide},
                                                   .dy = gradient.address(),
                                                   .y = positive.address(),
                                                   .dx = to.address()};
              });
}

void lowerAveragePooling(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Layout layout = channelsLast(plan.shape(x).rank());
  const PoolingWindows windows = windowsOf(poolingGeometry(plan.shape(x), operation.attributes));
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  const bool includePadding = operation.attributes.boolean("include_padding", false);
  plan.kernel(named("average_pooling", type), overPlaces(windows, windows.output, type), {from}, {to}, [=] {
    return AveragePoolingArguments{
        .windows = windows, .x = from.address(), .y = to.address(), .includePadding = includePadding};
  });
}

void lowerAveragePoolingGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], dx = operation.outputs[0];
  const DataType type = plan.tensor(dx).type;
  const Layout layout = channelsLast(plan.shape(dx).rank());
  const PoolingWindows windows = windowsOf(poolingGeometry(plan.shape(dx), operation.attributes));
  const Operand from = plan.read(dy, layout, type), to = plan.write(dx, layout);
  const bool includePadding = operation.attributes.boolean("include_padding", false);
  plan.kernel(named("average_pooling_gradient", type), overPlaces(windows, windows.input, type), {from}, {to}, [=] {
    return AveragePoolingGradientArguments{
        .windows = windows, .dy = from.address(), .dx = to.address(), .includePadding = includePadding};
  });
}

}  // namespace

LoweringRows poolingRows() {
  static const LoweringRow rows[] = {
      {"average_pooling", lowerAveragePooling, {}, {{0}, true}},
      {"average_pooling_gradient", lowerAveragePoolingGradient, {}, {{0}, true}},
      {"max_pooling", lowerMaxPooling, {}, {{0}, true, 0}},  // rounded, others might win
      {"max_pooling_gradient", lowerMaxPoolingGradient, {.gradientOf = 0}, {{0, 1, 2}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
