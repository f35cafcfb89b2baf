// gru and gru_gradient.
#include "engine/cuda/kernels/recurrent.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/recurrent.h"

namespace loom::cuda {
namespace {

void lowerGru(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 3, 4);
  const Operand hiddenBias = plan.read(inputOr(operation, 4));
  const Operand wHidden = readPlainFactor(plan, operation.inputs[2]);
  const Operand y = plan.write(operation.outputs[0]), state = plan.write(operation.outputs[1]);
  const Operand gates = emitInputSide(plan, s, operation, "gru");
  const std::int64_t perStep = s.batch * s.hidden;
  const Operand products = scratchOf(plan, s.batch * s.width(), DataType::f32),
                h = scratchOf(plan, perStep, DataType::f32);
  const Operand rounded = plan.factors() == DataType::f32 ? Operand{} : scratchOf(plan, perStep, plan.factors());
  for (std::int64_t step = 0; step < s.time; ++step) {
    const Operand gatesNow = s.at(gates, step, s.width()), stateNow = s.at(state, step, s.state * s.hidden),
                  yNow = s.at(y, step, s.hidden);
    const Operand before = step > 0 ? h : Operand{}, product = step > 0 ? products : Operand{};
    if (step > 0)
      emitProduct(plan, {.name = "gru step",
                         .m = s.batch,
                         .n = s.width(),
                         .k = s.hidden,
                         .a = rounded ? rounded : h,
                         .b = wHidden,
                         .c = product,
                         .transposeB = true,
                         .kind = StageKind::recurrence});
    GruCellArguments arguments{.samples = s.batch,
                               .hidden = s.hidden,
                               .gateStride = s.time * s.width(),
                               .stateStride = s.time * s.state * s.hidden,
                               .yStride = s.time * s.hidden};
    plan.kernel(named("gru_cell", plan.factors()), overElements(perStep), {gatesNow, product, hiddenBias, before},
                {stateNow, h, yNow, rounded}, [=]() mutable {
                  arguments.gates = gatesNow.address<const float>();
                  arguments.state = stateNow.address<float>();
                  arguments.product = product.address<const float>();
                  arguments.bias = hiddenBias.address<const float>();
                  arguments.hBefore = before.address<const float>();
                  arguments.h = h.address<float>();
                  arguments.y = yNow.address<float>();
                  arguments.factor = rounded.address();
                  return arguments;
                });
  }
}

void lowerGruGradient(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 3, 4);
  const Operand y = plan.read(operation.inputs[3]), state = plan.read(operation.inputs[4]),
                dy = plan.read(operation.inputs[5]);
  const Operand wHidden = readPlainFactor(plan, operation.inputs[2]);
  const std::int64_t width = s.width(), row = s.state * s.hidden;
  const Operand input = scratchOf(plan, s.rows() * width, plan.factors()),
                side = scratchOf(plan, s.rows() * width, plan.factors()),
                sideStep = scratchOf(plan, s.batch * width, plan.factors());
  const Operand dh = scratchOf(plan, s.batch * s.hidden, DataType::f32);
  for (std::int64_t step = s.time; step-- > 0;) {
    const bool last = step + 1 == s.time;
    if (!last)  // added to what went past the gates
      emitProduct(plan, {.name = "gru_gradient step",
                         .m = s.batch,
                         .n = s.hidden,
                         .k = width,
                         .a = sideStep,
                         .b = wHidden,
                         .c = dh,
                         .beta = 1,
                         .kind = StageKind::recurrence});
    const Operand now = s.at(state, step, row), dyNow = s.at(dy, step, s.hidden);
    const Operand before = step > 0 ? s.at(y, step - 1, s.hidden) : Operand{};
    const Operand inputNow = s.at(input, step, width), sideNow = s.at(side, step, width);
    const Operand behind = last ? Operand{} : dh;
    GruCellGradientArguments arguments{.samples = s.batch,
                                       .hidden = s.hidden,
                                       .stateStride = s.time * row,
                                       .yStride = s.time * s.hidden,
                                       .sideStride = s.time * width,
                                       .last = last};
    plan.kernel(named("gru_cell_gradient", plan.factors()), overElements(s.batch * s.hidden),
                {now, before, dyNow, behind}, {inputNow, sideNow, sideStep, dh}, [=]() mutable {
                  arguments.state = now.address<const float>();
                  arguments.hBefore = before.address<const float>();
                  arguments.dy = dyNow.address<const float>();
                  arguments.dh = dh.address<float>();
                  arguments.input = inputNow.address();
                  arguments.side = sideNow.address();
                  arguments.step = sideStep.address();
                  return arguments;
                });
  }
  emitToInputs(plan, s, operation, "gru_gradient", input, side, y, {});
  emitToBias(plan, s, input, operation.outputs[3]);
  emitToBias(plan, s, side, operation.outputs[4]);
}

}  // namespace

LoweringRows gruRows() {
  static const LoweringRow rows[] = {
      {"gru", lowerGru, {}, {{0}}, nullptr, StageKind::recurrence},
      {"gru_gradient", lowerGruGradient, {}, {{0}, true}, nullptr, StageKind::recurrence},
  };
  return rows;
}

}  // namespace loom::cuda
