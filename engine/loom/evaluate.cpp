#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/loom/verbs.h"
#include "engine/program/backend.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/trained_network.h"

namespace loom {
namespace {

constexpr std::int64_t kKeptInJson = 1000;
constexpr std::size_t kClassesOnTerminal = 3;

struct RunArguments {
  std::string run, dataset, out, device = "auto", which = "best";
  std::vector<std::string> files;
  std::int64_t keep = kKeptInJson;
  bool json = false;
};

TrainedNetworkOptions optionsFor(const RunArguments& given, const std::atomic<bool>& stop) {
  return {
      .run = {std::filesystem::absolute(given.run)}, .which = whichWeights(given.which), .stop = &stop, .progress = {}};
}

int evaluate(const RunArguments& given, const std::atomic<bool>& stop) {
  const auto backend = makeBackend(given.device, 0);
  TrainedNetwork trained(*backend, optionsFor(given, stop));
  const Measured measured = trained.evaluate(given.dataset);
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
  for (const auto& [name, value] : measured.metrics) fmt::print("{:<11} {:.6f}\n", name, value);
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
  CLI::App* verb = app.add_subcommand("evaluate", "Loss and metrics of a trained run over a dataset");
  auto given = addCommon(verb);
  verb->add_option("--dataset", given->dataset, "One of the project's; by default the validation set");
  verb->add_flag("--json", given->json, "One JSON object");
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
