// lstm and lstm_gradient.
#include "engine/cuda/kernels/recurrent.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/recurrent.h"

namespace loom::cuda {
namespace {

void lowerLstm(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 4, 5);
  const Operand h0 = readPlainFactor(plan, inputOr(operation, 4)), c0 = plan.read(inputOr(operation, 5));
  const Operand wHidden = readPlainFactor(plan, operation.inputs[2]);
  const Operand y = plan.write(operation.outputs[0]), state = plan.write(operation.outputs[1]);
  const Operand gates = emitInputSide(plan, s, operation, "lstm");
  const std::int64_t perStep = s.batch * s.hidden;
  const Operand h = scratchOf(plan, perStep, plan.factors()), c = scratchOf(plan, perStep, DataType::f32);
  for (std::int64_t step = 0; step < s.time; ++step) {
    const Operand gatesNow = s.at(gates, step, s.width()), stateNow = s.at(state, step, s.state * s.hidden),
                  yNow = s.at(y, step, s.hidden);
    const Operand cBefore = step > 0 ? c : c0;
    if (step > 0 || h0)
      emitProduct(plan, {.name = "lstm step",
                         .m = s.batch,
                         .n = s.width(),
                         .k = s.hidden,
                         .a = step > 0 ? h : h0,
                         .b = wHidden,
                         .c = gatesNow,
                         .transposeB = true,
                         .ldc = s.time * s.width(),
                         .beta = 1,
                         .kind = StageKind::recurrence});
    LstmCellArguments arguments{.samples = s.batch,
                                .hidden = s.hidden,
                                .gateStride = s.time * s.width(),
                                .stateStride = s.time * s.state * s.hidden,
                                .yStride = s.time * s.hidden};
    plan.kernel(named("lstm_cell", plan.factors()), overElements(perStep), {gatesNow, cBefore}, {stateNow, c, yNow, h},
                [=]() mutable {
                  arguments.gates = gatesNow.address<const float>();
                  arguments.state = stateNow.address<float>();
                  arguments.cBefore = cBefore.address<const float>();
                  arguments.c = c.address<float>();
                  arguments.y = yNow.address<float>();
                  arguments.h = h.address();
                  return arguments;
                });
  }
}

// The cells before a step: in the state of the step before, or c0.
struct Cells {
  Operand at;
  std::int64_t stride = 0;
};
Cells cellsBefore(const RecurrentShape& s, const Operand& state, const Operand& c0, std::int64_t step) {
  if (step == 0) return {c0, s.hidden};
  const std::int64_t row = s.state * s.hidden, from = 4 * s.hidden;
  return {part(s.at(state, step - 1, row), from, ((s.batch - 1) * s.time + 1) * row - from)
              .moving(static_cast<std::size_t>(s.batch * s.hidden) * sizeof(float)),
          s.time * row};
}

void lowerLstmGradient(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 4, 5);
  const Operand y = plan.read(operation.inputs[3]), state = plan.read(operation.inputs[4]),
                dy = plan.read(operation.inputs[5]);
  const Operand h0 = plan.read(inputOr(operation, 6)), c0 = plan.read(inputOr(operation, 7));
  const Operand wHidden = readPlainFactor(plan, operation.inputs[2]);
  const std::int64_t width = s.width(), row = s.state * s.hidden, perStep = s.batch * s.hidden;
  const Operand da = scratchOf(plan, s.rows() * width, plan.factors()),
                daStep = scratchOf(plan, s.batch * width, plan.factors());
  const Operand dh = scratchOf(plan, perStep, DataType::f32);
  const bool toH0 = plan.wanted(operation.outputs[4]), toC0 = plan.wanted(operation.outputs[5]);
  const Operand dc = toC0 ? plan.write(operation.outputs[5]) : scratchOf(plan, perStep, DataType::f32);
  // dh of the step before: da U.
  const auto back = [&](const Operand& to) {
    emitProduct(plan, {.name = "lstm_gradient step",
                       .m = s.batch,
                       .n = s.hidden,
                       .k = width,
                       .a = daStep,
                       .b = wHidden,
                       .c = to,
                       .kind = StageKind::recurrence});
  };
  for (std::int64_t step = s.time; step-- > 0;) {
    const bool last = step + 1 == s.time;
    if (!last) back(dh);
    const Operand now = s.at(state, step, row), dyNow = s.at(dy, step, s.hidden), daNow = s.at(da, step, width);
    const Operand behind = last ? Operand{} : dh, cellsBehind = last ? Operand{} : dc;
    const Cells before = cellsBefore(s, state, c0, step);
    LstmCellGradientArguments arguments{.samples = s.batch,
                                        .hidden = s.hidden,
                                        .stateStride = s.time * row,
                                        .cBeforeStride = before.stride,
                                        .dyStride = s.time * s.hidden,
                                        .daStride = s.time * width,
                                        .last = last};
    plan.kernel(named("lstm_cell_gradient", plan.factors()), overElements(perStep),
                {now, before.at, dyNow, behind, cellsBehind}, {daNow, daStep, dc}, [=]() mutable {
                  arguments.state = now.address<const float>();
                  arguments.cBefore = before.at.address<const float>();
                  arguments.dy = dyNow.address<const float>();
                  arguments.dh = behind.address<const float>();
                  arguments.dc = dc.address<float>();
                  arguments.da = daNow.address();
                  arguments.step = daStep.address();
                  return arguments;
                });
  }
  if (toH0) back(plan.write(operation.outputs[4]));
  emitToInputs(plan, s, operation, "lstm_gradient", da, da, y, h0);
  emitToBias(plan, s, da, operation.outputs[3]);
}

}  // namespace

LoweringRows lstmRows() {
  static const LoweringRow rows[] = {
      {"lstm", lowerLstm, {}, {{0}}, nullptr, StageKind::recurrence},
      {"lstm_gradient", lowerLstmGradient, {}, {{0}, true}, nullptr, StageKind::recurrence},
  };
  return rows;
}

}  // namespace loom::cuda
