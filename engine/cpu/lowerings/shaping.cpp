// concatenate, slice, slice_gradient, reshape, stop_gradient, transpose: the last three only rename memory.
#include <algorithm>
#include <cstring>

#include "engine/cpu/lowerings/around.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
void lowerConcatenate(Plan& plan, const Operation& operation) {
  const TensorId y = operation.outputs[0];
  const std::int64_t axis = operation.attributes.integer("axis", 1);
  const Layout layout = commonLayout(plan, operation.inputs);
  struct Part {
    StoredRef from;
    std::int64_t count, at;
  };
  std::vector<Part> parts;
  const Around whole = around(plan.shape(y), layout, axis);
  std::int64_t at = 0;
  for (TensorId id : operation.inputs) {
    const std::int64_t count = around(plan.shape(id), layout, axis).extent * whole.inner;
    parts.push_back({plan.readStored(id, layout), count, at});
    at += count;
  }
  const auto to = plan.writeStored(y, layout);
  plan.stage("concatenate", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    if (whole.outer == 1) {
      for (const Part& part : parts) {
        const auto [first, last] = worker.share(part.count, 16);
        copyStored(part.from.get().from(first), to.get().from(part.at + first), last - first);
      }
      return;
    }
    const auto [first, last] = worker.share(whole.outer);
    for (std::int64_t o = first; o < last; ++o) {
      for (const Part& part : parts) {
        copyStored(part.from.get().from(o * part.count), to.get().from(o * whole.extent * whole.inner + part.at),
                   part.count);
      }
    }
  });
}

void lowerSlice(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const std::int64_t axis = operation.attributes.integer("axis", 1), start = operation.attributes.integer("start", 0),
                     step = operation.attributes.integer("step", 1);
  const Layout layout = plan.layoutOf(x);
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const Around large = around(plan.shape(x), layout, axis), small = around(plan.shape(y), layout, axis);
  plan.stage("slice", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(large.outer * small.extent);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t o = i / small.extent, k = i % small.extent;
      copyStored(from.get().from((o * large.extent + start + k * step) * large.inner), to.get().from(i * large.inner),
                 large.inner);
    }
  });
}

void lowerSliceGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], dx = operation.outputs[0];
  const std::int64_t axis = operation.attributes.integer("axis", 1), start = operation.attributes.integer("start", 0),
                     step = operation.attributes.integer("step", 1);
  const Layout layout = plan.layoutOf(dy);
  const auto from = plan.readStored(dy, layout), to = plan.writeStored(dx, layout);
  const Around large = around(plan.shape(dx), layout, axis), small = around(plan.shape(dy), layout, axis);
  plan.stage("slice_gradient", {}, layoutName(plan.shape(dx), layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(large.outer * large.extent);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t o = i / large.extent, away = i % large.extent - start;
      const std::int64_t k = away / step;
      const Stored out = to.get().from(i * large.inner);
      if (away % step == 0 && k >= 0 && k < small.extent) {
        copyStored(from.get().from((o * small.extent + k) * large.inner), out, large.inner);
      } else {
        std::memset(out.at, 0, static_cast<std::size_t>(large.inner) * (out.bf16 ? 2 : 4));
      }
    }
  });
}

void lowerReshape(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  plan.alias(y, plainLayout(plan.shape(y).rank()), x, plainLayout(plan.shape(x).rank()));
}

void lowerStopGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  plan.alias(operation.outputs[0], plan.layoutOf(x), x, plan.layoutOf(x));
}

// Axis i of the result is axis axes[i] of x: the same memory under other names.
void lowerTranspose(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const auto rank = static_cast<std::int64_t>(plan.shape(x).rank());
  std::vector<int> nameOf(static_cast<std::size_t>(rank));
  int name = 0;
  for (std::int64_t axis : operation.attributes.integers("axes"))
    nameOf[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = name++;
  const Layout layout = plan.layoutOf(x);
  Layout renamed;
  for (int axis : layout) renamed.push_back(nameOf[static_cast<std::size_t>(axis)]);
  plan.alias(y, renamed, x, layout);
}

}  // namespace loom::cpu
