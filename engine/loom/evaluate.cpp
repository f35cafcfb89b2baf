#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/loom/verbs.h"
#include "engine/program/backend.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "engine/training/trained_run.h"

namespace loom {
namespace {

struct RunArguments {
  std::string run, dataset, csv, out, device = "auto", which = "best";
  bool json = false;
};

TrainedRunOptions optionsFor(const RunArguments& given, const std::atomic<bool>& stop) {
  return {.run = {std::filesystem::absolute(given.run)},
          .which = given.which == "last" ? Which::last : Which::best,
          .stop = &stop,
          .progress = {}};
}

int evaluate(const RunArguments& given, const std::atomic<bool>& stop) {
  const auto backend = makeBackend(given.device, 0);
  TrainedRun run(*backend, optionsFor(given, stop));
  const Measured measured = run.evaluate(given.dataset);
  if (given.json) {
    fmt::print("{}\n", Json({{"dataset", run.evaluated()},
                             {"samples", measured.samples},
                             {"step", run.step()},
                             {"checkpoint", run.checkpoint().string()},
                             {"loss", numberToJson(measured.loss)},
                             {"metrics", metricsJson(measured)}})
                           .dump());
    return kExitDone;
  }
  fmt::print("dataset     {} ({})\ncheckpoint  {} (step {})\nloss        {:.6f}\n", run.evaluated(),
             counted(static_cast<std::int64_t>(measured.samples), "samples"), run.checkpoint().filename().string(),
             run.step(), measured.loss);
  for (const auto& [name, value] : measured.metrics) fmt::print("{:<11} {:.6f}\n", name, value);
  return kExitDone;
}

int predict(const RunArguments& given, const std::atomic<bool>& stop) {
  const auto backend = makeBackend(given.device, 0);
  TrainedRun run(*backend, optionsFor(given, stop));
  const std::filesystem::path csv = std::filesystem::absolute(given.csv);
  const std::filesystem::path out = given.out.empty() ? csv.parent_path() / (csv.stem().string() + "_predicted.csv")
                                                      : std::filesystem::absolute(given.out);
  if (std::error_code none; std::filesystem::equivalent(csv, out, none))
    throwError(ErrorCode::badArgument, "the predictions would overwrite {}; choose another --out", csv.string());
  const PredictionResult result = run.predict({.csv = csv, .out = out});
  fmt::print("{} with {} ({}{}) in {}\n", counted(result.rows, "rows"),
             counted(static_cast<std::int64_t>(result.columns.size()), "new columns"), result.columns.front(),
             result.columns.size() > 1 ? " ... " + result.columns.back() : std::string(), out.string());
  return kExitDone;
}

std::shared_ptr<RunArguments> addCommon(CLI::App* verb) {
  auto given = std::make_shared<RunArguments>();
  verb->add_option("RUN", given->run, "The run's folder")->required();
  verb->add_option("--checkpoint", given->which, "best (where there is one) or last")
      ->check(CLI::IsMember({"best", "last"}));
  verb->add_option("--device", given->device, "auto, cpu, cuda or reference")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}));
  return given;
}

}  // namespace

void addEvaluate(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("evaluate", "Loss and metrics of a trained run over a dataset");
  auto given = addCommon(verb);
  verb->add_option("--dataset", given->dataset, "One of the project's; by default the validation set");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->callback([&session, given] { session.chosen = [&session, given] { return evaluate(*given, session.stop); }; });
}

void addPredict(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("predict", "A trained run's outputs for every row of a CSV");
  auto given = addCommon(verb);
  verb->add_option("CSV", given->csv, "Rows in the shape of the training set")->required();
  verb->add_option("--out", given->out, "Where to; by default <name>_predicted.csv beside the CSV");
  verb->callback([&session, given] { session.chosen = [&session, given] { return predict(*given, session.stop); }; });
}

}  // namespace loom
