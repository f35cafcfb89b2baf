// warp and its gradient, channels-last.
#include "engine/cuda/kernels/warp.h"

#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

void lowerWarp(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Layout layout = channelsLast(4);
  const Operand from = plan.read(x, layout, type), maps = plan.read(operation.inputs[1], plainLayout(2), DataType::f32),
                to = plan.write(y, layout);
  const Shape &in = plan.shape(x), &out = plan.shape(y);
  WarpArguments arguments{.count = out.elements(),
                          .channels = divisorOf(in[1]),
                          .outColumns = divisorOf(out[3]),
                          .outRows = divisorOf(out[2]),
                          .rows = static_cast<int>(in[2]),
                          .columns = static_cast<int>(in[3]),
                          .numbers = static_cast<int>(plan.shape(operation.inputs[1])[1])};
  plan.kernel(named("warp", type), overElements(arguments.count), {from, maps}, {to}, [=]() mutable {
    arguments.x = from.address();
    arguments.maps = maps.address<const float>();
    arguments.y = to.address();
    return arguments;
  });
}

void lowerWarpGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], dx = operation.outputs[0];
  const Layout layout = channelsLast(4);
  const Operand from = plan.read(dy, layout, DataType::f32),
                maps = plan.read(operation.inputs[1], plainLayout(2), DataType::f32), to = plan.write(dx, layout);
  const Shape &in = plan.shape(dx), &out = plan.shape(dy);
  WarpGradientArguments arguments{.count = in[0] * in[1],
                                  .channels = divisorOf(in[1]),
                                  .rows = static_cast<int>(in[2]),
                                  .columns = static_cast<int>(in[3]),
                                  .outRows = static_cast<int>(out[2]),
                                  .outColumns = static_cast<int>(out[3]),
                                  .numbers = static_cast<int>(plan.shape(operation.inputs[1])[1])};
  plan.fill(to, 0);
  plan.kernel("warp_gradient", overElements(arguments.count), {from, maps, to}, {to}, [=]() mutable {
    arguments.dy = from.address<const float>();
    arguments.maps = maps.address<const float>();
    arguments.dx = to.address<float>();
    return arguments;
  });
}

}  // namespace

LoweringRows warpRows() {
  static const LoweringRow rows[] = {
      {"warp", lowerWarp, {}, {{0}, true}},
      {"warp_gradient", lowerWarpGradient},
  };
  return rows;
}

}  // namespace loom::cuda
