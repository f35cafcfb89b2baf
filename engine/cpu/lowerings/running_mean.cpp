// running_mean: the mean of all batches' means so far, in the states' own memory.
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {

void lowerRunningMean(Plan& plan, const Operation& operation) {
  const std::int64_t count = plan.shape(operation.inputs[0]).elements();
  const auto batch = plan.read(operation.inputs[0]), mean = plan.read(operation.inputs[1]),
             batches = plan.read(operation.inputs[2]);
  const auto to = plan.write(operation.outputs[0]), share = plan.write(operation.outputs[1]);
  plan.stage("running_mean", [=](const Worker& worker) {
    const float part = 1 / (batches.get()[0] + 1);
    if (worker.phase == 0) {
      const auto [first, last] = worker.share(count);
      for (std::int64_t i = first; i < last; ++i)
        to.get()[i] = mean.get()[i] += part * (batch.get()[i] - mean.get()[i]);
      return;
    }
    if (worker.index != 0) return;
    batches.get()[0] += 1;
    share.get()[0] = part;
  });
  plan.phases(2);
}

}  // namespace loom::cpu
