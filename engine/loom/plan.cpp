// plan: what a run will cost before it starts, on this machine or on a GPU that need not be here.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/auto_precision.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/gpu_plan.h"
#include "engine/loom/processor_plan.h"
#include "engine/loom/verbs.h"
#include "engine/network/project_arguments.h"
#include "engine/planner/exchange_plan.h"
#include "engine/planner/rank_step.h"
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
  int threads = 0;              // of a calibration without a project
  int ranks = 0, perHost = 0;   // 0: as many as the settings' virtual ranks; all on one host
  std::vector<double> between;  // delay in microseconds, bandwidth in Mbit/s
  std::vector<double> within;
  double computing = 0;  // milliseconds of a rank's step alone; 0: predicted
};

int ranksOf(const PlanArguments& given, const Project& project) {
  return given.ranks > 0 ? given.ranks : static_cast<int>(readSettings(project.training.settings).virtualRanks);
}

// Nothing where there is one rank.
std::vector<ExchangePlan> exchangeOf(const PlanArguments& given, const Project& project) {
  const int ranks = ranksOf(given, project);
  const bool links = !given.between.empty() || !given.within.empty();
  if (given.computing > 0 && (ranks <= 1 || !links))
    throwError(ErrorCode::badArgument,
               "--computing is for the step of several ranks over links: give --ranks and --between, too");
  if (ranks <= 1) return {};
  if (given.perHost > 0 && ranks % given.perHost != 0)
    throwError(ErrorCode::badArgument, "{} ranks cannot stand on hosts of {} each: --per-host takes a divisor of {}",
               ranks, given.perHost, ranks);
  // Who tells of links between hosts alone has ranks there.
  const int perHost = given.perHost > 0 ? given.perHost : given.within.empty() && !given.between.empty() ? 1 : ranks;
  ExchangeQuestion question{.ranks = ranks, .perHost = perHost == ranks ? 0 : perHost};
  const auto link = [](const std::vector<double>& of) { return Link{of[0] * 1e-6, of[1] * 1e6 / 8}; };
  if (links) question.links.emplace();
  if (!given.between.empty()) question.links->between = link(given.between);
  if (!given.within.empty()) question.links->within = link(given.within);
  return planExchange(project, question);
}

// A rank's step by itself: the samples that it has of the batch, the most that any has.
Project shareOf(Project project, int ranks) {
  Json& settings = project.training.settings;
  const TrainSettings read = readSettings(settings);
  const std::int64_t samples = (read.batch + ranks - 1) / ranks;
  settings["batch"] = samples;
  if (read.accumulate > samples) settings["accumulate"] = samples;
  for (const char* key : {"virtual_ranks", "batch_at", "batch_then"}) settings.erase(key);
  return project;
}

void tellMeasuring(const std::string& what) {
  std::fprintf(stderr, "measuring this processor: %s\n", what.c_str());
}

// Says the precision where it was left to the machine.
std::string settle(Project& project, const PrecisionChoice& choice) {
  project.training.settings["precision"] = toString(choice.precision);
  return toText(choice);
}

// `chosen`: how the precision was, where it was left to the machine; else empty. `predicted`: a step of one rank.
void print(const PlanArguments& given, const Project& project, const ProjectPlan& memory, const Json& step,
           const std::string& stepText, const std::string& chosen,
           const std::function<StepTimes(const Project&)>& predicted) {
  const std::vector<ExchangePlan> exchange = exchangeOf(given, project);
  std::optional<RankStep> ranks;
  if (!exchange.empty() && exchange.front().seconds)
    ranks = planRankStep(predicted(shareOf(project, exchange.front().ranks)), exchange,
                         given.computing > 0 ? std::optional(given.computing * 1e-3) : std::nullopt);
  if (given.json) {
    Json all = toJson(memory);
    all["step"] = step;
    if (!chosen.empty()) all["step"]["precision_chosen"] = chosen;
    if (!exchange.empty()) all["exchange"] = toJson(exchange);
    if (ranks) all["rank_step"] = toJson(*ranks);
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("{}{}{}{}{}", toText(memory), chosen.empty() ? "" : fmt::format("precision auto is {}\n", chosen),
               stepText, toText(exchange), ranks ? toText(*ranks) : "");
  }
}

