#include "engine/network/start_from_data.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/data/loader.h"
#include "engine/network/dataset_rows.h"

namespace loom {
namespace start_from_data {

constexpr double kHeldOut = 0.2;
constexpr std::int64_t kFewestToSplit = 10, kStepsWanted = 1500, kMostEpochs = 60;

DatasetSpec& specOf(Project& project, const std::string& name) {
  for (DatasetSpec& spec : project.datasets)
    if (spec.name == name) return spec;
  throwError(ErrorCode::badProject, "there is no dataset '{}' in the project", name);
}

// The rows that are trained on stay the dataset's; those held out become a dataset of their own.
void holdOut(Project& project, const std::string& dataset, const std::string& classes, std::int64_t rows) {
  DatasetSpec& kept = specOf(project, dataset);
  if (!project.training.validation.empty() || kept.extra.contains("hold_out") || rows < kFewestToSplit) return;
  DatasetSpec held;
  held.name = "validation";
  for (int number = 2; project.dataset(held.name); ++number) held.name = "validation" + std::to_string(number);
  kept.extra["hold_out"] = kHeldOut;
  if (!classes.empty()) kept.extra["hold_by"] = classes;
  held.csv = kept.csv;
  held.extra = kept.extra;
  held.extra["part"] = "held";
  project.training.validation = held.name;
  project.datasets.push_back(std::move(held));
}

// Of few rows more passes, in smaller steps.
void chooseLength(Json& settings, std::int64_t rows) {
  if (settings.contains("epochs") || settings.contains("batch") || rows <= 0) return;
  const std::int64_t batch = rows < 640 ? 16 : rows < 5000 ? 32 : 64;
  if (batch != 64) settings["batch"] = batch;
  const std::int64_t epochs = std::clamp<std::int64_t>(kStepsWanted * batch / rows, 10, kMostEpochs);
  if (epochs != 10) settings["epochs"] = epochs;
}

// A class's words that stand in one row alone cannot stand in both parts.
bool splitsByClass(const TableFacts& table, const StartSteps& steps) {
  if (steps.target.column.empty() || steps.target.kind != TargetKind::classes) return false;
  const ColumnFacts* column = table.find(steps.target.column);
  return column &&
         std::all_of(column->words.begin(), column->words.end(), [](const ClassCount& word) { return word.rows >= 2; });
}

StartInput inputOf(const std::string& variable, const StartFacts& facts, const std::vector<Json>& prepare) {
  const auto media = facts.media.find(variable);
  if (media == facts.media.end())
    throwError(ErrorCode::badData, "column {} of {} names files, none of which can be read", variable,
               facts.csv.filename().string());
  const Variable column{.name = variable,
                        .label = {},
                        .kind = media->second.kind,
                        .shape = media->second.largest,
                        .smallest = media->second.differ() ? media->second.smallest : Shape(),
                        .type = media->second.type,
                        .elementLabels = {}};
  return {variable, column.kind, preparedShape(column, prepare)};
}

}  // namespace start_from_data

StartFacts factsToStart(const DatasetSpec& dataset, const std::filesystem::path& csv,
                        const std::function<bool()>& stop) {
  needCsv(dataset, csv);
  StartFacts facts{.csv = csv, .table = {}, .media = {}, .target = dataset.extra.value("target", std::string())};
  facts.table = analyseTable(
      csv, {.format = openingOf(dataset, {}).format, .progress = [&](const TableFacts&) { return !stop || !stop(); }});
  facts.media = lookAtMedia(csv, facts.table, stop);
  return facts;
}

Project startFromData(Project project, const std::string& networkName, const std::string& dataset,
                      const StartFacts& facts, const StartChoice& choice) {
  using namespace start_from_data;
  Network* network = project.network(networkName);
  if (!network) throwError(ErrorCode::badProject, "there is no network '{}' in the project", networkName);
  const StartSteps steps = stepsToStart(specOf(project, dataset).prepare, facts, choice);
  specOf(project, dataset).prepare = steps.prepare;
  const bool classes = !steps.target.column.empty() && steps.target.kind == TargetKind::classes;
  holdOut(project, dataset, splitsByClass(facts.table, steps) ? steps.target.column : std::string(), facts.table.rows);
  const DatasetSpec& spec = specOf(project, dataset);
  std::vector<StartInput> inputs;
  for (const std::string& variable : steps.media) inputs.push_back(inputOf(variable, facts, steps.prepare));
  for (const auto& [vector, size] : steps.vectors) inputs.push_back({vector, VariableKind::vector, Shape{size}});
  if (!steps.input.empty()) {
    const std::vector<Json> measured = measuredSteps(spec, facts.csv, steps.prepare);
    const Schema schema = peekSchema(facts.csv, {.format = openingOf(spec, {}).format, .prepare = measured});
    const Variable* joined = schema.find(steps.input);
    if (!joined)
      throwError(ErrorCode::badData, "{} has no column of numbers to predict '{}' from", facts.csv.filename().string(),
                 steps.output);
    inputs.insert(inputs.begin(), {steps.input, VariableKind::vector, joined->shape});
  }
  StartInput output{steps.output, VariableKind::scalar, Shape{1}};
  if (steps.target.column.empty())
    output.shape = inputs.at(0).shape;
  else if (steps.target.kind == TargetKind::picture)
    output = inputOf(steps.output, facts, steps.prepare);
  drawFromData(*network, inputs, steps.target, output);
  chooseLength(project.training.settings, facts.table.rows);
  const Node* accuracy = network->find("accuracy");
  if (classes && accuracy && roleOf(accuracy->layer) == LayerRole::metric &&
      !project.training.settings.contains("monitor"))
    project.training.settings["monitor"] = "accuracy";
  return project;
}

}  // namespace loom
