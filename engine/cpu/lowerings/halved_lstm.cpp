#include "engine/cpu/lowerings/halved_lstm.h"

#include <algorithm>

#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/kernels/lstm_frames.h"
#include "engine/cpu/lowerings/halved_frames.h"

namespace loom::cpu {
namespace {

FramePart partOf(const Worker& worker, const RecurrentShape& s) {
  const auto [first, last] = unitsOf(worker, s);
  return {s.batch, s.hidden, first, last};
}

// Rows of hidden, or nothing, for this thread's units.
void toSixteens(const FramePart& part, const float* from, float* to) {
  const Sixteens sixteens{part.batch};
  for (std::int64_t n = 0; n < part.batch; ++n) {
    for (std::int64_t unit = part.first; unit < part.last; unit += 16) {
      if (from == nullptr)
        std::fill_n(to + sixteens.at(unit, n), 16, 0.0f);
      else
        std::copy_n(from + n * part.hidden + unit, 16, to + sixteens.at(unit, n));
    }
  }
}

// Of the units of other threads: the rows that these wrote.
void othersToSixteens(const FramePart& part, const float* rows, float* to) {
  toSixteens({part.batch, part.hidden, 0, part.first}, rows, to);
  toSixteens({part.batch, part.hidden, part.last, part.hidden}, rows, to);
}

// A thread's gates of a frame.
Ahead gatesOf(const FramePart& part, const float* state) {
  return {state + part.first, 5 * part.hidden, part.batch, part.last - part.first, part.hidden};
}

HiddenRows rowsOf(const RowsOfFrames& rows, std::int64_t step) {
  const float* const first = wideNumbers(rows.at(step, 0));
  return first == nullptr ? HiddenRows{} : HiddenRows{first, rows.sample * rows.shape.hidden};
}

}  // namespace

void emitHalvedLstm(Plan& plan, const RecurrentShape& s, TensorId wHidden, const LstmBefore& before,
                    const Ref<float>& state, const Ref<float>& y) {
  const Sixteens sixteens{s.batch};
  const HalvedFrames frames(plan, s, wHidden);
  const auto cells = plan.scratchOfThreads(sixteens.floats(s.hidden)),
             hOfThreads = plan.scratchOfThreads(sixteens.floats(s.hidden));
  plan.stage("lstm over time", kHalvedName, {}, [=](const Worker& worker) {
    const FramePart part = partOf(worker, s);
    const std::int64_t step = worker.phase;
    float *const c = cells.of(worker.index), *const h = hOfThreads.of(worker.index);
    if (step == 0) toSixteens(part, before.c0.get(), c);
    float* const gates = state.get() + s.frame(step, 5 * s.hidden);
    Ahead ahead = gatesOf(part, gates);
    if (step > 0) {
      othersToSixteens(part, y.get() + s.frame(step - 1, s.hidden), h);
      frames.multiply(worker, sixteens.columns(h), &ahead);
    } else if (before.h0) {
      frames.multiply(worker, {before.h0.get(), 1, s.hidden}, &ahead);
    }
    lstmFrame(part, step > 0 || before.h0 ? frames.columns(worker) : nullptr, gates, c, h,
              y.get() + s.frame(step, s.hidden));
    finishStreams();
  });
  plan.phases(s.time);
}

void emitHalvedLstmGradient(Plan& plan, const RecurrentShape& s, TensorId wHidden, const LstmBefore& before,
                            const Ref<float>& state, const LstmSlopes& slopes, const RecurrentBiasGradient& bias,
                            const Ref<float>& da) {
  const Sixteens sixteens{s.batch};
  const std::int64_t each = sixteens.floats(s.hidden);
  const HalvedFramesBack frames(plan, s, wHidden);
  const auto room = plan.scratchOfThreads(6 * each);
  const bool toFirst = static_cast<bool>(slopes.dh0);
  plan.stage("lstm_gradient over time", kHalvedName, {}, [=](const Worker& worker) {
    const FramePart part = partOf(worker, s);
    const std::int64_t step = s.time - 1 - worker.phase;  // -1: behind the first frame
    float *const dh = room.of(worker.index), *const dc = dh + each, *const daInSixteens = dc + each;
    if (worker.phase == 0) toSixteens(part, nullptr, dc);
    for (int thread = 0; thread < worker.count && worker.phase > 0; ++thread)
      addToSixteens(part, frames.columns(worker, thread), dh, thread > 0);
    if (step < 0) {
      rowsFromSixteens(part, dh, slopes.dh0.get());
      rowsFromSixteens(part, dc, slopes.dc0.get());
      return;
    }
    const std::int64_t row = 5 * s.hidden;
    const HiddenRows cBefore = step > 0    ? HiddenRows{state.get() + s.frame(step - 1, row) + 4 * s.hidden, row}
                               : before.c0 ? HiddenRows{before.c0.get(), s.hidden}
                                           : HiddenRows{};
    lstmFrameGradient(part, state.get() + s.frame(step, row), cBefore, rowsOf(slopes.dy, step),
                      worker.phase > 0 ? dh : nullptr, dc, da.get() + s.frame(step, 4 * s.hidden), daInSixteens);
    bias.addSixteens(worker, daInSixteens);
    Ahead ahead = gatesOf(part, state.get() + s.frame(std::max<std::int64_t>(step - 1, 0), row));
    if (step > 0 || toFirst) frames.multiply(worker, sixteens.columns(daInSixteens), &ahead);
    finishStreams();
  });
  plan.phases(s.time + (toFirst ? 1 : 0));
}

}  // namespace loom::cpu