int planHere(const PlanArguments& given, Project project) {
  const int threads = readSettings(project.training.settings).threads;
  if (given.calibrate) measuredProcessor(threads, tellMeasuring, true);
  std::string chosen;
  if (isPrecisionAuto(project.training.settings))
    chosen = settle(project, choosePrecisionOnProcessor(project, threads, tellMeasuring));
  const ProcessorPlan plan = planOnProcessor(project, knownProcessor(threads));
  print(given, project, plan.memory, toJson(plan.step), toText(plan.step), chosen,
        [&](const Project& share) -> StepTimes { return planOnProcessor(share, knownProcessor(threads)).step; });
  return kExitDone;
}

int planThere(const PlanArguments& given, Project project) {
  std::string chosen;
  if (isPrecisionAuto(project.training.settings))
    chosen = settle(project, choosePrecisionOnGpu(project, given.device, given.calibration));
  const auto planned = [&](const Project& of) {
    return planOnGpu(of, openPlannedGpu(given.device),
                     given.calibration.empty() ? assumedEfficiency() : readCalibration(given.calibration));
  };
  const GpuPlan plan = planned(project);
  const CostPlan& memory = plan.memory.total;
  print(given, project, plan.memory, toJson(plan.step, memory), toText(plan.step, memory), chosen,
        [&](const Project& share) -> StepTimes { return planned(share).step; });
  return kExitDone;
}

// The processor alone is measured, and what it is known to take is said.
int calibrateAlone(const PlanArguments& given) {
  const ProcessorTimes times = measuredProcessor(given.threads, tellMeasuring, true);
  if (given.json)
    fmt::print("{}\n",
               Json{{"device", times.machine}, {"source", sourceOf(times)}, {"measured_on", times.date}}.dump(2));
  else
    fmt::print("{}: predicted {}\n", times.machine, sourceOf(times));
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
  if (given.project.empty()) {
    if (!given.calibrate)
      throwError(ErrorCode::badArgument, "plan needs a PROJECT; without one it only measures: --calibrate");
    return calibrateAlone(given);
  }
  const Project project = loadForTraining(projectFile(given.project), given.settings).project;
  if (!here) return planThere(given, project);
  return planHere(given, project);
}

}  // namespace

void addPlan(CLI::App& app, Session& session) {
  auto given = std::make_shared<PlanArguments>();
  CLI::App* verb = app.add_subcommand("plan", "What a run will cost before it starts");
  verb->add_option("PROJECT", given->project, "The .loom file, or a folder with one; may be left out with --calibrate");
  verb->add_option("--set", given->settings, "As of loom train")->type_name("KEY=VALUE")->expected(1, -1);
  verb->add_option("--device", given->device,
                   "auto or cpu: this machine; h100, h200, a100: predicted for one; cuda: for the GPU that is here");
  verb->add_option("--calibration", given->calibration, "What tests/gpu/run.sh measured, in place of what is assumed")
      ->type_name("FILE");
  verb->add_flag(
      "--calibrate", given->calibrate,
      "Measure this machine's processor first, in some seconds, and keep what was found for every later plan");
  verb->add_option("--threads", given->threads, "Of --calibrate without a PROJECT; 0 = all that this process may use")
      ->check(CLI::Range(0, 4096));
  verb->add_option("--ranks", given->ranks, "What so many ranks exchange; by default the settings' virtual ranks")
      ->check(CLI::Range(1, 65536));
  verb->add_option("--per-host", given->perHost,
                   "How many of them share a host; by default all, or one where a link between hosts alone is given")
      ->check(CLI::Range(1, 65536));
  verb->add_option("--between", given->between,
                   "The link between hosts, for times of the exchange and of a step: microseconds that a small message "
                   "takes one way, and Mbit/s that one rank gets one way (of a link that ranks of a host share, its "
                   "part). mpirun -n 2 loom bench allreduce measures both; 10 Gbit/s Ethernet: --between 30 10000")
      ->type_name("DELAY_US MBIT_S")
      ->expected(2)
      ->check(CLI::PositiveNumber);
  verb->add_option("--within", given->within, "The link between ranks of a host, in the same way; by default 2 40000")
      ->type_name("DELAY_US MBIT_S")
      ->expected(2)
      ->check(CLI::PositiveNumber);
  verb->add_option("--computing", given->computing,
                   "Of ranks over links: what a step of one rank takes without the others, as it was measured; by "
                   "default as predicted")
      ->type_name("MS")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--json", given->json, "One JSON object");
  verb->callback([&session, given] { session.chosen = [given] { return plan(*given); }; });
}

}  // namespace loom
