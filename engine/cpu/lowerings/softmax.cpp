// softmax and its gradient, over any axis (which is made innermost).
#include "engine/cpu/kernels/softmax.h"

#include "engine/cpu/lowerings/lowerings.h"
#include "engine/cpu/lowerings/wide_rows.h"

namespace loom::cpu {

void lowerSoftmax(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", -1));
  const auto from = plan.readStored(x, view.layout), to = plan.writeStored(y, view.layout);
  plan.mayOverwrite(y, x);
  const WideRows wide(plan, view.channels, {from, to});
  plan.stage("softmax", {}, layoutName(plan.shape(x), view.layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(view.rows);
    for (std::int64_t r = first; r < last; ++r) {
      const float* x = wide.read(worker, 0, from.get().from(r * view.channels));
      float* y = wide.room(worker, 1, to.get().from(r * view.channels));
      softmaxRow(x, y, view.channels);
      wide.put(y, to.get().from(r * view.channels));
    }
  });
}

void lowerSoftmaxGradient(Plan& plan, const Operation& operation) {
  const TensorId y = operation.inputs[0], dy = operation.inputs[1], dx = operation.outputs[0];
  const ChannelView view = channelView(plan, y, operation.attributes.integer("axis", -1));
  const auto from = plan.readStored(y, view.layout), gradient = plan.readStored(dy, view.layout),
             to = plan.writeStored(dx, view.layout);
  plan.mayOverwrite(dx, dy);
  const WideRows wide(plan, view.channels, {from, gradient, to});
  plan.stage("softmax_gradient", {}, layoutName(plan.shape(y), view.layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(view.rows);
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t at = r * view.channels;
      const float *y = wide.read(worker, 0, from.get().from(at)), *dy = wide.read(worker, 1, gradient.get().from(at));
      float* dx = wide.room(worker, 2, to.get().from(at));
      softmaxGradientRow(y, dy, dx, view.channels);
      wide.put(dx, to.get().from(at));
    }
  });
}

}  // namespace loom::cpu
