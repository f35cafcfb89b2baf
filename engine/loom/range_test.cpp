// range-test and noise-scale: short measurements that leave runs and projects as they are.
#include "engine/training/range_test.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/verbs.h"
#include "engine/network/project_arguments.h"
#include "engine/planner/critical_batch.h"
#include "engine/program/backend.h"
#include "engine/run/exit_code.h"
#include "engine/training/noise_scale.h"
#include "engine/training/run_description.h"
#include "engine/training/settings.h"

namespace loom {
namespace {

struct MeasureArguments {
  std::string project, run, device = "auto", folder;
  std::vector<std::string> settings;
  int update = 1, steps = 100;
  double from = 0, to = 0;
  std::int64_t shard = 0, samples = 8192;
  bool json = false;
};

void printLine(const Json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

Json numberOrNull(const std::optional<double>& value) {
  return value ? numberToJson(*value) : Json();
}

std::filesystem::path folderOf(const MeasureArguments& given, const std::filesystem::path& file) {
  return given.folder.empty() ? std::filesystem::absolute(file).parent_path() : std::filesystem::path(given.folder);
}

// Measurements are in 32 bits where the machine would have to choose.
void settle(Project& project) {
  if (project.training.settings.is_object() && project.training.settings.value("precision", "") == "auto")
    project.training.settings["precision"] = "f32";
}

int rangeTest(const MeasureArguments& given, const std::atomic<bool>& stop) {
  const std::filesystem::path file = projectFile(given.project);
  RangeTestOptions options{
      .project = loadForTraining(file, given.settings).project,
      .folder = folderOf(given, file),
      .update = static_cast<std::size_t>(given.update - 1),
      .steps = given.steps,
      .stop = &stop,
      .observer = [&given](const RangePoint& point) {
        const Json line = {{"step", point.step}, {"rate", point.rate}, {"loss", numberToJson(point.loss)}};
        if (given.json) printLine(line);
      }};
  if (given.from > 0) options.from = given.from;
  if (given.to > 0) options.to = given.to;
  settle(options.project);
  const auto backend = makeBackend(given.device, readSettings(options.project.training.settings).threads);
  const RangeTest test = rangeTest(*backend, options);
  const RangeReading& reading = test.reading;
  if (given.json) {
    Json smoothed = Json::array();
    for (const double loss : reading.smoothed) smoothed.push_back(numberToJson(loss));
    printLine({{"steps", test.points.size()},
               {"stopped", test.stopped},
               {"steepest", numberOrNull(reading.steepest)},
               {"diverged", numberOrNull(reading.diverged)},
               {"suggested", numberOrNull(reading.suggested)},
               {"learning_rate", numberOrNull(test.field)},
               {"smoothed", std::move(smoothed)}});
  } else {
    fmt::print("{:>6}{:>14}{:>12}{:>12}\n", "step", "rate", "loss", "smoothed");
    const std::size_t every = std::max<std::size_t>(1, test.points.size() / 20);
    for (std::size_t i = 0; i < test.points.size(); i += every)
      fmt::print("{:>6}{:>14.3g}{:>12.4g}{:>12}\n", test.points[i].step, test.points[i].rate, test.points[i].loss,
                 i < reading.smoothed.size() ? fmt::format("{:.4g}", reading.smoothed[i]) : "");
    if (reading.steepest) fmt::print("steepest at {:.3g}\n", *reading.steepest);
    fmt::print("{}\n", reading.diverged ? fmt::format("diverges at {:.3g}", *reading.diverged)
                       : test.stopped   ? "stopped"
                                        : "does not diverge up to there; --to tries higher rates");
    if (test.field)
      fmt::print("suggested: --set optimizer.learning_rate={:.2g}\n", *test.field);
    else
      fmt::print("no suggestion: the loss never fell; other bounds by --from and --to, or more --steps\n");
  }
  return test.stopped ? exitCode(ErrorCode::stopped) : kExitDone;
}

int noiseScale(const MeasureArguments& given, const std::atomic<bool>& stop) {
  NoiseScaleOptions options{
      .project = {},
      .folder = {},
      .run = {},
      .update = static_cast<std::size_t>(given.update - 1),
      .shard = given.shard,
      .samples = given.samples,
      .stop = &stop,
      .progress = [&given](const NoiseEstimate& estimate) {
        if (given.json)
          printLine({{"samples", estimate.samples()}, {"noise_scale", numberToJson(estimate.noiseScale())}});
      }};
  const RunFolder run{std::filesystem::absolute(given.run.empty() ? given.project : given.run)};
  const bool ofRun = std::filesystem::exists(run.runFile());
  if (!given.run.empty() && !ofRun)
    throwError(ErrorCode::missingFile, "{} is no run: it has no run.json", run.path.string());
  if (ofRun) options.run = run.path;
  if (ofRun && given.run.empty()) {
    RunDescription description = readRunDescription(run);
    options.project = std::move(description.project);
    options.folder = description.folder;
  } else {
    const std::filesystem::path file = projectFile(given.project);
    options.project = loadForTraining(file, given.settings).project;
    options.folder = folderOf(given, file);
  }
  settle(options.project);
  const auto backend = makeBackend(given.device, readSettings(options.project.training.settings).threads);
  const NoiseScale scale = measureNoiseScale(*backend, options);
  const std::string sentence =
      scale.atLeast ? std::string() : tradeSentence(scale.noise, static_cast<double>(scale.batch));
  if (given.json) {
    const BatchTrade twice =
        tradeOf(scale.noise, static_cast<double>(scale.batch), 2.0 * static_cast<double>(scale.batch));
    printLine({{"noise_scale", numberToJson(scale.noise)},
               {"at_least", scale.atLeast},
               {"squared_gradient", numberToJson(scale.squaredGradient)},
               {"trace", numberToJson(scale.trace)},
               {"shard", scale.shard},
               {"samples", scale.samples},
               {"batch", scale.batch},
               {"step", scale.step},
               {"of_run", ofRun},
               {"twice", {{"steps", twice.steps}, {"samples", twice.samples}}},
               {"sentence", sentence}});
    return kExitDone;
  }
  fmt::print("noise scale  {}{:.4g} samples: the critical batch ({} samples in shards of {}, {})\n",
             scale.atLeast ? "at least " : "", scale.noise, scale.samples, scale.shard,
             ofRun ? fmt::format("weights of step {}", scale.step) : "first weights");
  fmt::print("batch        {}\n", scale.batch);
  fmt::print("{}\n", scale.atLeast ? "More samples tell more: --samples." : sentence);
  return kExitDone;
}

CLI::App* addMeasurement(CLI::App& app, const char* name, const char* help, const char* what,
                         const std::shared_ptr<MeasureArguments>& given) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("PROJECT", given->project, what)->required();
  verb->add_option("--set", given->settings, "As of loom train")->type_name("KEY=VALUE")->expected(1, -1);
  verb->add_option("--update", given->update, "Of several updates, which; 1 = the first")->check(CLI::Range(1, 1000));
  verb->add_option("--folder", given->folder, "Where the project's relative paths begin; by default its own folder");
  verb->add_option("--device", given->device, "auto, cpu, cuda or reference")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}));
  verb->add_flag("--json", given->json, "A JSON object a line as it goes, the answer last");
  return verb;
}

}  // namespace

