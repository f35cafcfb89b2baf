// running_mean: the states are changed where they stand, the count behind what reads it.
#include "engine/cuda/kernels/running_mean.h"

#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

void lowerRunningMean(Plan& plan, const Operation& operation) {
  const Operand batch = plan.read(operation.inputs[0]), mean = plan.read(operation.inputs[1]),
                batches = plan.read(operation.inputs[2]), to = plan.write(operation.outputs[0]);
  const TensorId shareId = operation.outputs[1];
  const Operand share = shareId == kNoTensor ? plan.scratch(sizeof(float)) : plan.write(shareId);
  const std::int64_t count = plan.shape(operation.inputs[0]).elements();
  plan.kernel("running_mean", overElements(count), {batch, batches, mean}, {mean, to}, [=] {
    return RunningMeanArguments{.batch = batch.address<const float>(),
                                .batches = batches.address<const float>(),
                                .mean = mean.address<float>(),
                                .y = to.address<float>(),
                                .count = count};
  });
  plan.kernel("count_batch", {.grid = {1}, .block = {32}}, {batches}, {batches, share}, [=] {
    return CountBatchArguments{.batches = batches.address<float>(), .share = share.address<float>()};
  });
}

}  // namespace

LoweringRows runningMeanRows() {
  static const LoweringRow rows[] = {{"running_mean", lowerRunningMean}};
  return rows;
}

}  // namespace loom::cuda
