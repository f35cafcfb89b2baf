// lstm and lstm_gradient.
#include "engine/cuda/kernels/recurrent.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/recurrent.h"

namespace loom::cuda {
namespace {

// The cells before a step: in the state of the step before, or c0.
struct Cells {
  Operand at;
  std::int64_t stride = 0;
};
Cells cellsBefore(const RecurrentShape& s, const Operand& state, const Operand& c0, std::int64_t step) {
  if (step == 0) return {c0, s.hidden};
  const Operand row = s.at(state, step - 1, s.state * s.hidden);
  return {part(row, 4 * s.hidden, ((s.batch - 1) * s.time + 1) * s.state * s.hidden - 4 * s.hidden),
          s.time * s.state * s.hidden};
}

void lowerLstm(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 4, 5);
  const Operand h0 = readFactor(plan, inputOr(operation, 4)), c0 = plan.read(inputOr(operation, 5));
  const Operand wHidden = readFactor(plan, operation.inputs[2]);
  const Operand y = plan.write(operation.outputs[0]), state = plan.write(operation.outputs[1]);
  emitInputSide(plan, s, operation, "lstm", state);
  const bool copies = plan.factors() != DataType::f32;
  const Operand h = copies ? scratchOf(plan, s.batch * s.hidden, plan.factors()) : Operand{};
  const std::int64_t row = s.state * s.hidden;
  for (std::int64_t step = 0; step < s.time; ++step) {
    const Operand now = s.at(state, step, row), yNow = s.at(y, step, s.hidden);
    if (step > 0 || h0) {
      const bool strided = step > 0 && !copies;
      emitProduct(plan, {.name = "lstm step",
                         .m = s.batch,
                         .n = s.width(),
                         .k = s.hidden,
                         .a = step == 0 ? h0 : (copies ? h : s.at(y, step - 1, s.hidden)),
                         .b = wHidden,
                         .c = now,
                         .transposeB = true,
                         .lda = strided ? s.time * s.hidden : s.hidden,
                         .ldc = s.time * row,
                         .beta = 1});
    }
    const Cells before = cellsBefore(s, state, c0, step);
    LstmCellArguments arguments{.samples = s.batch,
                                .hidden = s.hidden,
                                .stateStride = s.time * row,
                                .cBeforeStride = before.stride,
                                .yStride = s.time * s.hidden};
    plan.kernel(named("lstm_cell", plan.factors()), overElements(s.batch * s.hidden), {now, before.at}, {now, yNow, h},
                [=]() mutable {
                  arguments.state = now.address<float>();
                  arguments.cBefore = before.at.address<const float>();
                  arguments.y = yNow.address<float>();
                  arguments.h = h.address();
                  return arguments;
                });
  }
}

void lowerLstmGradient(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 4, 5);
  const Operand y = plan.read(operation.inputs[3]), state = plan.read(operation.inputs[4]),
                dy = plan.read(operation.inputs[5]);
  const Operand h0 = plan.read(inputOr(operation, 6)), c0 = plan.read(inputOr(operation, 7));
  const Operand wHidden = readFactor(plan, operation.inputs[2]);
  const std::int64_t width = s.width(), row = s.state * s.hidden, perStep = s.batch * s.hidden;
  const Operand da = scratchOf(plan, s.rows() * width, plan.factors());
  const Operand dh = scratchOf(plan, perStep, DataType::f32);
  const bool toH0 = plan.wanted(operation.outputs[4]), toC0 = plan.wanted(operation.outputs[5]);
  const Operand dc = toC0 ? plan.write(operation.outputs[5]) : scratchOf(plan, perStep, DataType::f32);
  // dh of the step before: da U.
  const auto back = [&](std::int64_t step, const Operand& to) {
    emitProduct(plan, {.name = "lstm_gradient step",
                       .m = s.batch,
                       .n = s.hidden,
                       .k = width,
                       .a = s.at(da, step, width),
                       .b = wHidden,
                       .c = to,
                       .lda = s.time * width});
  };
  for (std::int64_t step = s.time; step-- > 0;) {
    const bool last = step + 1 == s.time;
    if (!last) back(step + 1, dh);
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
                {now, before.at, dyNow, behind, cellsBehind}, {daNow, dc}, [=]() mutable {
                  arguments.state = now.address<const float>();
                  arguments.cBefore = before.at.address<const float>();
                  arguments.dy = dyNow.address<const float>();
                  arguments.dh = behind.address<const float>();
                  arguments.dc = dc.address<float>();
                  arguments.da = daNow.address();
                  return arguments;
                });
  }
  if (toH0) back(0, plan.write(operation.outputs[4]));
  emitToInputs(plan, s, operation, "lstm_gradient", da, da, y, h0);
  emitToBias(plan, s, da, operation.outputs[3]);
}

const LoweringRow kRows[] = {
    {"lstm", lowerLstm, {}, {{0}}},
    {"lstm_gradient", lowerLstmGradient, {}, {{0}, true}},
};

}  // namespace

LoweringRows lstmRows() {
  return kRows;
}

}  // namespace loom::cuda
