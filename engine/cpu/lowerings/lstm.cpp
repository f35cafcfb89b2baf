// lstm and lstm_gradient.
#include <algorithm>

#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/kernels/recurrent.h"
#include "engine/cpu/lowerings/halved_frames.h"
#include "engine/cpu/lowerings/halved_lstm.h"

namespace loom::cpu {

void lowerLstm(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 4, 5);
  const auto bias = plan.readOptional(inputOr(operation, 3)), h0 = plan.readOptional(inputOr(operation, 4)),
             c0 = plan.readOptional(inputOr(operation, 5));
  const auto y = plan.writeStored(operation.outputs[0], byFrame());
  // In bf16 the state only keeps what the gradient reads: the products of a step, and the cell that goes from step to
  // step, stand in f32 beside it.
  const bool narrow = plan.tensor(operation.outputs[1]).type == DataType::bf16 && s.channels <= kLongestToHalf;
  const auto state =
      narrow ? plan.writeStored(operation.outputs[1], byFrame()) : inF32(plan.write(operation.outputs[1], byFrame()));
  emitInputSide(plan, s, operation.inputs[0], operation.inputs[1], bias,
                narrow ? Plan::Target{.half = state.at.as<std::uint16_t>()} : Plan::Target{state.at.as<float>()});
  if (halvesFrames(plan, s))
    return emitHalvedLstm(plan, s, operation.inputs[2], {h0, c0}, state.at.as<float>(), y.at.as<float>());
  const std::int64_t width = s.gates * s.hidden;
  // Each thread's own, of which it uses its units.
  const auto productsOfThreads = narrow ? plan.scratchOfThreads(s.batch * width) : Rooms{},
             cellsOfThreads = narrow ? plan.scratchOfThreads(s.batch * s.hidden) : Rooms{};
  const auto packed = packHiddenByGate(plan, s, operation.inputs[2]);
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  plan.stage(named(s, "lstm over time"), productImplementation(s.bf16), {}, [=](const Worker& worker) {
    const auto [firstUnit, lastUnit] = unitsOf(worker, s);
    const std::int64_t row = s.state * s.hidden, step = worker.phase;
    float *const products = productsOfThreads.of(worker.index), *const cells = cellsOfThreads.of(worker.index);
    const Stored now = state.get().from(s.frame(step, row)),
                 before = step > 0 ? y.get().from(s.frame(step - 1, s.hidden)) : inF32(h0.get());
    for (std::int64_t gate = 0; gate < s.gates && before; ++gate) {
      multiply({.m = s.batch,
                .n = s.hidden,
                .k = s.hidden,
                .a = viewOf(before, s.hidden, 1),
                .packed = packed.get() + gate * packedSize(s.hidden, s.hidden, s.bf16),
                .c = (narrow ? products : wideNumbers(now)) + gate * s.hidden,
                .ldc = narrow ? width : row,
                .accumulate = !narrow},
               {0, s.batch, firstUnit / panelWidth(), panelsOf(lastUnit)}, scratch.of(worker.thread), s.bf16);
    }
    for (std::int64_t n = 0; n < s.batch; ++n) {
      const Stored cell = step == 0 ? (c0 ? inF32(c0.get() + n * s.hidden) : Stored{})
                          : narrow  ? inF32(cells + n * s.hidden)
                                    : state.get().from(s.frame(step - 1, row) + n * row + 4 * s.hidden);
      lstmCell(now.from(n * row), narrow && before ? products + n * width : nullptr, cell,
               narrow ? cells + n * s.hidden : nullptr, y.get().from(s.frame(step, s.hidden) + n * s.hidden), s.hidden,
               firstUnit, lastUnit);
    }
  });
  plan.phases(s.time);
}