void addRangeTest(CLI::App& app, Session& session) {
  auto given = std::make_shared<MeasureArguments>();
  CLI::App* verb = addMeasurement(app, "range-test", "Which learning rate: a short run whose rate grows step by step",
                                  "The .loom file, or a folder with one", given);
  verb->add_option("--from", given->from, "The first rate; by default the least that is usual for the rule")
      ->check(CLI::PositiveNumber);
  verb->add_option("--to", given->to, "The last rate, unless it diverges sooner")->check(CLI::PositiveNumber);
  verb->add_option("--steps", given->steps, "From one to the other")->check(CLI::Range(10, 1000000));
  verb->callback([&session, given] { session.chosen = [&session, given] { return rangeTest(*given, session.stop); }; });
}

void addNoiseScale(CLI::App& app, Session& session) {
  auto given = std::make_shared<MeasureArguments>();
  CLI::App* verb = addMeasurement(app, "noise-scale", "Which batch is too large: the noise scale of the gradient",
                                  "The .loom file, a folder with one, or a run", given);
  verb->add_option("--run", given->run, "With the weights of this run; otherwise with the first ones")
      ->type_name("RUN");
  verb->add_option("--shard", given->shard, "Samples of the small batch; 0 = chosen")->check(CLI::Range(0, 1 << 20));
  verb->add_option("--samples", given->samples, "At most so many are looked at")->check(CLI::Range(32, 1 << 30));
  verb->callback(
      [&session, given] { session.chosen = [&session, given] { return noiseScale(*given, session.stop); }; });
}

}  // namespace loom
