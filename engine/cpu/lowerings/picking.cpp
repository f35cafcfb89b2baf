// resample, one_hot, top_k: numbers picked out of others.
#include <algorithm>

#include "engine/cpu/kernels/resample.h"
#include "engine/cpu/lowerings/around.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/ops/resample.h"

namespace loom::cpu {

void lowerResample(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const auto rank = static_cast<std::int64_t>(plan.shape(x).rank());
  std::int64_t axis = operation.attributes.integer("axis", 1);
  if (axis < 0) axis += rank;
  const Layout layout = plan.layoutOf(x);
  const AxisMap map = axisMapOf(operation.attributes, plan.shape(x)[axis]);
  const std::vector<float> weights(map.weights.begin(), map.weights.end());
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const Around large = around(plan.shape(x), layout, axis);
  const std::int64_t length = map.length(), size = large.inner;
  plan.stage("resample", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(large.outer * length);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t o = i / length;
      const auto a = static_cast<std::size_t>(i % length);
      const auto begin = static_cast<std::size_t>(map.starts[a]);
      addWeighted({map.places.data() + begin, weights.empty() ? nullptr : weights.data() + begin,
                   map.starts[a + 1] - map.starts[a], static_cast<float>(map.fill)},
                  from.get().from(o * large.extent * size), size, to.get().from(i * size));
    }
  });
}

void lowerOneHot(Plan& plan, const Operation& operation) {
  const TensorId indices = operation.inputs[0], y = operation.outputs[0];
  const std::int64_t classes = operation.attributes.integer("classes"), count = plan.shape(indices).elements();
  checkIndices(plan, indices, classes, "index");
  const auto from = plan.readInts(indices);
  const auto to = plan.writeStored(y, plainLayout(plan.shape(y).rank()));
  plan.stage("one_hot", [=](const Worker& worker) {
    const auto [first, last] = worker.share(count);
    const float one = 1, zero = 0;
    for (std::int64_t i = first; i < last; ++i) {
      fillStored(inF32(&zero), to.get().from(i * classes), classes);
      fillStored(inF32(&one), to.get().from(i * classes + from.get()[i]), 1);
    }
  });
}

void lowerTopK(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const std::int64_t n = plan.shape(x)[-1], k = operation.attributes.integer("k"), rows = plan.shape(x).elements() / n;
  const bool largest = operation.attributes.boolean("largest", true);
  const auto from = plan.read(x), values = plan.write(operation.outputs[0]), places = plan.write(operation.outputs[1]);
  const auto order = plan.scratchOfThreads(n);
  plan.stage("top_k", [=](const Worker& worker) {
    const auto [first, last] = worker.share(rows);
    for (std::int64_t row = first; row < last; ++row)
      firstInOrder(from.get() + row * n, n, k, largest, reinterpret_cast<std::int32_t*>(order.of(worker.thread)),
                   values.get() + row * k, places.get() + row * k);
  });
}

}  // namespace loom::cpu
