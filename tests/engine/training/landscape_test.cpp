// The loss along lines and random directions: the ends are the runs, the directions are as long as the weights, a
// parabola is found as one.
#include "engine/training/landscape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "engine/base/files.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

Json withStatistics() {
  Json project = perceptron();
  project["networks"]["main"]["nodes"].push_back({{"id", "norm"}, {"layer", "BatchNormalization"}});
  Json& edges = project["networks"]["main"]["edges"];
  edges[1] = {"fc1", "norm"};
  edges.push_back({"norm", "relu"});
  return project;
}

double lossOf(const Workshop::Run& run, const std::string& dataset) {
  TrainedNetwork network(cpuBackend(), {.run = run.folder, .which = Which::last});
  return network.evaluate(dataset).loss;
}

Landscape landscapeOf(LandscapeOptions options) {
  options.which = Which::last;
  return measureLandscape(cpuBackend(), options, nullptr);
}

std::string refusal(const LandscapeOptions& options) {
  try {
    landscapeOf(options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Landscape, TheEndsOfALineAreTheRunsThemselves) {
  const Workshop workshop("landscape-line");
  Json project = withStatistics();
  const auto one = workshop.train(project, "one");
  project["training"]["seed"] = 77;
  const auto two = workshop.train(project, "two");
  const std::string before = readFile(one.result.lastCheckpoint, std::size_t{1} << 24);
  std::int64_t told = 0;
  LandscapeOptions options{.run = one.folder, .to = two.folder, .which = Which::last};
  options.points = 9;
  options.from = -0.5;
  options.until = 1.5;
  const Landscape line =
      measureLandscape(cpuBackend(), options, [&](const LandscapePoint&, std::int64_t done, std::int64_t all) {
        EXPECT_EQ(done, ++told);
        EXPECT_EQ(all, 9);
      });
  ASSERT_EQ(line.all.size(), 9u);
  EXPECT_EQ(told, 9);
  EXPECT_EQ(line.all[0].a, -0.5);
  EXPECT_EQ(line.all[2].a, 0);
  EXPECT_EQ(line.all[6].a, 1);
  EXPECT_EQ(line.all[2].training.loss, lossOf(one, "training"));
  EXPECT_EQ(line.all[2].validation->loss, lossOf(one, "validation"));
  EXPECT_EQ(line.all[6].training.loss, lossOf(two, "training"));
  EXPECT_EQ(line.all[6].validation->loss, lossOf(two, "validation"));
  EXPECT_NE(line.all[4].training.loss, line.all[2].training.loss);
  EXPECT_EQ(line.to, "two");
  EXPECT_EQ(line.step, one.result.step);
  EXPECT_EQ(readFile(one.result.lastCheckpoint, std::size_t{1} << 24), before);
}

TEST(Landscape, RunsOfOtherDrawingsAreRefusedByWhatTellsThem) {
  const Workshop workshop("landscape-refused");
  Json project = perceptron();
  const auto one = workshop.train(project, "one");
  project["networks"]["main"]["nodes"][1]["outputs"] = 9;
  const auto wide = workshop.train(project, "wide");
  project = perceptron();
  project["networks"]["main"]["nodes"][2]["layer"] = "Tanh";
  const auto bent = workshop.train(project, "bent");
  const auto normal = workshop.train(withStatistics(), "normal");
  EXPECT_THAT(refusal({.run = one.folder, .to = wide.folder}), HasSubstr("'fc1/weight' is 8×3 in the first and 9×3"));
  EXPECT_THAT(refusal({.run = one.folder, .to = bent.folder}), HasSubstr("other drawings"));
  EXPECT_THAT(refusal({.run = one.folder, .to = normal.folder}), HasSubstr("'norm/"));
  LandscapeOptions options{.run = one.folder, .to = {}};
  options.points = 1;
  EXPECT_THAT(refusal(options), HasSubstr("2 to 1001"));
  options.points = 3;
  const std::atomic<bool> stop = true;
  options.stop = &stop;
  EXPECT_THAT(refusal(options), HasSubstr("stopped"));
  EXPECT_THAT(refusal({.run = {workshop.path() / "none"}, .to = {}}), HasSubstr("no run.json"));
}

TEST(Landscape, FiltersOfADirectionAreAsLongAsTheWeights) {
  const Parameter weight{.name = "conv/weight", .shape = Shape{4, 2, 3, 3}};
  std::vector<float> weights(72);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i < 18 ? 0 : static_cast<float>(i % 7) * 0.1F - 0.2F;
  const std::vector<float> direction = filterDirection(weight, weights, 3);
  for (std::size_t f = 0; f < 4; ++f) {
    double own = 0, drawn = 0, product = 0;
    for (std::size_t i = 18 * f; i < 18 * (f + 1); ++i) {
      own += static_cast<double>(weights[i]) * weights[i];
      drawn += static_cast<double>(direction[i]) * direction[i];
      product += static_cast<double>(weights[i]) * direction[i];
    }
    EXPECT_NEAR(drawn, own, 1e-6) << f;
    if (f > 0) {
      EXPECT_LT(std::abs(product), 0.95 * own) << f;  // it is no copy
    }
  }
  EXPECT_EQ(filterDirection(weight, weights, 3), direction);
  EXPECT_NE(filterDirection(weight, weights, 4), direction);
  const std::vector<float> none(72, 0);
  EXPECT_EQ(filterDirection({.name = "bias", .shape = Shape{72}, .kind = ParameterKind::bias}, weights, 3), none);
  EXPECT_EQ(filterDirection({.name = "norm", .shape = Shape{72}, .kind = ParameterKind::normalisation}, weights, 3),
            none);
  EXPECT_EQ(filterDirection({.name = "mean", .shape = Shape{72}, .isState = true}, weights, 3), none);
}

// One weight without bias, mean squared error: the loss over the weight is a parabola whose terms the data tell.
TEST(Landscape, AParabolaIsFound) {
  const Workshop workshop("landscape-parabola");
  std::string csv = "x,y\n";
  double xx = 0, xy = 0, yy = 0;
  for (int i = 1; i <= 20; ++i) {
    const double x = 0.1 * i, y = 1.5 * x + 0.2 * (i % 3);
    csv += fmt::format("{:.4f},{:.4f}\n", x, y);
    xx += x * x / 20, xy += x * y / 20, yy += y * y / 20;
  }
  workshop.write("train.csv", csv);
  const auto run = workshop.train(parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 1, "bias": false},
                {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
      "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 2, "batch": 7, "optimizer": {"name": "SGD", "learning_rate": 0.1}}})",
                                            "parabola"),
                                  "run");
  const double weight = run.tensors().at("fc/weight")[0];
  const auto lossAt = [&](double w) { return w * w * xx - 2 * w * xy + yy; };
  LandscapeOptions options{.run = run.folder, .to = {}};
  options.points = 5;
  const Landscape found = landscapeOf(options);
  // The only filter has one number: the direction is the weight itself or its opposite.
  const double sign = std::abs(found.all[4].training.loss - lossAt(2 * weight)) < 1e-4 ? 1 : -1;
  for (const LandscapePoint& point : found.all) {
    EXPECT_NEAR(point.training.loss, lossAt(weight * (1 + sign * point.a)), 1e-5) << point.a;
    EXPECT_FALSE(point.validation);
  }
  EXPECT_EQ(found.all[2].a, 0);
  // Two directions of one number: a plane of sums; its centre is the run. Of some samples alone it is another parabola.
  options.directions = 2;
  options.points = 3;
  const Landscape plane = landscapeOf(options);
  ASSERT_EQ(plane.all.size(), 9u);
  EXPECT_EQ(plane.all[4].training.loss, found.all[2].training.loss);
  EXPECT_EQ(plane.all[3].b, 0);
  EXPECT_EQ(plane.all[3].a, -1);
  options.directions = 1;
  options.samples = 5;
  EXPECT_NE(landscapeOf(options).all[1].training.loss, found.all[2].training.loss);
  // As CSV and as JSON.
  std::istringstream lines(toCsv(plane));
  std::string head, row;
  std::getline(lines, head);
  std::getline(lines, row);
  EXPECT_EQ(head, "a,b,training_loss");
  EXPECT_THAT(row, testing::StartsWith("-1,-1,"));
  EXPECT_EQ(toJson(plane)["values"].size(), 9u);
}

}  // namespace
}  // namespace loom
