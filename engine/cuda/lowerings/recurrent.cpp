#include "engine/cuda/lowerings/recurrent.h"

#include "engine/cuda/kernels/recurrent.h"
#include "engine/cuda/lowerings/column_sums.h"

namespace loom::cuda {

RecurrentShape recurrentShape(const Plan& plan, const Operation& operation, std::int64_t gates, std::int64_t state) {
  const Shape& x = plan.shape(operation.inputs[0]);
  return {x[0],
          x[1],
          x[2],
          plan.shape(operation.inputs[2])[1],
          gates,
          state,
          operation.attributes.boolean("reverse", false)};
}

Operand emitInputSide(Plan& plan, const RecurrentShape& s, const Operation& operation, const std::string& name) {
  const TensorId bias = inputOr(operation, 3);
  const Operand gates = scratchOf(plan, s.rows() * s.width(), DataType::f32);
  emitProduct(plan, {.name = name + " input side",
                     .m = s.rows(),
                     .n = s.width(),
                     .k = s.channels,
                     .a = readPlainFactor(plan, operation.inputs[0]),
                     .b = readPlainFactor(plan, operation.inputs[1]),
                     .c = gates,
                     .bias = bias == kNoTensor ? Operand{} : plan.read(bias, plainLayout(1), DataType::f32),
                     .transposeB = true});
  return gates;
}

void emitToInputs(Plan& plan, const RecurrentShape& s, const Operation& operation, const std::string& name,
                  const Operand& input, const Operand& hiddenSide, const Operand& y, const Operand& h0) {
  const auto to = [&](std::size_t output) { return operation.outputs[output]; };
  if (plan.wanted(to(0)))
    emitProduct(plan, {.name = name + " to input",
                       .m = s.rows(),
                       .n = s.channels,
                       .k = s.width(),
                       .a = input,
                       .b = readPlainFactor(plan, operation.inputs[1]),
                       .c = plan.write(to(0))});
  if (plan.wanted(to(1)))
    emitProduct(plan, {.name = name + " to w_input",
                       .m = s.width(),
                       .n = s.channels,
                       .k = s.rows(),
                       .a = input,
                       .b = readPlainFactor(plan, operation.inputs[0]),
                       .c = plan.write(to(1)),
                       .transposeA = true});
  if (!plan.wanted(to(2))) return;
  const Operand shifted = scratchOf(plan, s.rows() * s.hidden, plan.factors());
  RecurrentShiftArguments arguments{.samples = s.batch, .time = s.time, .hidden = s.hidden, .reverse = s.reverse};
  plan.kernel(named("recurrent_shift", plan.factors()), overElements(s.rows() * s.hidden), {y, h0}, {shifted},
              [=]() mutable {
                arguments.y = y.address<const float>();
                arguments.h0 = h0.address<const float>();
                arguments.to = shifted.address();
                return arguments;
              });
  emitProduct(plan, {.name = name + " to w_hidden",
                     .m = s.width(),
                     .n = s.hidden,
                     .k = s.rows(),
                     .a = hiddenSide,
                     .b = shifted,
                     .c = plan.write(to(2)),
                     .transposeA = true});
}

void emitToBias(Plan& plan, const RecurrentShape& s, const Operand& side, TensorId bias) {
  if (plan.wanted(bias)) emitColumnSums(plan, side, s.rows(), s.width(), plan.write(bias));
}

}  // namespace loom::cuda
