// plan: what a run will cost before it starts, on this machine or on a GPU that need not be here.
#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/gpu_plan.h"
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
  bool json = false;
};

int planHere(const PlanArguments& given, const Project& project) {
  const TrainSettings settings = readSettings(project.training.settings);
  const auto backend = makeBackend(given.device, settings.threads);
  const ProjectPlan plan = planTraining(project, [&](const Program& program) {
    Recomputation told;
    const auto bytes = backend->measure(program, {.precision = settings.precision,
                                                  .tf32 = settings.tf32,
                                                  .threads = settings.threads,
                                                  .memoryBudget = settings.memoryBudget,
                                                  .recomputation = &told});
    return StepMemory{.activations = static_cast<std::int64_t>(bytes.shared),
                      .inputs = static_cast<std::int64_t>(bytes.lasting),
                      .keptActivations = static_cast<std::int64_t>(told.without),
                      .operationsAgain = told.operations,
                      .againMultiplyAdds = told.multiplyAdds};
  });
  fmt::print("{}", given.json ? toJson(plan).dump(2) + "\n" : toText(plan));
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
  verb->add_flag("--json", given->json, "One JSON object");
  verb->callback([&session, given] { session.chosen = [given] { return plan(*given); }; });
}

}  // namespace loom
