#include <fmt/compile.h>

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/evaluation/report.h"

namespace loom {
namespace {

constexpr int kVersion = 1;
constexpr std::array<const char*, 3> kKinds{"classes", "labels", "numbers"};
constexpr std::size_t kDrawnCurves = 64;  // beyond that the curves have their figures alone

double number(const Json& json, const char* key) {
  return numberFromJson(json.at(key));
}

Json toJson(const ShareInterval& interval) {
  return {{"share", numberToJson(interval.share)}, {"low", interval.low}, {"high", interval.high}};
}
ShareInterval intervalFrom(const Json& json) {
  return {number(json, "share"), number(json, "low"), number(json, "high")};
}

Json toJson(const ClassTable::Mean& mean) {
  return {{"precision", mean.precision}, {"recall", mean.recall}, {"f1", mean.f1}};
}
ClassTable::Mean meanFrom(const Json& json) {
  return {number(json, "precision"), number(json, "recall"), number(json, "f1")};
}

Json toJson(const RegressionFigures& figures) {
  return {{"count", figures.count},
          {"r2", numberToJson(figures.r2)},
          {"mae", numberToJson(figures.mae)},
          {"rmse", numberToJson(figures.rmse)},
          {"bias", numberToJson(figures.bias)},
          {"least", numberToJson(figures.least)},
          {"most", numberToJson(figures.most)}};
}
RegressionFigures regressionFrom(const Json& json) {
  return {.count = json.at("count").get<std::int64_t>(),
          .r2 = number(json, "r2"),
          .mae = number(json, "mae"),
          .rmse = number(json, "rmse"),
          .bias = number(json, "bias"),
          .least = number(json, "least"),
          .most = number(json, "most")};
}

Json curvesJson(const EvaluatedOutput& output) {
  Json curves = Json::array();
  for (const auto& [of, curve] : output.curves) {
    Json each = {{"class", of},
                 {"auc", numberToJson(curve.auc)},
                 {"average_precision", numberToJson(curve.averagePrecision)},
                 {"positives", curve.positives},
                 {"negatives", curve.negatives}};
    if (curves.size() < kDrawnCurves) {
      Json points = Json::array();
      for (const CurvePoint& point : curve.points)
        points.push_back({numberToJson(point.threshold), point.falsePositives, point.truePositives, point.precision});
      each["points"] = std::move(points);
    }
    curves.push_back(std::move(each));
  }
  return curves;
}
void readCurves(const Json& json, EvaluatedOutput& output) {
  for (const Json& each : json) {
    ScoreCurve curve{.auc = number(each, "auc"),
                     .averagePrecision = number(each, "average_precision"),
                     .positives = each.at("positives").get<std::int64_t>(),
                     .negatives = each.at("negatives").get<std::int64_t>(),
                     .points = {}};
    if (const auto points = each.find("points"); points != each.end())
      for (const Json& point : *points)
        curve.points.push_back({numberFromJson(point.at(0)), numberFromJson(point.at(1)), numberFromJson(point.at(2)),
                                numberFromJson(point.at(3))});
    output.curves.push_back({each.at("class").get<std::int64_t>(), std::move(curve)});
  }
}

Json calibrationJson(const EvaluatedOutput& output) {
  Json bins = Json::array();
  for (const ReliabilityBin& bin : output.calibration.bins)
    bins.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"count", bin.count},
                    {"confidence", bin.confidence},
                    {"right", bin.right}});
  Json json = {{"expected_error", output.calibration.expectedError},
               {"largest_error", output.calibration.largestError},
               {"bins", std::move(bins)}};
  if (output.temperature)
    json["temperature"] = {{"value", output.temperature->value},
                           {"loss_before", output.temperature->lossBefore},
                           {"loss_after", output.temperature->lossAfter},
                           {"samples", output.temperature->samples}};
  if (const auto& trial = output.temperatureTrial)
    json["temperature_trial"] = {{"value", trial->value},           {"fitted", trial->fitted},
                                 {"tried", trial->tried},           {"loss_before", trial->lossBefore},
                                 {"loss_after", trial->lossAfter},  {"error_before", trial->errorBefore},
                                 {"error_after", trial->errorAfter}};
  return json;
}
void readCalibration(const Json& json, EvaluatedOutput& output) {
  output.calibration.expectedError = number(json, "expected_error");
  output.calibration.largestError = number(json, "largest_error");
  for (const Json& bin : json.at("bins"))
    output.calibration.bins.push_back({.low = number(bin, "low"),
                                       .high = number(bin, "high"),
                                       .count = bin.at("count").get<std::int64_t>(),
                                       .confidence = number(bin, "confidence"),
                                       .right = number(bin, "right")});
  if (const auto found = json.find("temperature"); found != json.end())
    output.temperature = Temperature{.value = number(*found, "value"),
                                     .lossBefore = number(*found, "loss_before"),
                                     .lossAfter = number(*found, "loss_after"),
                                     .samples = found->at("samples").get<std::int64_t>()};
  if (const auto found = json.find("temperature_trial"); found != json.end())
    output.temperatureTrial = TemperatureTrial{.value = number(*found, "value"),
                                               .fitted = found->at("fitted").get<std::int64_t>(),
                                               .tried = found->at("tried").get<std::int64_t>(),
                                               .lossBefore = number(*found, "loss_before"),
                                               .lossAfter = number(*found, "loss_after"),
                                               .errorBefore = number(*found, "error_before"),
                                               .errorAfter = number(*found, "error_after")};
}

