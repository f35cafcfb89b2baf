// softmax and its gradient, over any axis (which is made innermost).
#include "engine/cuda/kernels/softmax.h"

#include <algorithm>

#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"
#include "engine/cuda/lowerings/rows.h"

namespace loom::cuda {

Launch overRows(std::int64_t rows, std::int64_t rowLength) {
  constexpr std::int64_t kMostBlocks = 1 << 16;  // each strides over the rest
  const unsigned threads = takesBlock(rowLength) && rowLength >= 8192 ? 512 : 256;
  const std::int64_t perBlock = takesBlock(rowLength) ? 1 : threads / 32;
  return {.grid = {static_cast<unsigned>(std::clamp<std::int64_t>((rows + perBlock - 1) / perBlock, 1, kMostBlocks))},
          .block = {threads}};
}

namespace {

void lowerSoftmax(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const std::int64_t axis = axisOf(plan, x, operation, -1), channels = plan.shape(x)[axis];
  const Layout layout = lastAxis(plan.shape(x).rank(), static_cast<int>(axis));
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  plan.mayOverwrite(y, x);
  SoftmaxArguments arguments{
      .rows = plan.shape(x).elements() / channels, .channels = channels, .wholeBlock = takesBlock(channels)};
  plan.kernel(named("softmax", type), overRows(arguments.rows, channels), {from}, {to}, [=]() mutable {
    arguments.x = from.address();
    arguments.y = to.address();
    return arguments;
  });
}

void lowerSoftmaxGradient(Plan& plan, const Operation& operation) {
  const TensorId y = operation.inputs[0], dy = operation.inputs[1], dx = operation.outputs[0];
  const DataType type = plan.tensor(dx).type;
  const std::int64_t axis = axisOf(plan, y, operation, -1), channels = plan.shape(y)[axis];
  const Layout layout = lastAxis(plan.shape(y).rank(), static_cast<int>(axis));
  const Operand from = plan.read(y, layout, type), gradient = plan.read(dy, layout, type), to = plan.write(dx, layout);
  plan.mayOverwrite(dx, dy);
  SoftmaxGradientArguments arguments{
      .rows = plan.shape(y).elements() / channels, .channels = channels, .wholeBlock = takesBlock(channels)};
  plan.kernel(named("softmax_gradient", type), overRows(arguments.rows, channels), {from, gradient}, {to},
              [=]() mutable {
                arguments.y = from.address();
                arguments.dy = gradient.address();
                arguments.dx = to.address();
                return arguments;
              });
}

}  // namespace

LoweringRows softmaxRows() {
  static const LoweringRow rows[] = {
      {"softmax", lowerSoftmax, {}, {{0}, true}},
      {"softmax_gradient", lowerSoftmaxGradient, {}, {{0, 1}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
