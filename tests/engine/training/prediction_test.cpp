#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) all.push_back(cell);
  return all;
}

TEST(Prediction, AddsProbabilitiesToTheColumns) {
  const Workshop workshop("predict", 300);
  Json project = perceptron();
  project["training"]["epochs"] = 10;
  const auto run = workshop.train(project, "run");
  TrainedRun trained(cpuBackend(), {.run = run.folder});
  const auto result = trained.predict({.csv = workshop.path() / "val.csv", .out = workshop.path() / "out.csv"});
  EXPECT_EQ(result.rows, 21);
  EXPECT_THAT(result.columns, testing::ElementsAre("y'__0", "y'__1", "y'__2"));
  const auto before = lines(readFile(workshop.path() / "val.csv")),
             after = lines(readFile(workshop.path() / "out.csv"));
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0], before[0] + ",y'__0,y'__1,y'__2");
  int right = 0;
  for (std::size_t row = 1; row < after.size(); ++row) {
    EXPECT_EQ(after[row].rfind(before[row] + ",", 0), 0u) << "the row's own text stays as it is";
    const auto values = cells(after[row]);
    ASSERT_EQ(values.size(), 7u);
    double sum = 0, best = -1;
    int choice = 0;
    for (int i = 0; i < 3; ++i) {
      const double p = std::stod(values[4 + i]);
      sum += p;
      if (p > best) best = p, choice = i;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    right += std::to_string(choice) == values[3];
  }
  EXPECT_NEAR(right / 21.0, trained.evaluate("").metrics[0].second, 1e-6)
      << "the same samples are right as evaluation says";
}

TEST(Prediction, ComputesInThePrecisionOfTheRunAsEvaluationDoes) {
  const Workshop workshop("predict-precision");
  Json project = perceptron();
  project["training"].update({{"epochs", 1}, {"precision", "bf16"}});
  const auto run = workshop.train(project, "run");
  WatchedBackend backend;
  TrainedRun trained(backend, {.run = run.folder});
  trained.predict({.csv = workshop.path() / "val.csv", .out = workshop.path() / "out.csv"});
  trained.evaluate("");
  EXPECT_GE(backend.precisions.size(), 2u);
  EXPECT_THAT(backend.precisions, testing::Each(DataType::bf16));
}

TEST(Prediction, ReadsQuotedCellsBlankLinesAndOtherColumns) {
  const Workshop workshop("predict-quoted");
  const auto run = workshop.train(perceptron(), "run");
  workshop.write("odd.csv",
                 "\xEF\xBB\xBFx__0,x__1,#note,x__2,y:label\r\n1,2,\"a, \"\"b\"\"\nc\",3,0\r\n\r\n4,5,plain,6,1");
  TrainedRun trained(cpuBackend(), {.run = run.folder});
  EXPECT_EQ(trained.predict({.csv = workshop.path() / "odd.csv", .out = workshop.path() / "out.csv"}).rows, 2);
  const std::string out = readFile(workshop.path() / "out.csv");
  EXPECT_THAT(out, HasSubstr("1,2,\"a, \"\"b\"\"\nc\",3,0,0."));
  EXPECT_THAT(out, HasSubstr("\n4,5,plain,6,1,0."));
}

TEST(Prediction, OneNumberIsOneColumn) {
  const Workshop workshop("predict-one");
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "target", "layer": "Input", "shape": [1], "variable": "y"}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["target", "loss.target"]]})");
  const auto run = workshop.train(project, "run");
  TrainedRun trained(cpuBackend(), {.run = run.folder});
  EXPECT_THAT(trained.predict({.csv = workshop.path() / "val.csv", .out = workshop.path() / "out.csv"}).columns,
              testing::ElementsAre("y'"));
}

TEST(Prediction, WhatHasAxesGoesIntoFiles) {
  const Workshop workshop("predict-files");
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc", "layer": "Linear", "outputs": 6},
    {"id": "grid", "layer": "Reshape", "shape": [2, 3]}, {"id": "goal", "layer": "Input", "shape": [3], "variable": "x"},
    {"id": "back", "layer": "Linear", "outputs": 3}, {"id": "loss", "layer": "MeanSquaredError"}, {"id": "flat", "layer": "Flatten"}],
    "edges": [["x", "fc"], ["fc", "grid"], ["grid", "flat"], ["flat", "back"], ["back", "loss"], ["goal", "loss.target"]]})");
  const auto run = workshop.train(project, "run");
  TrainedRun trained(cpuBackend(), {.run = run.folder});
  EXPECT_THAT(trained.predict({.csv = workshop.path() / "val.csv", .out = workshop.path() / "out.csv"}).columns,
              testing::ElementsAre("x'__0", "x'__1", "x'__2"));
}

TEST(TrainedRuns, SayWhatIsMissing) {
  const Workshop workshop("trained-missing");
  const auto message = [&](const std::string& name) -> std::string {
    try {
      TrainedRun trained(cpuBackend(), {.run = {workshop.path() / name}});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message("none"), HasSubstr("no run.json"));
  const auto run = workshop.train(perceptron(), "run");
  std::filesystem::remove_all(run.folder.checkpoints());
  EXPECT_THAT(message("run"), HasSubstr("no checkpoint"));
  workshop.write("run/run.json", "{\"run\": 99}");
  EXPECT_THAT(message("run"), HasSubstr("newer"));
  workshop.write("run/run.json", "{\"run\": 1}");
  EXPECT_THAT(message("run"), HasSubstr("no description of a run"));
}

}  // namespace
}  // namespace loom