// Each sample's members by name, once for writing and for reading; `positions`: each has several.
template <class Sample, class Visit>
void visitSample(Sample& sample, bool positions, const Visit& visit) {
  visit("sample", sample.sample);
  visit("row", sample.row);
  visit("finite", sample.finite);
  visit("right", sample.right);
  visit("loss", sample.loss);
  visit("truth", sample.truth);
  visit("predicted", sample.predicted);
  visit("next", sample.next);
  visit("truth_share", sample.truthShare);
  visit("predicted_share", sample.predictedShare);
  visit("next_share", sample.nextShare);
  visit("value", sample.value);
  visit("true_value", sample.trueValue);
  visit("predicted_value", sample.predictedValue);
  if (!positions) return;
  visit("iou", sample.iou);
  visit("right_share", sample.rightShare);
}

// Written at once, not by way of a Json: there may be a million of them, with fifteen members each.
std::string samplesText(const EvaluatedOutput& output) {
  std::vector<fmt::memory_buffer> columns;
  std::vector<const char*> names;
  const bool positions = !output.positions.empty();
  const EvaluatedSample none;
  visitSample(none, positions, [&](const char* name, const auto&) { names.push_back(name); });
  columns.resize(names.size());
  for (const EvaluatedSample& sample : output.worst) {
    std::size_t column = 0;
    visitSample(sample, positions, [&](const char*, const auto& value) {
      fmt::memory_buffer& text = columns[column++];
      if (text.size() > 0) text.push_back(',');
      fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), value);
    });
  }
  std::string text = "{";
  for (std::size_t i = 0; i < names.size(); ++i)
    text.append(i == 0 ? "\"" : ",\"")
        .append(names[i])
        .append("\":[")
        .append(columns[i].data(), columns[i].size())
        .append("]");
  return text + "}";
}

// Reports from before IoU have none.
void readSamples(const Json& json, EvaluatedOutput& output) {
  std::vector<EvaluatedSample>& samples = output.worst;
  samples.resize(json.at("sample").size());
  const bool positions = !output.positions.empty() && json.contains("iou");
  std::vector<const Json*> columns;
  const EvaluatedSample none;
  visitSample(none, positions, [&](const char* name, const auto&) { columns.push_back(&json.at(name)); });
  for (std::size_t place = 0; place < samples.size(); ++place) {
    std::size_t column = 0;
    visitSample(samples[place], positions, [&](const char*, auto& value) {
      value = columns[column++]->at(place).template get<std::decay_t<decltype(value)>>();
    });
  }
}

