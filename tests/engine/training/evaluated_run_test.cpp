// Every measure of a trained run in one pass: the figures are those of the network's own loss and metrics.
#include "engine/training/evaluated_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusalOf(TrainedNetwork& trained, const EvaluationRequest& request) {
  try {
    evaluateRun(trained, request);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(EvaluatedRun, IsWhatLossAndMetricsSay) {
  const Workshop workshop("evaluated", 300);
  workshop.write("train.y.classes.txt", "red\ngreen\nblue\n");
  const auto run = workshop.train(perceptron(), "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  std::int64_t told = 0;
  const EvaluationReport report =
      evaluateRun(trained, {.progress = [&](std::int64_t done, std::int64_t all) { told = done == all ? all : -1; }});
  EXPECT_EQ(told, 21);
  EXPECT_EQ(report.dataset, trained.usualDataset());
  EXPECT_EQ(report.samples, 21);
  EXPECT_EQ(report.picture, "x");
  EXPECT_EQ(report.step, trained.step());
  ASSERT_EQ(report.outputs.size(), 1u);
  const EvaluatedOutput& output = report.outputs[0];
  EXPECT_THAT(output.words, testing::ElementsAre("red", "green", "blue"));
  const Measured measured = trained.evaluate("");
  EXPECT_NEAR(output.loss, measured.loss, 1e-5);
  EXPECT_NEAR(output.accuracy.share, measured.metrics[0].second, 1e-6);
  EXPECT_EQ(output.worst.size(), 21u);
  // The same samples from their file are the same evaluation.
  const EvaluationReport file = evaluateRun(trained, {.file = workshop.path() / "val.csv"});
  EXPECT_EQ(file.dataset, "");
  EXPECT_EQ(file.outputs[0].right, output.right);
  EXPECT_NEAR(file.outputs[0].loss, output.loss, 1e-9);
  EXPECT_EQ(evaluateRun(trained, {.dataset = trained.trainedOn()}).samples, 300);
}

TEST(EvaluatedRun, AnotherRunIsComparedOnTheSameSamplesAlone) {
  const Workshop workshop("evaluated-two", 300);
  Json project = perceptron();
  project["training"]["epochs"] = 1;
  const auto first = workshop.train(project, "first");
  project["training"]["epochs"] = 12;
  const auto second = workshop.train(project, "second");
  TrainedNetwork before(cpuBackend(), {.run = first.folder}), now(cpuBackend(), {.run = second.folder});
  const EvaluationReport one = evaluateRun(before, {}), other = evaluateRun(now, {});
  const EvaluationReport::Other difference = comparisonOf(one, other);
  EXPECT_EQ(difference.difference.both, 21);
  EXPECT_EQ(difference.difference.nowRight - difference.difference.nowWrong,
            other.outputs[0].right - one.outputs[0].right);
  EXPECT_NEAR(difference.accuracy, one.outputs[0].accuracy.share, 1e-12);
  EXPECT_THROW(comparisonOf(evaluateRun(before, {.dataset = before.trainedOn()}), other), Error);
}

TEST(EvaluatedRun, DataWithoutTruthOrWithOtherClassesAreRefused) {
  const Workshop workshop("evaluated-refused");
  const auto run = workshop.train(perceptron(), "run");
  workshop.write("blind.csv", "x__0,x__1,x__2\n2,0,0.5\n");
  workshop.write("other.csv", "x__0,x__1,x__2,y:label\n2,0,0.5,0\n2,0,0.5,7\n");
  workshop.write("none.csv", "x__0,x__1,x__2,y:label\n");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  EXPECT_THAT(refusalOf(trained, {.file = workshop.path() / "blind.csv"}), HasSubstr("no column 'y'"));
  EXPECT_THAT(refusalOf(trained, {.file = workshop.path() / "other.csv"}),
              AllOf(HasSubstr("row 2"), HasSubstr("0 to 2")));
  EXPECT_NE(refusalOf(trained, {.file = workshop.path() / "none.csv"}), "no error");
}

// A table as it stands in its file: the run's steps on columns are done to it before anything is missed, and rows that
// training leaves out are left out of what is judged.
TEST(EvaluatedRun, AnotherTableGoesThroughTheRunsOwnSteps) {
  const Workshop workshop("evaluated-table");
  std::string text = "area,town,price NOK\n";
  for (int i = 0; i < 48; ++i)
    text += fmt::format("{},{},{}\n", i + 20, i % 3 ? "Oslo" : "Bergen", 100000 + 3000 * i + (i % 3 ? 40000 : 0));
  workshop.write("train.csv", text);
  workshop.write("holes.csv", text + "33,Oslo,\n");
  workshop.write("blind.csv", "town,area\nOslo,33\n");
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "y", "layer": "Input", "shape": [1], "variable": "price NOK"}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]})");
  project["datasets"].erase("validation");
  project["datasets"]["training"]["prepare"] = Json::parse(
      R"([{"step": "SkipRows", "missing": ["price NOK"]}, {"step": "Standardise", "variable": ["area", "price NOK"]},
    {"step": "Encode", "variable": "town", "form": "one_hot"}, {"step": "Join", "variable": ["area", "town"], "into": "x"}])");
  project["training"]["epochs"] = 3;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const EvaluatedOutput own = evaluateRun(trained, {}).outputs.at(0);
  for (const char* name : {"train.csv", "holes.csv"}) {
    const EvaluationReport other = evaluateRun(trained, {.file = workshop.path() / name});
    EXPECT_EQ(other.samples, 48) << name;
    EXPECT_EQ(other.outputs.at(0).regression.rmse, own.regression.rmse) << name;
    EXPECT_EQ(other.outputs[0].regression.most, own.regression.most) << name;
  }
  EXPECT_THAT(refusalOf(trained, {.file = workshop.path() / "blind.csv"}), HasSubstr("no column 'price NOK'"));
  // To predict, a row without its truth is a row.
  const Predictions said = trained.predict({.files = {workshop.path() / "holes.csv"}, .keep = 99});
  EXPECT_EQ(said.samples, 49);
  EXPECT_EQ(trained.predict({.files = {workshop.path() / "train.csv"}, .keep = 1}).kept[0].outputs[0].truth,
            std::vector<float>{100000});
}

