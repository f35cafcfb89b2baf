#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/planner/numbers_text.h"
#include "engine/planner/step_time.h"

namespace loom {
namespace {

constexpr const char* kPredicted = "predicted, not measured";

std::string bytes(double count) {
  return scaledText(count, 1000, {"B", "kB", "MB", "GB", "TB"});
}
std::string operations(double count) {
  return count == 0 ? "-" : scaledText(count, 1000, {" ", "k", "M", "G", "T", "P"});
}
std::string time(double seconds) {
  return scaledText(seconds * 1e9, 1000, {"ns", "us", "ms", "s"});
}

std::string table(const StepTimes& step) {
  std::string text =
      fmt::format("  {:<36}{:>8}{:>12}{:>12}{:>12}{:>8}\n", "op", "stages", "bytes", "operations", "time", "share");
  const auto line = [&](const std::string& op, double stages, double moved, double computed, double seconds) {
    text += fmt::format("  {:<36}{:>8}{:>12}{:>12}{:>12}{:>6.1f} %\n", op, std::lround(stages), bytes(moved),
                        operations(computed), time(seconds), 100 * seconds / step.seconds);
  };
  OpTime all;
  for (const OpTime& op : step.ops) {
    line(op.op, op.stages, op.bytes, op.operations, op.seconds);
    all.stages += op.stages;
    all.bytes += op.bytes;
    all.operations += op.operations;
    all.seconds += op.seconds;
  }
  line("together", all.stages, all.bytes, all.operations, all.seconds);
  return text;
}

std::string together(const StepTimes& step) {
  return fmt::format("  {:<36}{:>20}, {}\n", "a step", time(step.seconds), kPredicted) +
         fmt::format("  {:<36}{:>20}, {}\n", "samples a second", groupedText(std::llround(step.samplesPerSecond())),
                     kPredicted);
}

Json opsOf(const StepTimes& step) {
  Json ops = Json::array();
  for (const OpTime& op : step.ops)
    ops.push_back({{"op", op.op},
                   {"stages", op.stages},
                   {"bytes", op.bytes},
                   {"operations", op.operations},
                   {"seconds", op.seconds},
                   {"share", op.seconds / step.seconds}});
  return ops;
}

Json stagesOf(const StepTimes& step) {
  Json stages = Json::array();
  for (const StepTimes::Stage& stage : step.stages)
    stages.push_back({{"op", stage.cost.op},
                      {"kernel", stage.cost.kernel},
                      {"layer", stage.cost.origin},
                      {"kind", kStageKindNames[static_cast<std::size_t>(stage.cost.kind)]},
                      {"update", stage.update},
                      {"times", stage.times},
                      {"read_bytes", stage.cost.read},
                      {"written_bytes", stage.cost.written},
                      {"operations", stage.cost.operations},
                      {"seconds", stage.seconds}});
  return stages;
}

std::string efficiencies(const StepPrediction& step) {
  const GpuModel& gpu = step.gpu;
  std::string text = fmt::format(
      "shares of the data sheet ({} a second of memory, {} from the host; operations a second: f32 {}, tf32 {}, 16 "
      "bits "
      "{}), {}\n",
      bytes(gpu.bandwidth), bytes(gpu.link), operations(gpu.f32), operations(gpu.tf32), operations(gpu.sixteenBits),
      step.efficiency.source);
  text += fmt::format("  {:<14}{:>10}{:>8}{:>8}{:>8}{:>8}\n", "", "memory", "f32", "tf32", "bf16", "f16");
  for (std::size_t k = 0; k < kStageKindNames.size(); ++k) {
    const GpuEfficiency::Kind& kind = step.efficiency.kinds[k];
    text += fmt::format("  {:<14}{:>10.2f}", kStageKindNames[k], kind.bandwidth);
    const auto which = static_cast<StageKind>(k);
    if (which != StageKind::memory && which != StageKind::update)
      text += fmt::format("{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}", kind.f32, kind.tf32, kind.bf16, kind.f16);
    text += "\n";
  }
  text += fmt::format("  {:<14}{:>10.2f}\n", "from the host", step.efficiency.link);
  return text +
         fmt::format("  {} from one kernel to the next in a captured graph\n", time(step.efficiency.launchSeconds));
}

}  // namespace

std::string toText(const StepPrediction& step, const CostPlan& memory) {
  const std::int64_t taken = memory.totalBytes();
  std::string text = fmt::format("a step of {} samples in {}{} on {}: {}\n", groupedText(step.batch),
                                 toString(step.precision), step.tf32 ? " (tf32)" : "", step.gpu.name, kPredicted);
  text += table(step);
  text += fmt::format("  {:<36}{:>8}{:>12}{:>12}{:>12}, meanwhile\n", "inputs from the host", "", bytes(step.uploaded),
                      "", time(step.uploadSeconds));
  text += together(step);
  text += fmt::format(
      "  {:<36}{:>20} of {}{}\n", "memory", bytesText(taken), bytesText(step.gpu.memoryBytes),
      taken > step.gpu.memoryBytes ? ": it does not fit; a larger \"accumulate\" or a smaller batch would" : "");
  text += efficiencies(step);
  return text + "not in it: what the host adds, what ranks exchange, and what CUDA and cuDNN keep for themselves\n";
}

Json toJson(const StepPrediction& step, const CostPlan& memory) {
  return {{"device", step.gpu.name},
          {"word", kPredicted},
          {"precision", toString(step.precision)},
          {"tf32", step.tf32},
          {"batch", step.batch},
          {"step_seconds", step.seconds},
          {"samples_per_second", step.samplesPerSecond()},
          {"memory_bytes", memory.totalBytes()},
          {"device_memory_bytes", step.gpu.memoryBytes},
          {"upload_bytes", step.uploaded},
          {"upload_seconds", step.uploadSeconds},
          {"efficiencies", toJson(step.efficiency)},
          {"ops", opsOf(step)},
          {"stages", stagesOf(step)}};
}

std::string toText(const ProcessorPrediction& step) {
  return fmt::format("a step of {} samples in {} on {}: {}; {}\n", groupedText(step.batch), toString(step.precision),
                     step.processor.machine, kPredicted, sourceOf(step.processor)) +
         table(step) + together(step);
}

Json toJson(const ProcessorPrediction& step) {
  return {{"device", step.processor.machine},
          {"word", kPredicted},
          {"source", sourceOf(step.processor)},
          {"measured", !step.processor.points.empty()},
          {"measured_on", step.processor.date},
          {"precision", toString(step.precision)},
          {"batch", step.batch},
          {"step_seconds", step.seconds},
          {"samples_per_second", step.samplesPerSecond()},
          {"ops", opsOf(step)},
          {"stages", stagesOf(step)}};
}

std::vector<NodeTimes> nodeTimes(const Json& step) {
  constexpr std::size_t kMostUpdates = 1000;
  std::vector<NodeTimes> updates;
  try {
    for (const Json& stage : step.at("stages")) {
      const auto update = stage.at("update").get<std::size_t>();
      const auto layer = stage.at("layer").get<std::string>();
      const double seconds = stage.at("seconds").get<double>() * stage.at("times").get<double>();
      if (update >= kMostUpdates || !(seconds >= 0))
        throwError(ErrorCode::badData, "a stage of update {} that takes {} s", update, seconds);
      if (updates.size() <= update) updates.resize(update + 1);
      (layer.empty() ? updates[update].rest : updates[update].nodes[layer]) += seconds;
    }
  } catch (const Json::exception& error) {
    throwError(ErrorCode::badData, "no prediction of a step: {}", error.what());
  }
  return updates;
}

}  // namespace loom
