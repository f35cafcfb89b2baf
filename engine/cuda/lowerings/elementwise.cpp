// unary, unary_gradient, select, scale, scale_by: in whatever layout the input stands.
#include "engine/cuda/kernels/elementwise.h"

#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"

namespace loom::cuda {
namespace {

void lowerUnary(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Layout layout = plan.layoutOf(x);
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  plan.mayOverwrite(y, x);
  const UnaryNumbers numbers = unaryNumbersOf(operation.attributes);
  UnaryArguments arguments{.count = plan.shape(y).elements(),
                           .function = unaryFunctionOf(operation.attributes),
                           .alpha = static_cast<float>(numbers.alpha),
                           .beta = static_cast<float>(numbers.beta)};
  plan.kernel(named("unary", type), overPacks(arguments.count, type), {from}, {to}, [=]() mutable {
    arguments.x = from.address();
    arguments.y = to.address();
    return arguments;
  });
}

void lowerUnaryGradient(Plan& plan, const Operation& operation) {
  const DerivativeFrom derivative = unaryDerivativeFrom(operation.attributes);
  const TensorId dy = operation.inputs[2], dx = operation.outputs[0];
  const TensorId at = derivative == DerivativeFrom::input    ? operation.inputs[0]
                      : derivative == DerivativeFrom::output ? operation.inputs[1]
                                                             : dy;
  const DataType type = plan.tensor(dx).type;
  const Layout layout = plan.layoutOf(at);
  const Operand from = plan.read(at, layout, type), gradient = plan.read(dy, layout, type), to = plan.write(dx, layout);
  plan.mayOverwrite(dx, dy);
  plan.mayOverwrite(dx, at);
  const UnaryNumbers numbers = unaryNumbersOf(operation.attributes);
  UnaryGradientArguments arguments{.count = plan.shape(dx).elements(),
                                   .function = unaryFunctionOf(operation.attributes),
                                   .fromOutput = derivative == DerivativeFrom::output,
                                   .alpha = static_cast<float>(numbers.alpha),
                                   .beta = static_cast<float>(numbers.beta)};
  plan.kernel(named("unary_gradient", type), overPacks(arguments.count, type), {from, gradient}, {to}, [=]() mutable {
    arguments.at = from.address();
    arguments.dy = gradient.address();
    arguments.dx = to.address();
    return arguments;
  });
}

// With `by`, a rank-0 tensor's number stands for the factor.
void scaled(Plan& plan, const Operation& operation, TensorId by, ScaleArguments arguments) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Layout layout = plan.layoutOf(x);
  const Operand from = plan.read(x, layout, type), factor = plan.read(by, {}, DataType::f32),
                to = plan.write(y, layout);
  plan.mayOverwrite(y, x);
  arguments.count = plan.shape(y).elements();
  plan.kernel(named("scale", type), overPacks(arguments.count, type), {from, factor}, {to}, [=]() mutable {
    arguments.x = from.address();
    arguments.by = factor.address<const float>();
    arguments.y = to.address();
    return arguments;
  });
}

void lowerScale(Plan& plan, const Operation& operation) {
  scaled(plan, operation, kNoTensor,
         {.factor = static_cast<float>(operation.attributes.real("factor", 1)),
          .offset = static_cast<float>(operation.attributes.real("offset", 0))});
}

void lowerScaleBy(Plan& plan, const Operation& operation) {
  scaled(plan, operation, operation.inputs[1], {});
}

bool unaryInF32(const Program&, const Operation& operation) {
  return unaryNeedsAllBits(operation.attributes);
}

void lowerSelect(Plan& plan, const Operation& operation) {
  const TensorId condition = operation.inputs[0], a = operation.inputs[1], b = operation.inputs[2],
                 y = operation.outputs[0];
  const Layout layout = plan.commonLayout({a, b, condition});
  const Operand which = plan.read(condition, layout), first = plan.read(a, layout), second = plan.read(b, layout),
                to = plan.write(y, layout);
  for (TensorId input : operation.inputs) plan.mayOverwrite(y, input);
  const std::int64_t count = plan.shape(y).elements();
  plan.kernel("select", overElements(count), {which, first, second}, {to}, [=] {
    return SelectArguments{which.address<const float>(), first.address<const float>(), second.address<const float>(),
                           to.address<float>(), count};
  });
}

}  // namespace

LoweringRows elementwiseRows() {
  static const LoweringRow rows[] = {
      {"unary", lowerUnary, {}, {{0}, true}, unaryInF32},
      {"unary_gradient", lowerUnaryGradient, {}, {{0, 1, 2}, true}, unaryInF32},
      {"select", lowerSelect},
      {"scale", lowerScale, {}, {{0}, true}},
      {"scale_by", lowerScaleBy, {}, {{0}, true}},
  };
  return rows;
}

}  // namespace loom::cuda
