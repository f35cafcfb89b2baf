// Units and repeats in a run: names of weights, resuming, evaluating, predicting, planning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/files.h"
#include "engine/network/flatten.h"
#include "engine/run/control.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

// 3 -> 8 -> 8 -> 4 -> 3: a unit twice, and once more in a group that repeats.
Json ofUnits() {
  Json project = perceptron();
  project["networks"]["main"] = parseJson(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "wide", "unit": "Dense", "width": 8, "repeat": 2},
      {"id": "narrow", "unit": "Dense", "width": "=Input[0]/2", "group": "again"}, {"id": "fc2", "layer": "Linear", "outputs": 3},
      {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "accuracy", "layer": "Accuracy"}],
      "edges": [["x", "wide"], ["wide", "narrow"], ["narrow", "fc2"], ["fc2", "loss"], ["y", "loss.target"], ["fc2", "accuracy"], ["y", "accuracy.target"]],
      "groups": [{"id": "again", "repeat": 2}]})",
      "main");
  project["units"] = parseJson(
      R"({"Dense": {"arguments": {"width": 4}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": "=width"},
      {"id": "norm", "layer": "BatchNormalization"}, {"id": "relu", "layer": "ReLU"}, {"id": "drop", "layer": "Dropout", "probability": 0.1}, {"id": "out", "layer": "Output"}],
      "edges": [["in", "fc"], ["fc", "norm"], ["norm", "relu"], ["relu", "drop"], ["drop", "out"]]}})",
      "units");
  return project;
}

TEST(Units, WeightsAreCalledByTheirPathAndAreTheirOwn) {
  const Workshop workshop("units-names");
  const auto run = workshop.train(ofUnits(), "run");
  const auto tensors = run.tensors();
  for (const char* name : {"wide/0/fc/weight", "wide/1/fc/weight", "again/0/narrow/fc/weight", "again/1/narrow/fc/bias",
                           "fc2/weight", "wide/1/norm/mean"})
    EXPECT_EQ(tensors.count(name), 1u) << name;
  EXPECT_EQ(tensors.at("wide/0/fc/weight").size(), 8u * 3);
  EXPECT_EQ(tensors.at("wide/1/fc/weight").size(), 8u * 8);
  EXPECT_EQ(tensors.at("again/0/narrow/fc/weight").size(), 4u * 8);
  EXPECT_EQ(tensors.at("again/1/narrow/fc/weight").size(), 2u * 4);
  EXPECT_NE(tensors.at("wide/0/fc/bias"), tensors.at("wide/1/fc/bias"));
  const std::vector<double> losses = run.series("step", "loss");
  EXPECT_LT(losses.back(), losses.front());
}

TEST(Units, ResumeEqualsNeverStopped) {
  const Workshop workshop("units-resume");
  const auto whole = workshop.train(ofUnits(), "whole");
  workshop.train(ofUnits(), "parts", {.watch = [](const Event& event, const RunFolder& folder) {
                   if (event.kind == "step" && event.body["step"] == 4) appendControl(folder, {{"command", "stop"}});
                 }});
  const auto parts = workshop.train(ofUnits(), "parts", {.resume = true});
  EXPECT_EQ(parts.events.back().attempt, 2);
  EXPECT_EQ(whole.tensors(), parts.tensors());
  EXPECT_EQ(whole.series("step", "loss"), parts.series("step", "loss"));
}

TEST(Units, PatternsFindWeightsByTheirPath) {
  const Workshop workshop("units-patterns");
  Json project = ofUnits();
  project["training"]["parameters"] = {"wide/*", "fc2/*"};
  project["training"]["epochs"] = 1;
  const auto run = workshop.train(project, "run");
  const auto before = workshop.train(
      [&] {
        Json none = project;
        none["training"]["optimizer"] = {{"name", "SGD"}, {"learning_rate", 0.0}};
        return none;
      }(),
      "before");
  EXPECT_NE(run.tensors().at("wide/1/fc/weight"), before.tensors().at("wide/1/fc/weight"));
  EXPECT_EQ(run.tensors().at("again/0/narrow/fc/weight"), before.tensors().at("again/0/narrow/fc/weight"));
  project["training"]["parameters"] = {"stage9/*"};
  std::vector<std::string> found;
  for (const Problem& problem : checkProject(readProject(project.dump(), "p").project))
    found.push_back(problem.message);
  EXPECT_THAT(found,
              testing::ElementsAre(testing::HasSubstr(
                  "the pattern 'stage9/*' matches no weight of network 'main', whose weights are called wide/0/fc/")));
}

TEST(Units, AreEvaluatedAndPredictedWith) {
  const Workshop workshop("units-predict");
  Json project = ofUnits();
  project["networks"]["main"]["nodes"].push_back({{"id", "features"}, {"layer", "Output"}});
  project["networks"]["main"]["edges"].push_back({"narrow", "features"});
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
  const Measured measured = trained.evaluate("");
  EXPECT_DOUBLE_EQ(measured.loss, run.series("validation", "loss").back());
  const auto result = trained.predict({.files = {workshop.path() / "val.csv"}, .out = workshop.path() / "out.csv"});
  EXPECT_EQ(result.samples, 21);
  // What feeds the loss, and what a person marked.
  EXPECT_THAT(result.columns, testing::ElementsAre("y'__0", "y'__1", "y'__2", "features'__0", "features'__1"));
}

}  // namespace
}  // namespace loom