// Everything but its samples.
Json figuresJson(const EvaluatedOutput& output) {
  Json json = {{"name", output.name},
               {"target", output.target},
               {"kind", kKinds[output.kind]},
               {"words", output.words},
               {"samples", output.samples},
               {"items", output.items},
               {"not_finite", output.notFinite},
               {"loss", numberToJson(output.loss)}};
  if (output.kind == EvaluatedOutput::numbers) {
    json["regression"] = toJson(output.regression);
    json["values"] = Json::array();
    for (const RegressionFigures& each : output.values) json["values"].push_back(toJson(each));
  } else {
    if (!output.positions.empty()) json["positions"] = output.positions;
    json["right"] = output.right;
    json["accuracy"] = toJson(output.accuracy);
    Json top = Json::array(), cells = Json::array(), classes = Json::array();
    for (const TopK::Share& each : output.top)
      top.push_back({{"k", each.k}, {"right", each.right}, {"interval", toJson(each.interval)}});
    for (const ConfusionMatrix::Cell& cell : output.cells) cells.push_back({cell.truth, cell.predicted, cell.count});
    for (const ClassFigures& each : output.table.classes)
      classes.push_back({{"precision", each.precision},
                         {"recall", each.recall},
                         {"f1", each.f1},
                         {"support", each.support},
                         {"predicted", each.predicted},
                         {"right", each.right}});
    json["top"] = std::move(top);
    json["confusion"] = std::move(cells);
    json["classes"] = std::move(classes);
    json["macro"] = toJson(output.table.macro);
    json["weighted"] = toJson(output.table.weighted);
    json["micro"] = toJson(output.table.micro);
    json["curves"] = curvesJson(output);
    json["exact_curves"] = output.exactCurves;
    if (!output.noCurves.empty()) json["no_curves"] = output.noCurves;
    json["macro_auc"] = numberToJson(output.macroAuc);
    json["weighted_auc"] = numberToJson(output.weightedAuc);
    json["macro_average_precision"] = numberToJson(output.macroPrecision);
    json["calibration"] = calibrationJson(output);
  }
  return json;
}

EvaluatedOutput outputFrom(const Json& json) {
  EvaluatedOutput output;
  const auto kind = std::find(kKinds.begin(), kKinds.end(), json.at("kind").get<std::string>());
  if (kind == kKinds.end())
    throwError(ErrorCode::badData, "an evaluation of the kind {} is not known", json.at("kind").dump());
  output.kind = static_cast<EvaluatedOutput::Kind>(kind - kKinds.begin());
  output.name = json.at("name").get<std::string>();
  output.target = json.at("target").get<std::string>();
  output.words = json.at("words").get<std::vector<std::string>>();
  output.samples = json.at("samples").get<std::int64_t>();
  output.items = json.at("items").get<std::int64_t>();
  output.notFinite = json.at("not_finite").get<std::int64_t>();
  output.loss = number(json, "loss");
  output.positions = json.value("positions", std::vector<std::int64_t>());
  readSamples(json.at("worst"), output);
  if (output.kind == EvaluatedOutput::numbers) {
    output.regression = regressionFrom(json.at("regression"));
    for (const Json& each : json.at("values")) output.values.push_back(regressionFrom(each));
    return output;
  }
  output.right = json.at("right").get<std::int64_t>();
  output.accuracy = intervalFrom(json.at("accuracy"));
  for (const Json& each : json.at("top"))
    output.top.push_back(
        {each.at("k").get<int>(), each.at("right").get<std::int64_t>(), intervalFrom(each.at("interval"))});
  const auto classes = static_cast<std::int64_t>(output.words.size());
  for (const Json& cell : json.at("confusion")) {
    output.cells.push_back(
        {cell.at(0).get<std::int64_t>(), cell.at(1).get<std::int64_t>(), cell.at(2).get<std::int64_t>()});
    const ConfusionMatrix::Cell& read = output.cells.back();
    if (read.truth < 0 || read.truth >= classes || read.predicted < 0 || read.predicted >= classes)
      throwError(ErrorCode::badData, "an evaluation of {} classes has a cell {}, {}", classes, read.truth,
                 read.predicted);
  }
  for (const Json& each : json.at("classes"))
    output.table.classes.push_back({.precision = number(each, "precision"),
                                    .recall = number(each, "recall"),
                                    .f1 = number(each, "f1"),
                                    .support = each.at("support").get<std::int64_t>(),
                                    .predicted = each.at("predicted").get<std::int64_t>(),
                                    .right = each.at("right").get<std::int64_t>()});
  output.table.macro = meanFrom(json.at("macro"));
  output.table.weighted = meanFrom(json.at("weighted"));
  output.table.micro = meanFrom(json.at("micro"));
  readCurves(json.at("curves"), output);
  output.exactCurves = json.at("exact_curves").get<bool>();
  output.noCurves = json.value("no_curves", std::string());
  output.macroAuc = number(json, "macro_auc");
  output.weightedAuc = number(json, "weighted_auc");
  output.macroPrecision = number(json, "macro_average_precision");
  readCalibration(json.at("calibration"), output);
  return output;
}

}  // namespace

