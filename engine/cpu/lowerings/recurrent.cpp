#include "engine/cpu/lowerings/recurrent.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/gemm_bf16.h"

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

bool halvesFrames(const Plan& plan, const RecurrentShape& s) {
  const bool isFaster = s.batch >= 32 && s.hidden >= 256 && s.time >= 8;
  const std::int64_t width = s.gates * s.hidden;
  return !s.bf16 && s.gates % 2 == 0 && mayHalve(plan, s.batch, width, s.hidden, isFaster) &&
         mayHalve(plan, s.batch, s.hidden, width, isFaster);
}

StoredRef gateGradients(Plan& plan, const RecurrentShape& s) {
  const std::int64_t count = s.batch * s.time * s.gates * s.hidden;
  return {plan.scratch(s.bf16 ? (count + 1) / 2 : count).as<std::byte>(), s.bf16};
}

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
  if (!plan.wanted(dw)) return;
  const std::int64_t rows = s.gates * s.hidden;
  emitProduct(plan,
              {.name = named(s, name),
               .m = rows,
               .n = width,
               .k = s.batch * s.time,
               .a = da,
               .rowA = 1,
               .columnA = rows,
               .b = in,
               .rowB = width,
               .bf16 = s.bf16},
              plan.writeGradient(dw));
}

void emitRecurrentBiasGradient(Plan& plan, const RecurrentShape& s, const StoredRef& da, TensorId db) {
  if (!plan.wanted(db)) return;
  const auto target = plan.writeGradient(db);
  const std::int64_t width = s.gates * s.hidden, rows = s.batch * s.time;
  // Each thread some columns: no partial sums.
  plan.stage("recurrent bias gradient", [=](const Worker& worker) {
    const auto [first, last] = worker.share(width, 16);
    if (first == last) return;
    if (!target.adds(worker)) std::fill(target.to.get() + first, target.to.get() + last, 0.0f);
    sumRows(da.get().from(first), rows, last - first, width, target.to.get() + first);
  });
}

}  // namespace loom::cpu
