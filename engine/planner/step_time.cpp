#include "engine/planner/step_time.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace loom {

StepTimes predictStep(std::span<const UpdateCost> updates, std::int64_t batch, DataType precision,
                      const std::function<double(const StageCost&)>& secondsOf) {
  StepTimes step{.precision = precision, .batch = batch};
  std::map<std::string, OpTime> ops;
  double moved = 0;
  for (const UpdateCost& update : updates)
    moved += static_cast<double>(update.passes) * bytesMoved(update.pass.stages) + bytesMoved(update.update.stages);
  enum class Part { record, pass, update };
  const auto add = [&](const StepCost& cost, std::size_t update, double times, Part part) {
    const bool recorded = part == Part::record;
    for (StageCost stage : cost.stages) {
      stage.step = moved;
      if (recorded) stage.origin.clear();  // a layer's own time is what it trains
      const double seconds = secondsOf(stage);
      step.stages.push_back({stage, update, times, seconds, part == Part::update, recorded});
      OpTime& op = ops[recorded ? kRecordedOp : stage.op];
      op.stages += times * stage.calls;
      op.bytes += times * (stage.read + stage.written);
      op.operations += times * stage.operations;
      op.seconds += times * seconds;
      step.seconds += times * seconds;
    }
  };
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const UpdateCost& each = updates[i];
    const double share = 1.0 / static_cast<double>(each.every);
    if (each.recordEvery > 0)
      add(each.record, i,
          static_cast<double>(each.recordPasses) / static_cast<double>(std::lcm(each.every, each.recordEvery)),
          Part::record);
    add(each.pass, i, share * static_cast<double>(each.passes), Part::pass);
    add(each.update, i, share, Part::update);
  }
  for (auto& [name, op] : ops) {
    op.op = name;
    step.ops.push_back(std::move(op));
  }
  std::stable_sort(step.ops.begin(), step.ops.end(),
                   [](const OpTime& a, const OpTime& b) { return a.seconds > b.seconds; });
  return step;
}

StepPrediction predictStep(std::span<const UpdateCost> updates, std::int64_t batch, DataType precision,
                           const GpuModel& gpu, const GpuEfficiency& efficiency) {
  StepPrediction step{
      predictStep(updates, batch, precision, [&](const StageCost& stage) { return secondsOf(stage, gpu, efficiency); }),
      gpu, efficiency};
  for (const UpdateCost& update : updates)
    step.uploaded += (static_cast<double>(update.passes) * update.pass.uploaded + update.update.uploaded) /
                     static_cast<double>(update.every);
  step.tf32 = std::any_of(step.stages.begin(), step.stages.end(),
                          [](const StepTimes::Stage& stage) { return stage.cost.tf32; });
  step.uploadSeconds = step.uploaded / (gpu.link * efficiency.link);
  step.seconds = std::max(step.seconds, step.uploadSeconds);
  return step;
}

ProcessorPrediction predictStep(std::span<const UpdateCost> updates, std::int64_t batch, DataType precision,
                                const ProcessorTimes& processor) {
  return {predictStep(updates, batch, precision, [&](const StageCost& stage) { return secondsOf(stage, processor); }),
          processor};
}

}  // namespace loom
