// gru and gru_gradient.
#include <algorithm>

#include "engine/cpu/kernels/recurrent.h"
#include "engine/cpu/lowerings/recurrent.h"

namespace loom::cpu {

void lowerGru(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 3, 4);
  const auto bias = plan.readOptional(inputOr(operation, 3)), hiddenBias = plan.readOptional(inputOr(operation, 4));
  const auto y = plan.write(operation.outputs[0], byFrame()), state = plan.write(operation.outputs[1], byFrame());
  emitInputSide(plan, s, operation.inputs[0], operation.inputs[1], bias, {state});
  const auto packed = packHiddenByGate(plan, s, operation.inputs[2]);
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  plan.stage(named(s, "gru over time"), productImplementation(s.bf16), {}, [=](const Worker& worker) {
    const auto [firstPanel, lastPanel] = worker.share(panelsOf(s.hidden));
    const std::int64_t firstUnit = firstPanel * panelWidth(), lastUnit = std::min(s.hidden, lastPanel * panelWidth());
    const std::int64_t row = s.state * s.hidden, step = worker.phase;
    float* now = state.get() + s.frame(step, row);
    const float* before = step > 0 ? y.get() + s.frame(step - 1, s.hidden) : nullptr;
    for (std::int64_t gate = 0; gate < s.gates && before != nullptr; ++gate) {
      // r and z are added to the input side; n is kept apart, in the fourth part.
      multiply({.m = s.batch,
                .n = s.hidden,
                .k = s.hidden,
                .a = {before, s.hidden, 1},
                .packed = packed.get() + gate * packedSize(s.hidden, s.hidden, s.bf16),
                .c = now + (gate == 2 ? 3 : gate) * s.hidden,
                .ldc = row,
                .accumulate = gate != 2},
               {0, s.batch, firstPanel, lastPanel}, scratch.of(worker.thread), s.bf16);
    }
    for (std::int64_t n = 0; n < s.batch; ++n) {
      float* mine = now + n * row;
      if (before == nullptr)
        std::fill(mine + 3 * s.hidden + firstUnit, mine + 3 * s.hidden + std::max(firstUnit, lastUnit), 0.0f);
      gruCell(mine, hiddenBias.get(), before == nullptr ? nullptr : before + n * s.hidden,
              y.get() + s.frame(step, s.hidden) + n * s.hidden, s.hidden, firstUnit, lastUnit);
    }
  });
  plan.phases(s.time);
}

void lowerGruGradient(Plan& plan, const Operation& operation) {
  const RecurrentShape s = recurrentShape(plan, operation, 3, 4);
  const TensorId x = operation.inputs[0], wInput = operation.inputs[1];
  const auto y = plan.read(operation.inputs[3], byFrame()), state = plan.read(operation.inputs[4], byFrame());
  const auto dy = readRows(plan, s, operation.inputs[5]);
  const std::int64_t width = s.gates * s.hidden;
  const auto a = gateGradients(plan, s), k = gateGradients(plan, s);
  const RecurrentBiasGradient bias(plan, s, a, operation.outputs[3]), hiddenBias(plan, s, k, operation.outputs[4]);
  // Each thread's own, of which it uses its units.
  const auto products = plan.scratchOfThreads(s.batch * s.hidden), directs = plan.scratchOfThreads(s.batch * s.hidden);
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  const auto packed = packHidden(plan, s, operation.inputs[2]);
  plan.stage(named(s, "gru_gradient over time"), productImplementation(s.bf16), {}, [=](const Worker& worker) {
    const auto [firstPanel, lastPanel] = worker.share(panelsOf(s.hidden));
    const std::int64_t firstUnit = firstPanel * panelWidth(),
                       lastUnit = std::max(firstUnit, std::min(s.hidden, lastPanel * panelWidth()));
    const std::int64_t row = s.state * s.hidden;
    const std::int64_t step = s.time - 1 - worker.phase;
    float *const product = products.of(worker.index), *const direct = directs.of(worker.index);
    for (std::int64_t n = 0; n < s.batch && worker.phase == 0; ++n)
      std::fill(direct + n * s.hidden + firstUnit, direct + n * s.hidden + lastUnit, 0.0f);
    if (step + 1 < s.time) {
      multiply({.m = s.batch,
                .n = s.hidden,
                .k = width,
                .a = viewOf(k.get().from(s.frame(step + 1, width)), width, 1),
                .packed = packed.get(),
                .c = product,
                .ldc = s.hidden},
               {0, s.batch, firstPanel, lastPanel}, scratch.of(worker.thread), s.bf16);
    }
    for (std::int64_t n = 0; n < s.batch; ++n) {
      const float* before = step > 0 ? y.get() + s.frame(step - 1, s.hidden) + n * s.hidden : nullptr;
      gruCellGradient(state.get() + s.frame(step, row) + n * row, before, dy.at(step, n),
                      step + 1 < s.time ? product + n * s.hidden : nullptr, direct + n * s.hidden,
                      a.get().from(s.frame(step, width) + n * width), k.get().from(s.frame(step, width) + n * width),
                      s.hidden, firstUnit, lastUnit);
    }
    bias.add(worker, step);
    hiddenBias.add(worker, step);
  });
  plan.phases(s.time);
  emitInputGradient(plan, s, "gru_gradient to input", a, wInput, operation.outputs[0]);
  emitWeightGradient(plan, s, "gru_gradient to w_input", a, plan.readStored(x, byFrame()), s.channels,
                     operation.outputs[1]);
  emitHiddenWeightGradient(plan, s, "gru_gradient to w_hidden", k, inF32(y), {}, operation.outputs[2]);
}

}  // namespace loom::cpu