// A target that was scaled for training is judged in the unit of its column.
TEST(EvaluatedRun, NumbersAreInTheUnitOfTheirColumn) {
  const Workshop workshop("evaluated-unit");
  std::string text = "x,y\n";
  for (int i = 0; i < 64; ++i) text += fmt::format("{},{}\n", i / 32.0 - 1, 200000 + 3000 * i + i % 5 * 4000);
  workshop.write("train.csv", text);
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]})");
  project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Normalise", "variable": "y"}])");
  project["training"]["epochs"] = 60;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const EvaluatedOutput output = evaluateRun(trained, {}).outputs.at(0);
  ASSERT_EQ(output.kind, EvaluatedOutput::numbers);
  EXPECT_NEAR(output.regression.least, 200000, 1);
  EXPECT_NEAR(output.regression.most, 200000 + 3000 * 63 + 12000, 1);
  EXPECT_NEAR(output.regression.rmse, 5700, 600) << "what no line can follow, in the unit of the column";
  // R2 has no unit: the mean of squares that was trained, over the variance of what it was trained on, which is 1.
  EXPECT_NEAR(1 - output.regression.r2, trained.evaluate("").loss, 1e-3);
  // The same while it trains, beside the loss, where steps on columns scale it too.
  const std::vector<double> whileTraining = run.series("epoch", "RMSE_y"), losses = run.series("epoch", "loss");
  ASSERT_EQ(whileTraining.size(), 60u);
  const auto measured = trained.evaluate("").metrics;
  ASSERT_EQ(measured.size(), 1u);
  EXPECT_EQ(measured[0].first, "RMSE_y");
  EXPECT_NEAR(measured[0].second, output.regression.rmse, 0.5);
  EXPECT_NEAR(whileTraining.back() / std::sqrt(losses.back()),
              measured[0].second / std::sqrt(trained.evaluate("").loss), 0.5);
  EXPECT_EQ(run.series("step", "RMSE_y").size(), run.series("step", "loss").size());

  project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Standardise", "variable": "y"}])");
  project["networks"]["main"]["nodes"][3].update({{"layer", "AbsoluteError"}, {"weight", 4.0}});
  const auto absolute = workshop.train(project, "absolute");
  TrainedNetwork other(cpuBackend(), {.run = absolute.folder});
  EXPECT_NEAR(other.evaluate("").metrics.at(0).second, evaluateRun(other, {}).outputs.at(0).regression.mae, 0.5);
  // Nothing where no straight line leads to the unit, or it is the loss's own.
  project["networks"]["main"]["nodes"][3]["layer"] = "MeanSquaredError";
  for (const char* steps : {R"([{"step": "Log", "variable": "y"}, {"step": "Standardise", "variable": "y"}])", "[]"}) {
    project["datasets"]["training"]["prepare"] = Json::parse(steps);
    project["training"]["epochs"] = 1;
    project["training"]["optimizer"]["learning_rate"] = 1e-12;
    const auto none = workshop.train(project, "none" + std::to_string(std::string(steps).size()));
    EXPECT_TRUE(none.of("epoch").at(0).body.at("metrics").empty()) << steps;
  }
}

}  // namespace
}  // namespace loom
