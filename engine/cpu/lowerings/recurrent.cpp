#include "engine/cpu/lowerings/recurrent.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/lstm_frames.h"
#include "engine/cpu/kernels/strassen.h"

namespace loom::cpu {

RecurrentShape recurrentShape(const Plan& plan, const Operation& operation, std::int64_t gates, std::int64_t state) {
  const Shape& x = plan.shape(operation.inputs[0]);
  return {x[0],
          x[1],
          x[2],
          plan.shape(operation.inputs[2])[1],
          gates,
          state,
          operation.attributes.boolean("reverse", false),
          plan.bf16()};
}

RowsOfFrames readRows(Plan& plan, const RecurrentShape& s, TensorId id) {
  if (isPlain(plan.shape(id), plan.layoutOf(id))) return {plan.readStored(id, plainLayout(3)), s, 1, s.time};
  return {plan.readStored(id, byFrame()), s, s.batch, 1};
}

void emitInputSide(Plan& plan, const RecurrentShape& s, TensorId x, TensorId wInput, const Ref<float>& bias,
                   const Plan::Target& state) {
  emitProduct(plan,
              {.name = named(s, "recurrent input side"),
               .m = s.batch * s.time,
               .n = s.gates * s.hidden,
               .k = s.channels,
               .a = plan.readStored(x, byFrame()),
               .rowA = s.channels,
               .b = inF32(plan.read(wInput)),
               .rowB = 1,
               .columnB = s.channels,
               .weight = wInput,
               .bias = bias,
               .ldc = s.state * s.hidden,
               .bf16 = s.bf16},
              state);
}

Ref<float> packHiddenByGate(Plan& plan, const RecurrentShape& s, TensorId wHidden) {
  const auto weights = plan.read(wHidden);
  const std::int64_t size = packedSize(s.hidden, s.hidden, s.bf16);
  const auto packGate = [=](const Ref<float>& packed, std::int64_t gate, std::int64_t first, std::int64_t last) {
    packB(packed.get() + gate * size, {weights.get() + gate * s.hidden * s.hidden, 1, s.hidden}, s.hidden, s.hidden,
          first, last, s.bf16);
  };
  if (plan.keepsPacked(wHidden, size * s.gates, s.batch * s.time)) {
    return plan.packedWeight(named(s, "hidden by gate") + " " + std::to_string(wHidden), size * s.gates,
                             [&](const Ref<float>& packed) {
                               for (std::int64_t gate = 0; gate < s.gates; ++gate)
                                 plan.prologue(wHidden, [=] { packGate(packed, gate, 0, panelsOf(s.hidden)); });
                             });
  }
  return plan.packInStep(wHidden, size * s.gates, {}, [=](const Ref<float>& packed) {
    return [=](const Worker& worker) {
      const auto [first, last] = worker.share(panelsOf(s.hidden));
      for (std::int64_t gate = 0; gate < s.gates; ++gate) packGate(packed, gate, first, last);
    };
  });
}

Ref<float> packHidden(Plan& plan, const RecurrentShape& s, TensorId wHidden) {
  return packedB(plan, wHidden, inF32(plan.read(wHidden)), s.hidden, 1, s.batch * s.time, s.gates * s.hidden, s.hidden,
                 s.bf16);
}

StoredRef gateGradients(Plan& plan, const RecurrentShape& s) {
  const std::int64_t count = s.batch * s.time * s.gates * s.hidden;
  return {plan.scratch(s.bf16 ? (count + 1) / 2 : count).as<std::byte>(), s.bf16};
}

namespace {

// h of the frame before for every row of y (h0 or 0 at the first), as one matrix.
StoredRef shiftedOutput(Plan& plan, const RecurrentShape& s, const StoredRef& y, const Ref<float>& h0) {
  const std::int64_t count = s.batch * s.time * s.hidden;
  const StoredRef shifted{plan.scratch(y.bf16 ? (count + 1) / 2 : count).as<std::byte>(), y.bf16};
  plan.stage("recurrent shift", [=](const Worker& worker) {
    const std::int64_t frame = s.batch * s.hidden;
    const auto [first, last] = worker.share(s.time);
    for (std::int64_t step = first; step < last; ++step) {
      const Stored to = shifted.get().from(s.frame(step, s.hidden));
      if (step > 0)
        copyStored(y.get().from(s.frame(step - 1, s.hidden)), to, frame);
      else if (h0)
        copyStored(inF32(h0.get()), to, frame);
      else
        std::memset(to.at, 0, static_cast<std::size_t>(frame) * (to.bf16 ? 2 : 4));
    }
  });
  return shifted;
}

// dW = da' in over so many rows.
void emitGradientOver(Plan& plan, const RecurrentShape& s, const std::string& name, std::int64_t rows,
                      const StoredRef& da, const StoredRef& in, std::int64_t width, TensorId dw) {
  const std::int64_t gates = s.gates * s.hidden;
  emitProduct(plan,
              {.name = named(s, name),
               .m = gates,
               .n = width,
               .k = rows,
               .a = da,
               .rowA = 1,
               .columnA = gates,
               .b = in,
               .rowB = width,
               .bf16 = s.bf16},
              plan.writeGradient(dw));
}

StoredRef from(const StoredRef& numbers, std::int64_t elements) {
  return {numbers.at.at(elements * (numbers.bf16 ? 2 : 4)), numbers.bf16};
}

}  // namespace

void emitInputGradient(Plan& plan, const RecurrentShape& s, const std::string& name, const StoredRef& da,
                       TensorId wInput, TensorId dx) {
  if (!plan.wanted(dx)) return;
  const std::int64_t width = s.gates * s.hidden;
  const bool half = plan.tensor(dx).type == DataType::bf16 && width <= kLongestToHalf;
  emitProduct(plan,
              {.name = named(s, name),
               .m = s.batch * s.time,
               .n = s.channels,
               .k = width,
               .a = da,
               .rowA = width,
               .b = inF32(plan.read(wInput)),
               .rowB = s.channels,
               .weight = wInput,
               .bf16 = s.bf16},
              half ? Plan::Target{.half = plan.writeStored(dx, byFrame()).at.as<std::uint16_t>()}
                   : Plan::Target{plan.write(dx, byFrame())});
}

void emitWeightGradient(Plan& plan, const RecurrentShape& s, const std::string& name, const StoredRef& da,
                        const StoredRef& in, std::int64_t width, TensorId dw) {
  if (plan.wanted(dw)) emitGradientOver(plan, s, name, s.batch * s.time, da, in, width, dw);
}

void emitHiddenWeightGradient(Plan& plan, const RecurrentShape& s, const std::string& name, const StoredRef& da,
                              const StoredRef& y, const Ref<float>& h0, TensorId dw) {
  if (!plan.wanted(dw)) return;
  // Without h0, the first frame multiplies nothing: da of the other frames stands beside y of those before them, where
  // both are. (Unless the product of one frame less could not be halved.)
  const std::int64_t gates = s.gates * s.hidden, rows = s.batch * s.time, without = rows - s.batch;
  if (h0 || s.time == 1 || (canHalve(gates, s.hidden, rows) && !canHalve(gates, s.hidden, without)))
    return emitGradientOver(plan, s, name, rows, da, shiftedOutput(plan, s, y, h0), s.hidden, dw);
  const auto firstOf = [&](std::int64_t step) { return std::min(s.frame(step, 1), s.frame(step + s.time - 2, 1)); };
  emitGradientOver(plan, s, name, without, from(da, firstOf(1) * gates), from(y, firstOf(0) * s.hidden), s.hidden, dw);
}

void RecurrentBiasGradient::add(const Worker& worker, std::int64_t step) const {
  if (!m_to.to) return;
  const RecurrentShape& s = m_shape;
  const auto [first, last] = unitsOf(worker, s);
  const std::int64_t width = s.gates * s.hidden;
  for (std::int64_t unit = first; unit < width; unit += s.hidden) {
    float* const to = m_to.to.get() + unit;
    if (worker.phase == 0 && !m_to.adds(worker)) std::fill_n(to, last - first, 0.0f);
    sumRows(m_da.get().from(s.frame(step, width) + unit), s.batch, last - first, width, to);
  }
}

void RecurrentBiasGradient::addSixteens(const Worker& worker, const float* da) const {
  if (!m_to.to) return;
  const RecurrentShape& s = m_shape;
  const auto [first, last] = unitsOf(worker, s);
  for (std::int64_t gate = 0; gate < s.gates; ++gate) {
    float* const to = m_to.to.get() + gate * s.hidden;
    if (worker.phase == 0 && !m_to.adds(worker)) std::fill(to + first, to + last, 0.0f);
    for (std::int64_t unit = first; unit < last; unit += 16)
      sumRows(inF32(da + Sixteens{s.batch}.at(gate * s.hidden + unit, 0)), s.batch, 16, 16, to + unit);
  }
}

}  // namespace loom::cpu
