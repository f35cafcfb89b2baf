#include "engine/run/predictions.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr std::array<const char*, 3> kKinds{"numbers", "classes", "chance"};

Json numbers(const std::vector<float>& values) {
  Json all = Json::array();
  for (const float value : values) all.push_back(numberToJson(value));
  return all;
}

std::vector<float> numbersOf(const Json& json) {
  std::vector<float> values;
  for (const Json& each : json) values.push_back(static_cast<float>(numberFromJson(each)));
  return values;
}

Json shapeJson(const Shape& shape) {
  return std::vector<std::int64_t>(shape.begin(), shape.end());
}

}  // namespace

std::string className(const PredictedOutput& output, std::int64_t index) {
  const auto place = static_cast<std::size_t>(index);
  return index >= 0 && place < output.classes.size() ? output.classes[place] : std::to_string(index);
}

std::vector<ClassShare> classShares(const PredictedOutput& output, const std::vector<float>& values) {
  std::vector<ClassShare> shares;
  if (output.kind == OutputKind::classes) {
    for (std::size_t i = 0; i < values.size(); ++i)
      shares.push_back({className(output, static_cast<std::int64_t>(i)), values[i]});
  } else if (output.kind == OutputKind::chance && values.size() == 1) {
    shares = {{className(output, 1), values[0]}, {className(output, 0), 1.0 - values[0]}};
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const ClassShare& a, const ClassShare& b) { return a.share > b.share; });
  return shares;
}

Json toJson(const Predictions& predictions) {
  Json outputs = Json::array(), rows = Json::array();
  for (const PredictedOutput& output : predictions.outputs) {
    Json each = {{"name", output.name},
                 {"target", output.target},
                 {"kind", kKinds[output.kind]},
                 {"shape", shapeJson(output.shape)}};
    if (!output.classes.empty()) each["classes"] = output.classes;
    outputs.push_back(std::move(each));
  }
  for (const PredictedSample& sample : predictions.kept) {
    Json row = {{"sample", sample.sample}, {"outputs", Json::array()}};
    if (!sample.source.empty()) row["source"] = sample.source;
    if (!sample.cells.empty()) row["cells"] = sample.cells;
    if (!sample.marks.empty()) row["marks"] = sample.marks;
    if (sample.loss) row["loss"] = numberToJson(*sample.loss);
    for (const PredictedSample::Output& output : sample.outputs) {
      Json each = {{"values", numbers(output.values)}};
      if (!output.truth.empty()) each["truth"] = numbers(output.truth);
      row["outputs"].push_back(std::move(each));
    }
    rows.push_back(std::move(row));
  }
  Json json = {{"checkpoint", predictions.checkpoint}, {"step", predictions.step},
               {"samples", predictions.samples},       {"columns", predictions.columns},
               {"outputs", std::move(outputs)},        {"rows", std::move(rows)}};
  if (!predictions.heads.empty()) json["heads"] = predictions.heads;
  if (!predictions.notes.empty()) json["notes"] = predictions.notes;
  for (const RefusedSample& each : predictions.refused)
    json["refused"].push_back({{"source", each.source}, {"reason", each.reason}});
  return json;
}

Predictions predictionsFromJson(const Json& json) {
  try {
    Predictions predictions;
    predictions.checkpoint = json.at("checkpoint").get<std::string>();
    predictions.step = json.at("step").get<std::int64_t>();
    predictions.samples = json.at("samples").get<std::int64_t>();
    predictions.columns = json.at("columns").get<std::vector<std::string>>();
    for (const Json& each : json.at("outputs")) {
      PredictedOutput output;
      output.name = each.at("name").get<std::string>();
      output.target = each.at("target").get<std::string>();
      const auto kind = std::find(kKinds.begin(), kKinds.end(), each.at("kind").get<std::string>());
      if (kind == kKinds.end())
        throwError(ErrorCode::badData, "a prediction of the kind '{}' is not known", each.at("kind").dump());
      output.kind = static_cast<OutputKind::Kind>(kind - kKinds.begin());
      output.shape = Shape(each.at("shape").get<std::vector<std::int64_t>>());
      output.classes = each.value("classes", std::vector<std::string>());
      predictions.outputs.push_back(std::move(output));
    }
    for (const Json& row : json.at("rows")) {
      PredictedSample sample;
      sample.sample = row.at("sample").get<std::int64_t>();
      sample.source = row.value("source", std::string());
      sample.cells = row.value("cells", std::vector<std::string>());
      sample.marks = row.value("marks", std::vector<std::string>());
      if (const auto loss = row.find("loss"); loss != row.end()) sample.loss = numberFromJson(*loss);
      for (const Json& each : row.at("outputs"))
        sample.outputs.push_back({numbersOf(each.at("values")),
                                  each.contains("truth") ? numbersOf(each.at("truth")) : std::vector<float>()});
      if (sample.outputs.size() != predictions.outputs.size())
        throwError(ErrorCode::badData, "sample {} has {} outputs, but there are {}", sample.sample,
                   sample.outputs.size(), predictions.outputs.size());
      predictions.kept.push_back(std::move(sample));
    }
    predictions.heads = json.value("heads", std::vector<std::string>());
    predictions.notes = json.value("notes", std::vector<std::string>());
    if (const auto refused = json.find("refused"); refused != json.end())
      for (const Json& each : *refused)
        predictions.refused.push_back({each.at("source").get<std::string>(), each.at("reason").get<std::string>()});
    return predictions;
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData, "this is no prediction ({})", fault.what());
  }
}

}  // namespace loom
