#include "engine/loom/auto_precision.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/gpu_plan.h"
#include "engine/loom/processor_plan.h"

namespace loom {
namespace {

double secondsIn(const Project& project, std::string_view precision,
                 const std::function<StepTimes(const Project&)>& predict) {
  Project said = project;
  said.training.settings["precision"] = precision;
  return predict(said).seconds;
}

}  // namespace

bool isPrecisionAuto(const Json& settings) {
  const auto precision = settings.find("precision");
  return precision != settings.end() && *precision == "auto";
}

PrecisionChoice choosePrecision(const Project& project, const std::string& from,
                                const std::function<StepTimes(const Project&)>& predict) {
  PrecisionChoice choice{.f32Seconds = secondsIn(project, "f32", predict),
                         .bf16Seconds = secondsIn(project, "bf16", predict),
                         .from = from};
  if (choice.gain() >= kLeastGain) choice.precision = DataType::bf16;
  return choice;
}

PrecisionChoice choosePrecisionOnProcessor(const Project& project, int threads,
                                           const std::function<void(const std::string&)>& tell) {
  Project here = project;
  here.training.settings["threads"] = threads;
  const ProcessorTimes times = measuredProcessor(threads, tell);
  return choosePrecision(here, sourceOf(times),
                         [&times](const Project& said) { return planOnProcessor(said, times).step; });
}

PrecisionChoice choosePrecisionOnGpu(const Project& project, const std::string& device,
                                     const std::string& calibration) {
  const GpuEfficiency efficiency = calibration.empty() ? assumedEfficiency() : readCalibration(calibration);
  const PlannedGpu gpu = openPlannedGpu(device);
  return choosePrecision(project, efficiency.source,
                         [&](const Project& said) { return planOnGpu(said, gpu, efficiency).step; });
}

std::string toText(const PrecisionChoice& choice) {
  return fmt::format("{}: a step in bf16 is predicted to be {:.2f} times as fast as in f32 ({}){}",
                     toString(choice.precision), choice.gain(), choice.from,
                     choice.precision == DataType::bf16 ? "" : fmt::format("; under {:g} it does not pay", kLeastGain));
}

}  // namespace loom
