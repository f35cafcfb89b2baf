// softmax and its gradient, over any axis (which is made innermost).
#include "engine/cpu/kernels/softmax.h"

#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {

void lowerSoftmax(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", -1));
  const auto from = plan.read(x, view.layout), to = plan.write(y, view.layout);
  plan.mayOverwrite(y, x);
  plan.stage("softmax", {}, layoutName(plan.shape(x), view.layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(view.rows);
    for (std::int64_t r = first; r < last; ++r)
      softmaxRow(from.get() + r * view.channels, to.get() + r * view.channels, view.channels);
  });
}

void lowerSoftmaxGradient(Plan& plan, const Operation& operation) {
  const TensorId y = operation.inputs[0], dy = operation.inputs[1], dx = operation.outputs[0];
  const ChannelView view = channelView(plan, y, operation.attributes.integer("axis", -1));
  const auto from = plan.read(y, view.layout), gradient = plan.read(dy, view.layout), to = plan.write(dx, view.layout);
  plan.mayOverwrite(dx, dy);
  plan.stage("softmax_gradient", {}, layoutName(plan.shape(y), view.layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(view.rows);
    for (std::int64_t r = first; r < last; ++r) {
      const std::int64_t at = r * view.channels;
      softmaxGradientRow(from.get() + at, gradient.get() + at, to.get() + at, view.channels);
    }
  });
}

}  // namespace loom::cpu
