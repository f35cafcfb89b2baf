// What is written of an evaluation, and read again.
#include "engine/evaluation/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tests/engine/evaluation/drawn_samples.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

using testing::ElementsAre;

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

EvaluationReport fourReport() {
  PredictedOutput output = outputOf(OutputKind::classes, {4});
  output.classes = {"plain", "with, comma", "with \"quotes\"", "z"};
  DrawnSamples samples = fourClasses();
  samples.push_back({{0.25F, std::numeric_limits<float>::quiet_NaN(), 0.25F, 0.25F}, {1}});
  return {.run = "/runs/a",
          .checkpoint = "step-1.safetensors",
          .step = 8,
          .dataset = "test",
          .csv = "/data/test.csv",
          .content = "12ab",
          .picture = "x",
          .prepare = {{{"step", "Scale"}}},
          .samples = 501,
          .seconds = 0.5,
          .outputs = {evaluated(output, samples)},
          .against = EvaluationReport::Other{"/runs/b", 0.5, mcNemar(19, 9)}};
}

TEST(Report, WhatWasWrittenIsReadAgain) {
  const EvaluationReport report = fourReport();
  const Json json = toJson(report);
  const EvaluationReport read = evaluationReportFromJson(parseJson(json.dump(), "report"));
  EXPECT_EQ(toJson(read).dump(), json.dump());
  EXPECT_EQ(read.outputs[0].worst.size(), 501u);
  EXPECT_FALSE(read.outputs[0].worst[0].finite);
  EXPECT_EQ(read.against->difference.nowRight, 19);
  EXPECT_EQ(read.outputs[0].notFinite, 1);
}

TEST(Report, WhatIsNoReportIsRefused) {
  const Json good = toJson(fourReport());
  for (const char* key : {"version", "outputs", "content", "samples"}) {
    Json broken = good;
    broken.erase(key);
    EXPECT_THROW(evaluationReportFromJson(broken), Error) << key;
  }
  Json beyond = good;
  beyond["outputs"][0]["confusion"][0][0] = 4;
  EXPECT_THROW(evaluationReportFromJson(beyond), Error) << "no fifth class";
  Json torn = good;
  torn["outputs"][0]["worst"]["loss"].erase(3);
  EXPECT_THROW(evaluationReportFromJson(torn), Error);
  Json later = good;
  later["version"] = 2;
  try {
    evaluationReportFromJson(later);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newerVersion);
  }
}

TEST(Report, TablesAreWhatASheetReads) {
  const TestFolder folder("evaluation-report");
  const auto files = writeReport(folder.path() / "deep" / "er", fourReport());
  EXPECT_THAT(files, ElementsAre("confusion.csv", "classes.csv", "samples.csv", "curves.csv", "reliability.csv",
                                 "report.json"));
  const auto read = [&](const char* name) { return linesOf(readFile(folder.path() / "deep" / "er" / name)); };
  const auto confusion = read("confusion.csv");
  ASSERT_EQ(confusion.size(), 5u);
  EXPECT_EQ(confusion[0], "true \\ predicted,plain,\"with, comma\",\"with \"\"quotes\"\"\",z");
  EXPECT_EQ(confusion[1], "plain,165,8,10,18");
  EXPECT_EQ(confusion[4], "z,2,1,4,52");
  const auto classes = read("classes.csv");
  ASSERT_EQ(classes.size(), 8u);
  EXPECT_THAT(classes[1], testing::StartsWith("plain,0.90163934"));
  EXPECT_THAT(classes[5], testing::StartsWith("macro mean,0.79216668"));
  const auto samples = read("samples.csv");
  ASSERT_EQ(samples.size(), 502u);
  EXPECT_EQ(samples[1], "501,,,nan,,,,") << "what is no number comes first";
  EXPECT_GT(read("curves.csv").size(), 100u);
  const auto bins = read("reliability.csv");
  ASSERT_EQ(bins.size(), 16u);
  EXPECT_EQ(bins[0], "from,to,count,confidence,right");
  const EvaluatedOutput output = fourReport().outputs.front();
  EXPECT_EQ(linesOf(rocCsv(output))[0], "class,threshold,false positive rate,true positive rate");
  EXPECT_EQ(linesOf(precisionRecallCsv(output))[0], "class,threshold,recall,precision");
  EXPECT_EQ(linesOf(rocCsv(output)).size(), read("curves.csv").size());
}

// Written as text, read as JSON: the same numbers to the bit, and of maps how well each lies on the truth.
TEST(Report, OfAMapComesBackWhole) {
  const DrawnSamples pixels = fourClasses();
  DrawnSamples maps;
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    DrawnSample& map = maps.emplace_back();
    for (std::size_t k = i; k < i + 4; ++k) {
      map.values.insert(map.values.end(), pixels[k].values.begin(), pixels[k].values.end());
      map.truth.push_back(pixels[k].truth[0]);
    }
  }
  const EvaluationReport report{.outputs = {evaluated(outputOf(OutputKind::classes, {2, 2, 4}), maps)}};
  const Json json = Json::parse(toText(report));
  EXPECT_EQ(json, toJson(report));
  const EvaluatedOutput &before = report.outputs[0], after = evaluationReportFromJson(json).outputs[0];
  ASSERT_EQ(after.worst.size(), before.worst.size());
  for (std::size_t i = 0; i < after.worst.size(); ++i) {
    EXPECT_EQ(after.worst[i].iou, before.worst[i].iou);
    EXPECT_EQ(after.worst[i].rightShare, before.worst[i].rightShare);
    EXPECT_EQ(after.worst[i].loss, before.worst[i].loss);
    EXPECT_EQ(after.worst[i].truthShare, before.worst[i].truthShare);
  }
  const auto samples = linesOf(samplesCsv(before));
  EXPECT_EQ(samples[0], "row,true,predicted,loss,true share,predicted share,next,next share,iou,right share");
  EXPECT_EQ(std::count(samples[1].begin(), samples[1].end(), ','), 9);
  Json older = json;  // from before the samples had it
  for (const char* name : {"iou", "right_share"}) older["outputs"][0]["worst"].erase(name);
  EXPECT_EQ(evaluationReportFromJson(older).outputs[0].worst[0].iou, 1);
}

TEST(Report, NumbersHaveTheirOwnTables) {
  const TestFolder folder("evaluation-numbers");
  const EvaluationReport report{.outputs = {evaluated(outputOf(OutputKind::numbers, {2}), twoNumbers())}};
  EXPECT_THAT(writeReport(folder.path(), report), ElementsAre("classes.csv", "samples.csv", "report.json"));
  const auto values = linesOf(readFile(folder.path() / "classes.csv"));
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0], "value,count,r2,mae,rmse,bias,least,most");
  EXPECT_THAT(values[1], testing::StartsWith("0,300,0.98913153"));
  const auto samples = linesOf(readFile(folder.path() / "samples.csv"));
  EXPECT_EQ(samples.size(), 301u);
  EXPECT_EQ(evaluationReportFromJson(toJson(report)).outputs[0].values.size(), 2u);
}

}  // namespace
}  // namespace loom
