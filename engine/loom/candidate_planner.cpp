#include "engine/loom/candidate_planner.h"

#include "engine/loom/auto_precision.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/gpu_plan.h"
#include "engine/loom/processor_plan.h"
#include "engine/training/settings.h"

namespace loom {
namespace {

Project projectOf(const Json& json) {
  return readProject(json.dump(), "the candidate").project;
}

void settlePrecision(Project& project, const std::function<PrecisionChoice()>& choose) {
  if (isPrecisionAuto(project.training.settings)) project.training.settings["precision"] = toString(choose().precision);
}

CandidateScreen::Planner gpuPlanner(const std::string& device) {
  const auto gpu = std::make_shared<const PlannedGpu>(openPlannedGpu(device));
  return [gpu, device](const Json& json, TrialCost& cost) {
    Project project = projectOf(json);
    settlePrecision(project, [&] { return choosePrecisionOnGpu(project, device, ""); });
    const GpuPlan plan = planOnGpu(project, *gpu, assumedEfficiency());
    cost.step = plan.step.seconds;
    cost.memory = static_cast<double>(plan.memory.total.totalBytes());
  };
}

}  // namespace

CandidateScreen::Planner candidatePlanner(const std::string& device, int threads) {
  if (!device.empty() && device != "auto" && device != "cpu" && device != "reference") return gpuPlanner(device);
  const auto known = std::make_shared<std::map<int, ProcessorTimes>>();  // by threads: asked once
  return [known, threads](const Json& json, TrialCost& cost) {
    Project project = projectOf(json);
    const int used = threads >= 0 ? threads : readSettings(project.training.settings).threads;
    settlePrecision(project, [&] { return choosePrecisionOnProcessor(project, used, [](const std::string&) {}); });
    auto found = known->find(used);
    if (found == known->end()) found = known->emplace(used, knownProcessor(used)).first;
    const ProcessorPlan plan = planOnProcessor(project, found->second);
    cost.step = plan.step.seconds;
    cost.memory = static_cast<double>(plan.memory.total.totalBytes());
  };
}

}  // namespace loom
