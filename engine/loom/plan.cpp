// plan: what a run will cost before it starts, on this machine or on a GPU that need not be here.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/gpu_plan.h"
#include "engine/loom/processor_plan.h"
#include "engine/loom/verbs.h"
#include "engine/network/project_arguments.h"
#include "engine/program/backend.h"
#include "engine/run/exit_code.h"
#include "engine/training/settings.h"

namespace loom {

namespace {

struct PlanArguments {
  std::string project;
  std::vector<std::string> settings;
  std::string device = "auto", calibration;
  bool json = false, calibrate = false;
};

// Measured where that is wanted, else as they are kept, else assumed.
ProcessorTimes timesOf(const PlanArguments& given, int threads) {
  if (!given.calibrate) return knownProcessor(threads);
  readProcessorTimes(keptProcessorTimes(), {});  // a file that cannot be added to is said before the work
  const ProcessorTimes times = measureProcessor(*makeBackend("cpu", threads), threads, [](const std::string& what) {
    std::fprintf(stderr, "measuring this processor: %s\n", what.c_str());
  });
  keepProcessorTimes(keptProcessorTimes(), times);
  return times;
}

int planHere(const PlanArguments& given, const Project& project) {
  const ProcessorPlan plan = planOnProcessor(project, timesOf(given, readSettings(project.training.settings).threads));
  if (given.json) {
    Json all = toJson(plan.memory);
    all["step"] = toJson(plan.step);
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{}{}", toText(plan.memory), toText(plan.step));
  }
  return kExitDone;
}

int planThere(const PlanArguments& given, const Project& project) {
  const GpuPlan plan = planOnGpu(project, openPlannedGpu(given.device),
                                 given.calibration.empty() ? assumedEfficiency() : readCalibration(given.calibration));
  const CostPlan& memory = plan.memory.total;
  if (given.json) {
    Json all = toJson(plan.memory);
    all["step"] = toJson(plan.step, memory);
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{}{}", toText(plan.memory), toText(plan.step, memory));
  }
  return kExitDone;
}

int plan(const PlanArguments& given) {
  const bool here = given.device == "auto" || given.device == "cpu";
  if (here && !given.calibration.empty())
    throwError(ErrorCode::badArgument, "--calibration is for a GPU: name it with --device");
  if (!here && given.calibrate)
    throwError(ErrorCode::badArgument,
               "--calibrate measures this machine's processor, but --device is {}; a GPU is measured by "
               "tests/gpu/run.sh, whose file --calibration takes",
               given.device);
  const Project project = loadForTraining(projectFile(given.project), given.settings).project;
  if (!here) return planThere(given, project);
  return planHere(given, project);
}

}  // namespace

void addPlan(CLI::App& app, Session& session) {
  auto given = std::make_shared<PlanArguments>();
  CLI::App* verb = app.add_subcommand("plan", "What a run will cost before it starts");
  verb->add_option("PROJECT", given->project, "The .loom file, or a folder with one")->required();
  verb->add_option("--set", given->settings, "As of loom train")->type_name("KEY=VALUE")->expected(1, -1);
  verb->add_option("--device", given->device,
                   "auto or cpu: this machine; h100, h200, a100: predicted for one; cuda: for the GPU that is here");
  verb->add_option("--calibration", given->calibration, "What tests/gpu/run.sh measured, in place of what is assumed")
      ->type_name("FILE");
  verb->add_flag(
      "--calibrate", given->calibrate,
      "Measure this machine's processor first, in some seconds, and keep what was found for every later plan");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->callback([&session, given] { session.chosen = [given] { return plan(*given); }; });
}

}  // namespace loom
