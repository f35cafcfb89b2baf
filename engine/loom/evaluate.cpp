#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/loom/evaluation_texts.h"
#include "engine/loom/verbs.h"
#include "engine/metrics/metric.h"
#include "engine/program/backend.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "engine/training/evaluated_run.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/trained_network.h"

namespace loom {
namespace {

constexpr std::int64_t kKeptInJson = 1000;
constexpr std::size_t kClassesOnTerminal = 3;

struct RunArguments {
  std::string run, dataset, part, data, report, against, out, device = "auto", which = "best";
  std::vector<std::string> files;
  bool progress = false;
  std::int64_t keep = kKeptInJson;
  bool json = false;
};

TrainedNetworkOptions optionsFor(const RunArguments& given, const std::atomic<bool>& stop) {
  return {
      .run = {std::filesystem::absolute(given.run)}, .which = whichWeights(given.which), .stop = &stop, .progress = {}};
}

// The dataset that --part or --dataset names; empty = the usual one.
std::string datasetOf(const RunArguments& given, const TrainedNetwork& trained) {
  if (given.part.empty()) return given.dataset;
  if (given.part == "training") return trained.trainedOn();
  if (trained.usualDataset() == trained.trainedOn() && trained.run().description().project.training.validation.empty())
    throwError(ErrorCode::badProject,
               "the run was trained without a validation set: name --part training, or another file by --data");
  return trained.usualDataset();
}

// Every measure, where a report, a file or another run is named.
int evaluateAll(const RunArguments& given, const std::atomic<bool>& stop) {
  const auto backend = makeBackend(given.device, 0);
  const auto evaluated = [&](const std::string& run) {
    RunArguments one = given;
    one.run = run;
    TrainedNetwork trained(*backend, optionsFor(one, stop));
    EvaluationRequest request;
    request.dataset = datasetOf(given, trained);
    if (!given.data.empty()) request.file = std::filesystem::absolute(given.data);
    if (given.progress)
      request.progress = [](std::int64_t done, std::int64_t all) {
        fmt::print("{}\n", Json({{"done", done}, {"all", all}}).dump());
        std::fflush(stdout);
      };
    return evaluateRun(trained, request);
  };
  EvaluationReport report = evaluated(given.run);
  if (!given.against.empty()) report.against = comparisonOf(evaluated(given.against), report);
  std::vector<std::string> files;
  if (!given.report.empty()) files = writeReport(std::filesystem::absolute(given.report), report);
  if (given.json) {
    Json figures = toJson(report);
    for (Json& output : figures["outputs"])
      for (const char* listed : {"worst", "curves"}) output.erase(listed);
    if (!files.empty())
      figures["report"] = {{"folder", std::filesystem::absolute(given.report).string()}, {"files", files}};
    fmt::print("{}\n", figures.dump());
    return kExitDone;
  }
  std::string text = evaluationText(report);
  if (!files.empty()) text += fmt::format("\n{:<12} {}: {}\n", "report", given.report, fmt::join(files, ", "));
  fmt::print("{}", text);
  return kExitDone;
}

int evaluate(const RunArguments& given, const std::atomic<bool>& stop) {
  if (!given.report.empty() || !given.data.empty() || !given.against.empty()) return evaluateAll(given, stop);
  const auto backend = makeBackend(given.device, 0);
  TrainedNetwork trained(*backend, optionsFor(given, stop));
  const Measured measured = trained.evaluate(datasetOf(given, trained));
  if (given.json) {
    fmt::print("{}\n", Json({{"dataset", trained.evaluated()},
                             {"samples", measured.samples},
                             {"step", trained.step()},
                             {"checkpoint", trained.run().checkpoint().string()},
                             {"loss", numberToJson(measured.loss)},
                             {"metrics", metricsJson(measured)}})
                           .dump());
    return kExitDone;
  }
  fmt::print("dataset     {} ({})\ncheckpoint  {} (step {})\nloss        {:.6f}\n", trained.evaluated(),
             counted(static_cast<std::int64_t>(measured.samples), "samples"),
             trained.run().checkpoint().filename().string(), trained.step(), measured.loss);
  for (const auto& [name, value] : measured.metrics) {
    const Node* const node = trained.network().find(name);
    fmt::print("{:<11} {}\n", name,
               node && isShare(node->layer) ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.6f}", value));
  }
  return kExitDone;
}

// "3 98.20 %, 8 1.10 %, 5 0.40 %", or the numbers themselves.
std::string saidOf(const PredictedOutput& output, const std::vector<float>& values) {
  std::string text;
  std::vector<ClassShare> shares = classShares(output, values);
  shares.resize(std::min(shares.size(), kClassesOnTerminal));
  for (const ClassShare& each : shares)
    text += fmt::format("{}{} {:.2f} %", text.empty() ? "" : ", ", each.name, 100 * each.share);
  if (!shares.empty()) return text;
  if (values.size() > 8) return fmt::format("{} values", values.size());
  for (const float value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
  return text;
}

int predict(const RunArguments& given, const std::atomic<bool>& stop) {
  PredictionRequest request;
  for (const std::string& file : given.files) request.files.push_back(std::filesystem::absolute(file));
  const std::filesystem::path& first = request.files.front();
  const bool single = isSampleFile(first);  // pictures and sounds are told on the terminal
  if (!given.out.empty())
    request.out = std::filesystem::absolute(given.out);
  else if (!single && !given.json)
    request.out = first.parent_path() / (first.stem().string() + "_predicted.csv");
  for (const std::filesystem::path& file : request.files)
    if (std::error_code none; !request.out.empty() && std::filesystem::equivalent(file, request.out, none))
      throwError(ErrorCode::badArgument, "the predictions would overwrite {}; choose another --out", file.string());
  if (given.json)
    request.keep = given.keep;
  else if (single)
    request.keep = static_cast<std::int64_t>(request.files.size());
  const auto backend = makeBackend(given.device, 0);
  TrainedNetwork trained(*backend, optionsFor(given, stop));
  const Predictions predictions = trained.predict(request);
  if (given.json) {
    fmt::print("{}\n", toJson(predictions).dump());
    return kExitDone;
  }
  for (const PredictedSample& sample : predictions.kept)
    for (std::size_t i = 0; i < sample.outputs.size(); ++i)
      fmt::print("{}  {}  {}\n", std::filesystem::path(sample.source).filename().string(), predictions.outputs[i].name,
                 saidOf(predictions.outputs[i], sample.outputs[i].values));
  const std::vector<std::string>& columns = predictions.columns;
  if (!request.out.empty())
    fmt::print("{} with {} ({}{}) in {}\n", counted(predictions.samples, "rows"),
               counted(static_cast<std::int64_t>(columns.size()), "new columns"), columns.front(),
               columns.size() > 1 ? " ... " + columns.back() : std::string(), request.out.string());
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
  CLI::App* verb = app.add_subcommand("evaluate", "What a trained run is worth on samples whose truth is known");
  auto given = addCommon(verb);
  CLI::Option* dataset =
      verb->add_option("--dataset", given->dataset, "One of the project's; by default the validation set");
  CLI::Option* part = verb->add_option("--part", given->part, "validation or training: the run's own samples")
                          ->check(CLI::IsMember({"validation", "training"}))
                          ->excludes(dataset);
  verb->add_option("--data", given->data,
                   "Another CSV with the network's columns and what is true; tells every measure")
      ->excludes(dataset)
      ->excludes(part);
  verb->add_option("--report", given->report,
                   "Writes every measure here: report.json, confusion.csv, classes.csv, samples.csv (worst first), "
                   "curves.csv")
      ->type_name("FOLDER");
  verb->add_option("--against", given->against, "Another run on the same samples: what got better, what got worse")
      ->type_name("RUN");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->add_flag("--progress", given->progress, "With --report: a JSON line {\"done\", \"all\"} now and then");
  verb->callback([&session, given] { session.chosen = [&session, given] { return evaluate(*given, session.stop); }; });
}

void addPredict(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("predict", "A trained run's outputs for pictures, sounds, or every row of a CSV");
  auto given = addCommon(verb);
  verb->add_option("FILE", given->files, "A CSV with the network's columns; or pictures, sounds, arrays")->required();
  verb->add_option("--out", given->out, "Where to; of a CSV by default <name>_predicted.csv beside it");
  verb->add_flag("--json", given->json, "One JSON object, and no CSV unless --out names one");
  verb->add_option("--rows", given->keep, "With --json: how many samples it holds at most")
      ->check(CLI::NonNegativeNumber);
  verb->callback([&session, given] { session.chosen = [&session, given] { return predict(*given, session.stop); }; });
}

}  // namespace loom