void lowerLstmGradient(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 4, 5);
  const TensorId x = operation.inputs[0], wInput = operation.inputs[1];
  const auto y = plan.readStored(operation.inputs[3], byFrame()),
             state = plan.readStored(operation.inputs[4], byFrame());
  const auto dy = readRows(plan, s, operation.inputs[5]);
  const auto h0 = plan.readOptional(inputOr(operation, 6)), c0 = plan.readOptional(inputOr(operation, 7));
  const std::int64_t width = s.gates * s.hidden;
  const auto da = gateGradients(plan, s);
  const RecurrentBiasGradient bias(plan, s, da, operation.outputs[3]);
  const bool first = plan.wanted(operation.outputs[4]) || plan.wanted(operation.outputs[5]);
  const auto dh0 = first ? plan.write(operation.outputs[4]) : Ref<float>{},
             dc0 = first ? plan.write(operation.outputs[5]) : Ref<float>{};
  const auto emitProducts = [&] {
    emitInputGradient(plan, s, "lstm_gradient to input", da, wInput, operation.outputs[0]);
    emitWeightGradient(plan, s, "lstm_gradient to w_input", da, plan.readStored(x, byFrame()), s.channels,
                       operation.outputs[1]);
    emitHiddenWeightGradient(plan, s, "lstm_gradient to w_hidden", da, y, h0, operation.outputs[2]);
  };
  if (halvesFrames(plan, s)) {
    emitHalvedLstmGradient(plan, s, operation.inputs[2], {h0, c0}, state.at.as<float>(), {dy, dh0, dc0}, bias,
                           da.at.as<float>());
    return emitProducts();
  }
  const auto dhOfThreads = plan.scratchOfThreads(s.batch * s.hidden),
             dcOfThreads = plan.scratchOfThreads(s.batch * s.hidden);
  const auto packed = packHidden(plan, s, operation.inputs[2]);
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  plan.stage(named(s, "lstm_gradient over time"), productImplementation(s.bf16), {}, [=](const Worker& worker) {
    const auto [firstUnit, lastUnit] = unitsOf(worker, s);
    const std::int64_t row = s.state * s.hidden;
    float *const dh = dhOfThreads.of(worker.index), *const dc = dcOfThreads.of(worker.index);
    // dh of the step before: da U, for this thread's units.
    const auto back = [&](std::int64_t step, float* to) {
      multiply({.m = s.batch,
                .n = s.hidden,
                .k = width,
                .a = viewOf(da.get().from(s.frame(step, width)), width, 1),
                .packed = packed.get(),
                .c = to,
                .ldc = s.hidden},
               {0, s.batch, firstUnit / panelWidth(), panelsOf(lastUnit)}, scratch.of(worker.thread), s.bf16);
    };
    const std::int64_t step = s.time - 1 - worker.phase;  // -1: behind the first frame
    if (step >= 0 && step + 1 < s.time) back(step + 1, dh);
    if (step < 0) back(0, dh0.get());
    for (std::int64_t n = 0; n < s.batch; ++n) {
      float* const slope = dc + n * s.hidden;
      if (worker.phase == 0) std::fill(slope + firstUnit, slope + lastUnit, 0.0f);
      if (step < 0) {
        std::copy(slope + firstUnit, slope + lastUnit, dc0.get() + n * s.hidden + firstUnit);
        continue;
      }
      const Stored cell = step > 0 ? state.get().from(s.frame(step - 1, row) + n * row + 4 * s.hidden)
                                   : (c0 ? inF32(c0.get() + n * s.hidden) : Stored{});
      lstmCellGradient(state.get().from(s.frame(step, row) + n * row), cell, dy.at(step, n),
                       step + 1 < s.time ? dh + n * s.hidden : nullptr, slope,
                       da.get().from(s.frame(step, width) + n * width), s.hidden, firstUnit, lastUnit);
    }
    if (step >= 0) bias.add(worker, step);
  });
  plan.phases(s.time + (first ? 1 : 0));
  emitProducts();
}

}  // namespace loom::cpu
