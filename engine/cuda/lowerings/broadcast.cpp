// binary, broadcast.
#include "engine/cuda/kernels/broadcast.h"

#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"

namespace loom::cuda {
namespace {

bool binaryInF32(const Program&, const Operation& operation) {
  return needsAllBits(binaryFunctionOf(operation.attributes));
}

void lowerBinary(Plan& plan, const Operation& operation) {
  const TensorId a = operation.inputs[0], b = operation.inputs[1], mask = plan.fused().mask, y = plan.fused().output;
  const DataType type = plan.tensor(y).type;
  const Layout layout = plan.commonLayout({a, b});
  const Operand left = plan.read(a, layout, type), right = plan.read(b, layout, type),
                masks = plan.read(mask, layout, type), to = plan.write(y, layout);
  plan.mayOverwrite(y, a);
  if (plan.shape(a) == plan.shape(b)) plan.mayOverwrite(y, b);
  BinaryArguments arguments{.count = plan.shape(y).elements(),
                            .repeated = repeatedOver(plan.shape(a), plan.shape(b), layout),
                            .function = binaryFunctionOf(operation.attributes),
                            .relu = plan.fused().relu};
  const char* const kernel = needsAllBits(arguments.function) ? "binary_in_f32" : "binary";
  plan.kernel(named(kernel, type), overPacks(arguments.count, type), {left, right, masks}, {to}, [=]() mutable {
    arguments.a = left.address();
    arguments.b = right.address();
    arguments.mask = masks.address();
    arguments.y = to.address();
    return arguments;
  });
}

void lowerBroadcast(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  // One number a channel may be spread in either layout: what it meets next is an image.
  const std::size_t rank = plan.shape(x).rank();
  const bool image = rank >= 4 && sameMemory(plan.shape(x), plan.layoutOf(x), channelsLast(rank));
  const Layout layout = image ? channelsLast(rank) : plan.layoutOf(x);
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  BroadcastArguments arguments{.count = plan.shape(y).elements(),
                               .repeated = repeatedOver(plan.shape(y), plan.shape(x), layout)};
  plan.kernel(named("broadcast", type), overPacks(arguments.count, type), {from}, {to}, [=]() mutable {
    arguments.x = from.address();
    arguments.y = to.address();
    return arguments;
  });
}

}  // namespace

LoweringRows broadcastRows() {
  static const LoweringRow rows[] = {
      // joins: sums of one shape
      {"binary", lowerBinary, {.relu = true, .maskBehind = true}, {{0, 1}, true}, binaryInF32},
      {"broadcast", lowerBroadcast, {}, {{0}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