Json figuresJson(const EvaluationReport& report) {
  Json json = {{"version", kVersion},       {"run", report.run},         {"checkpoint", report.checkpoint},
               {"step", report.step},       {"dataset", report.dataset}, {"csv", report.csv},
               {"content", report.content}, {"picture", report.picture}, {"prepare", report.prepare},
               {"samples", report.samples}, {"seconds", report.seconds}};
  if (report.against)
    json["against"] = {{"run", report.against->run},
                       {"accuracy", report.against->accuracy},
                       {"both", report.against->difference.both},
                       {"now_right", report.against->difference.nowRight},
                       {"now_wrong", report.against->difference.nowWrong},
                       {"p_value", report.against->difference.pValue}};
  json["outputs"] = Json::array();
  for (const EvaluatedOutput& each : report.outputs) json["outputs"].push_back(figuresJson(each));
  return json;
}

Json toJson(const EvaluationReport& report) {
  Json json = figuresJson(report);
  for (std::size_t i = 0; i < report.outputs.size(); ++i)
    json["outputs"][i]["worst"] = Json::parse(samplesText(report.outputs[i]));
  return json;
}

std::string toText(const EvaluationReport& report) {
  Json json = figuresJson(report);
  const Json outputs = std::move(json["outputs"]);
  json.erase("outputs");
  std::string text = json.dump();
  text.back() = ',';
  text += "\"outputs\":[";
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    text += (i == 0 ? "" : ",") + outputs[i].dump();
    text.back() = ',';
    text += "\"worst\":" + samplesText(report.outputs[i]) + "}";
  }
  return text + "]}";
}

EvaluationReport evaluationReportFromJson(const Json& json) {
  try {
    if (const auto version = json.at("version").get<int>(); version > kVersion)
      throwError(ErrorCode::newerVersion, "the evaluation is of version {}, but this program knows {}", version,
                 kVersion);
    EvaluationReport report;
    report.run = json.at("run").get<std::string>();
    report.checkpoint = json.at("checkpoint").get<std::string>();
    report.step = json.at("step").get<std::int64_t>();
    report.dataset = json.at("dataset").get<std::string>();
    report.csv = json.at("csv").get<std::string>();
    report.content = json.at("content").get<std::string>();
    report.picture = json.at("picture").get<std::string>();
    report.prepare = json.at("prepare").get<std::vector<Json>>();
    report.samples = json.at("samples").get<std::int64_t>();
    report.seconds = number(json, "seconds");
    if (const auto against = json.find("against"); against != json.end())
      report.against = EvaluationReport::Other{.run = against->at("run").get<std::string>(),
                                               .accuracy = number(*against, "accuracy"),
                                               .difference = {.both = against->at("both").get<std::int64_t>(),
                                                              .nowRight = against->at("now_right").get<std::int64_t>(),
                                                              .nowWrong = against->at("now_wrong").get<std::int64_t>(),
                                                              .pValue = number(*against, "p_value")}};
    for (const Json& each : json.at("outputs")) report.outputs.push_back(outputFrom(each));
    return report;
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData, "this is no evaluation ({})", fault.what());
  }
}

}  // namespace loom
