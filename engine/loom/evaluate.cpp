#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/loom/desk.h"
#include "engine/loom/evaluation_texts.h"
#include "engine/loom/verbs.h"
#include "engine/metrics/metric.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "engine/training/evaluated_run.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/trained_network.h"

namespace loom {
namespace {

constexpr std::int64_t kKeptInJson = 1000;
constexpr std::size_t kClassesOnTerminal = 3;

struct EvaluateArguments : RunArguments {
  std::string report, against, out;
  std::vector<std::string> files;
  bool progress = false, recognised = false;
  std::int64_t keep = kKeptInJson;
};

// Every measure, where a report, a file or another run is named.
int evaluateAll(const EvaluateArguments& given, Desk& desk) {
  const auto evaluated = [&](const std::string& run) {
    TrainedNetwork& trained = desk.network(given, run);
    EvaluationRequest request;
    request.dataset = given.datasetOf(trained);
    if (!given.data.empty()) request.file = std::filesystem::absolute(given.data);
    if (given.progress)
      request.progress = [&desk](std::int64_t done, std::int64_t all) {
        desk.say(Json({{"done", done}, {"all", all}}).dump() + '\n');
      };
    return evaluateRun(trained, request);
  };
  EvaluationReport report = evaluated(given.run);
  if (!given.against.empty()) report.against = comparisonOf(evaluated(given.against), report);
  std::vector<std::string> files;
  if (!given.report.empty()) files = writeReport(std::filesystem::absolute(given.report), report);
  if (given.json) {
    // Samples and curves stand in the report alone.
    for (EvaluatedOutput& output : report.outputs) output.curves.clear();
    Json figures = figuresJson(report);
    for (Json& output : figures["outputs"]) output.erase("curves");
    if (!files.empty())
      figures["report"] = {{"folder", std::filesystem::absolute(given.report).string()}, {"files", files}};
    desk.say(figures.dump() + '\n');
    return kExitDone;
  }
  std::string text = evaluationText(report);
  if (!files.empty()) text += fmt::format("\n{:<12} {}: {}\n", "report", given.report, fmt::join(files, ", "));
  desk.say(text);
  return kExitDone;
}

int evaluate(const EvaluateArguments& given, Desk& desk) {
  if (!given.report.empty() || !given.data.empty() || !given.against.empty()) return evaluateAll(given, desk);
  TrainedNetwork& trained = desk.network(given, given.run);
  const Measured measured = trained.evaluate(given.datasetOf(trained));
  if (given.json) {
    desk.say(Json({{"dataset", trained.evaluated()},
                   {"samples", measured.samples},
                   {"step", trained.step()},
                   {"checkpoint", trained.run().checkpoint().string()},
                   {"loss", numberToJson(measured.loss)},
                   {"metrics", metricsJson(measured)}})
                 .dump() +
             '\n');
    return kExitDone;
  }
  std::string text = fmt::format("dataset     {} ({})\ncheckpoint  {} (step {})\nloss        {:.6f}\n",
                                 trained.evaluated(), counted(static_cast<std::int64_t>(measured.samples), "samples"),
                                 trained.run().checkpoint().filename().string(), trained.step(), measured.loss);
  for (const auto& [name, value] : measured.metrics) {
    const Node* const node = trained.network().find(name);
    text +=
        fmt::format("{:<11} {}\n", name,
                    node && isShare(node->layer) ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.6f}", value));
  }
  desk.say(text);
  return kExitDone;
}

int predict(const EvaluateArguments& given, Desk& desk) {
  PredictionRequest request;
  request.recognised = given.recognised;
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
  TrainedNetwork& trained = desk.network(given, given.run);
  const Predictions predictions = trained.predict(request);
  // What was predicted is said, and that something was not.
  const int code = predictions.refused.empty() ? kExitDone : exitCode(ErrorCode::badData);
  if (given.json) {
    desk.say(toJson(predictions).dump() + '\n');
    return code;
  }
  std::string text;
  for (const PredictedSample& sample : predictions.kept)
    for (std::size_t i = 0; i < sample.outputs.size(); ++i)
      text += fmt::format("{}  {}  {}\n", std::filesystem::path(sample.source).filename().string(),
                          predictions.outputs[i].name,
                          saidOf(predictions.outputs[i], sample.outputs[i].values, kClassesOnTerminal));
  const std::vector<std::string>& columns = predictions.columns;
  if (!request.out.empty())
    text += fmt::format("{} with {} ({}{}) in {}\n", counted(predictions.samples, "rows"),
                        counted(static_cast<std::int64_t>(columns.size()), "new columns"), columns.front(),
                        columns.size() > 1 ? " ... " + columns.back() : std::string(), request.out.string());
  for (const std::string& note : predictions.notes) text += note + '\n';
  if (!predictions.refused.empty())
    text += fmt::format("{} of {} files were not predicted:\n{}\n", predictions.refused.size(), request.files.size(),
                        refusedText(predictions.refused));
  desk.say(text);
  return code;
}

}  // namespace

void addEvaluate(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("evaluate", "What a trained run is worth on samples whose truth is known");
  auto given = std::make_shared<EvaluateArguments>();
  given->declare(*verb);
  given->declareSamples(*verb, "Another CSV with the network's columns and what is true; tells every measure");
  verb->add_option("--report", given->report,
                   "Writes every measure here: report.json, confusion.csv, classes.csv, samples.csv (worst first), "
                   "curves.csv, reliability.csv")
      ->type_name("FOLDER");
  verb->add_option("--against", given->against, "Another run on the same samples: what got better, what got worse")
      ->type_name("RUN");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->add_flag("--progress", given->progress, "With --report: a JSON line {\"done\", \"all\"} now and then");
  verb->callback([&session, given] {
    session.chosen = [&session, given] {
      Desk desk(session);
      return evaluate(*given, desk);
    };
  });
}

void addPredict(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("predict", "A trained run's outputs for pictures, sounds, or every row of a CSV");
  auto given = std::make_shared<EvaluateArguments>();
  given->declare(*verb);
  verb->add_option("FILE", given->files, "A CSV with the network's columns; or pictures, sounds, arrays")->required();
  verb->add_option("--out", given->out, "Where to; of a CSV by default <name>_predicted.csv beside it");
  verb->add_flag("--json", given->json, "One JSON object, and no CSV unless --out names one");
  verb->add_flag("--recognised", given->recognised,
                 "The CSV is written as its own lines tell, whatever the project says of the run's data");
  verb->add_option("--rows", given->keep, "With --json: how many samples it holds at most")
      ->check(CLI::NonNegativeNumber);
  verb->callback([&session, given] {
    session.chosen = [&session, given] {
      Desk desk(session);
      return predict(*given, desk);
    };
  });
}

}  // namespace loom
