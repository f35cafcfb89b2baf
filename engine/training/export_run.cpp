#include "engine/training/export_run.h"

#include <algorithm>

#include "engine/base/words.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/prepare.h"
#include "engine/exchange/laid_over.h"
#include "engine/network/analysis.h"
#include "engine/network/flatten.h"
#include "engine/training/target_unit.h"

namespace loom {
namespace {

// Columns of the file that became one variable; the variable itself where no step joined any.
Json columnsOf(const std::string& variable, const std::vector<Json>& prepare) {
  Json columns = Json::array();
  for (const Json& step : prepare) {
    if (step.value("step", "") != "Join" || step.value("into", "") != variable || !step.contains("variable")) continue;
    const Json& named = step["variable"];
    for (const Json& name : named.is_array() ? named : Json::array({named})) columns.push_back(name);
  }
  if (columns.empty()) columns.push_back(variable);
  return columns;
}

bool names(const Json& step, const Json& columns) {
  if (!step.contains("variable") || step["variable"].is_null()) return true;
  const Json& named = step["variable"];
  const auto isOne = [&](const Json& name) { return std::find(columns.begin(), columns.end(), name) != columns.end(); };
  return named.is_array() ? std::any_of(named.begin(), named.end(), isOne) : isOne(named);
}

Json inputOf(const DatasetInput& input, const std::vector<Json>& prepare) {
  const Json columns = columnsOf(input.variable, prepare);
  Json steps = Json::array();
  for (const Json& step : columnStepsOf(prepare))
    if (step.value("step", "") != "Join" && names(step, columns)) steps.push_back(step);
  const Variable variable{
      .name = input.variable, .label = {}, .kind = VariableKind::vector, .shape = input.shape, .elementLabels = {}};
  for (const Json& step : sampleStepsOf(prepare))
    if (appliesTo(step, prepareStep(step), variable) || names(step, Json::array({input.variable})))
      steps.push_back(step);
  return {{"columns", columns}, {"shape", input.shape.extents()}, {"steps", std::move(steps)}};
}

Json outputOf(const RunDescription& run, const OutputTarget& target, bool inUnits) {
  Json output = {{"column", target.variable}};
  if (target.softmax || target.chance) {
    output["classes"] = classNames(run, target.variable);
    output["apply"] = target.softmax ? "softmax" : target.unary ? target.unary : "";
  } else {
    output["in_its_unit"] = inUnits;
  }
  return output;
}

std::string stepWords(const Json& step) {
  std::string words = step.value("step", "?");
  if (!prepareStep(step).measured || !step.contains("mean") || !step["mean"].is_array() || step["mean"].size() > 4)
    return words;
  std::vector<std::string> means, deviations;
  for (const Json& mean : step["mean"]) means.push_back(fmt::format("{:.6g}", mean.get<double>()));
  for (const Json& deviation : step.value("deviation", Json::array()))
    deviations.push_back(fmt::format("{:.6g}", deviation.get<double>()));
  return fmt::format("{} (mean {}, deviation {})", words, fmt::join(means, " "), fmt::join(deviations, " "));
}

std::string inputNote(const std::string& name, const Json& input) {
  const auto columns = input.at("columns").get<std::vector<std::string>>();
  const Json& steps = input.at("steps");
  if (steps.empty() && columns.size() == 1)
    return fmt::format("input '{}' takes {} as the dataset holds it; pictures as numbers from 0 to 255", name,
                       columns.front());
  std::vector<std::string> words;
  for (const Json& step : steps) {
    std::string each = isColumnStep(step) ? step.value("step", "?") : stepWords(step);
    if (std::find(words.begin(), words.end(), each) == words.end()) words.push_back(std::move(each));
  }
  std::int64_t numbers = 1;
  for (const Json& extent : input.at("shape")) numbers *= extent.get<std::int64_t>();
  return fmt::format("input '{}' takes {} that {} made of {}", name, counted(numbers, "numbers"),
                     words.empty() ? std::string("the dataset") : fmt::format("{}", fmt::join(words, ", ")),
                     fmt::join(columns, ", "));
}

std::string outputNote(const std::string& name, const Json& output, bool inUnits) {
  const auto column = output.at("column").get<std::string>();
  if (output.contains("apply")) {
    const auto classes = output.at("classes").get<std::vector<std::string>>();
    const auto apply = output.at("apply").get<std::string>();
    const std::string of =
        classes.empty() || classes.size() > 12 ? std::string() : fmt::format(" ({})", fmt::join(classes, ", "));
    return apply.empty()
               ? fmt::format("output '{}' gives the chance of {}{}", name, column, of)
               : fmt::format("output '{}' gives the scores of {}{}: {} makes shares of them", name, column, of, apply);
  }
  if (output.value("in_its_unit", false) && inUnits)
    return fmt::format("output '{}' gives {} in its own unit", name, column);
  return fmt::format("output '{}' gives {} as it was prepared for training, not in its own unit", name, column);
}

}  // namespace

ExportSource exportSourceOf(const TrainedRun& run, const std::string& network) {
  const RunDescription& description = run.description();
  ExportSource source{.project = description.project,
                      .network = network.empty() ? trainedNetworkOf(description.project) : network,
                      .weights = run.weights(),
                      .units = {},
                      .preparation = {}};
  const std::vector<UpdateSpec>& updates = description.project.training.updates;
  const auto prepared =
      updates.empty() ? description.prepared.end() : description.prepared.find(updates.front().dataset);
  const std::vector<Json> prepare = prepared == description.prepared.end() ? std::vector<Json>() : prepared->second;
  const Network flat = flatNetwork(source.project, source.network);
  const Program program = lowerForPrediction(flat, {.batch = 1});
  Json inputs = Json::object(), outputs = Json::object();
  for (const DatasetInput& input : datasetInputs(flat))
    if (program.findTensor(input.node, TensorRole::input) != kNoTensor) inputs[input.node] = inputOf(input, prepare);
  for (const NamedResult& result : program.results) {
    const OutputTarget target = targetOf(flat, result.name);
    if (target.variable.empty()) continue;
    const Shape shape = program.tensor(result.tensor).shape.withoutFirst();
    bool inUnits = false;
    if (!target.softmax && !target.chance) {
      const Variable column{.name = target.variable,
                            .label = {},
                            .kind = shape.elements() == 1 ? VariableKind::scalar : VariableKind::vector,
                            .shape = shape,
                            .elementLabels = {}};
      auto steps = TargetUnit(column, prepare).steps(shape.elements());
      inUnits = steps.has_value();
      if (steps && !steps->empty()) source.units[result.name] = std::move(*steps);
    }
    outputs[result.name] = outputOf(description, target, inUnits);
  }
  source.preparation = {{"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}, {"steps", prepare}};
  return source;
}

std::vector<std::string> exportNotes(const ExportSource& source, bool inUnits) {
  std::vector<std::string> notes;
  if (source.preparation.is_null()) return notes;
  for (const auto& [name, input] : source.preparation.at("inputs").items()) notes.push_back(inputNote(name, input));
  for (const auto& [name, output] : source.preparation.at("outputs").items())
    notes.push_back(outputNote(name, output, inUnits || !source.units.count(name)));
  return notes;
}

}  // namespace loom
