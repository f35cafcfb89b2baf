// What a run tells of its gradients while it trains: the noise scale is that of many single measurements, trust ratios
// stand by layer, magnitudes are counted, and nothing is told that was not asked for.
#include "engine/training/gradient_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/network/project_arguments.h"
#include "engine/program/parameter_store.h"
#include "engine/training/noise_scale.h"
#include "engine/training/rank_times.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

// A true gradient of squared length 2 whose noise of one sample is 60: 30 samples.
TEST(NoiseWhileTraining, FollowsFromAPartAndTheWhole) {
  NoiseWhileTraining noise;
  for (int i = 0; i < 7; ++i) noise.add({2 + 60 / 8.0, 8}, {2 + 60 / 32.0, 32});
  EXPECT_FALSE(noise.noiseScale());  // too few
  noise.add({2 + 60 / 4.0, 4}, {2 + 60 / 32.0, 32});
  ASSERT_TRUE(noise.noiseScale());
  EXPECT_NEAR(*noise.noiseScale(), 30, 1e-9);
}

TEST(NoiseWhileTraining, TellsNothingWhereTheGradientCannotBeToldFromNoise) {
  NoiseWhileTraining noise;
  for (int i = 0; i < 20; ++i) noise.add({8, 1}, {1, 8});  // all noise
  EXPECT_FALSE(noise.noiseScale());
  NoiseWhileTraining whole;
  for (int i = 0; i < 20; ++i) whole.add({2, 8}, {2, 8});  // no part
  for (int i = 0; i < 20; ++i) whole.add({std::nan(""), 4}, {2, 8});
  EXPECT_FALSE(whole.noiseScale());
}

TEST(GradientMagnitudes, AreCountedByPowerWithWhatHalfPrecisionLoses) {
  ParameterStore store(1);
  store.ensure({{.name = "w", .shape = {8}}});
  store.gradient("w").write(std::vector<float>{0, 1, -1.5F, 0x1p-24F, -0x1p-25F, 0x1p-30F, 0x1p-60F, 0x1p20F});
  const Json figures = gradientMagnitudes(store, {"w"}, 1024);
  const int from = figures["from"];
  const auto count = [&](int power) { return figures["counts"][static_cast<std::size_t>(power - from)].get<int>(); };
  EXPECT_EQ(figures["zeros"], 1);
  EXPECT_EQ(count(0), 2);
  EXPECT_EQ(count(-24), 1);
  EXPECT_EQ(count(-25), 1);
  EXPECT_EQ(count(-30), 1);
  EXPECT_EQ(figures["counts"].front(), 1);  // what is smaller than the least
  EXPECT_EQ(figures["counts"].back(), 1);   // and larger than the most
  EXPECT_DOUBLE_EQ(figures["lost"], 3.0 / 7);
  EXPECT_DOUBLE_EQ(figures["lost_scaled"], 1.0 / 7);  // 2^-30 is 2^-20 then
  EXPECT_EQ(figures["scale"], 1024);
}

TEST(SquaresOf, AddsAllOfThem) {
  for (const std::size_t size : {0, 1, 7, 8, 19})
    EXPECT_DOUBLE_EQ(squaresOf(std::vector<float>(size, 3.0F)), 9.0 * static_cast<double>(size));
}

// Of the steps that tell it.
std::vector<double> noiseOf(const Workshop::Run& run) {
  std::vector<double> told;
  for (const Event& step : run.of("step"))
    if (step.body.contains("noise_scale")) told.push_back(step.body["noise_scale"].get<double>());
  return told;
}

Json watched(const Json& settings) {
  Json project = perceptron(false);
  project["training"].update({{"batch", 32}, {"watch_gradients", true}, {"shuffle", true}});
  project["training"].update(settings);
  return project;
}

// At weights that stay where they are: by passes, by virtual ranks, in a deterministic run, and with methods that take
// another gradient than that of the step.
TEST(WatchedGradients, TellTheNoiseScaleThatIsMeasuredOnRequest) {
  const Workshop workshop("watched", 2000);
  const Json still = {{"epochs", 8}, {"optimizer", {{"name", "SGD"}, {"learning_rate", 0.0}}}};
  const Project project = checkedProject(watched(still), "project.loom", {}).project;
  const double known =
      measureNoiseScale(cpuBackend(), {.project = project, .folder = workshop.path(), .run = {}, .samples = 2000})
          .noise;
  int runs = 0;
  for (const Json& parts :
       {Json{{"accumulate", 4}}, Json{{"virtual_ranks", 4}, {"wire", "bf16"}},
        Json{{"deterministic", true}, {"virtual_ranks", 4}, {"epochs", 4}},
        Json{{"accumulate", 4}, {"perturbation", "sam"}}, Json{{"accumulate", 4}, {"gradients", "delayed"}},
        Json{{"virtual_ranks", 4}, {"gradients", "delayed"}, {"wire", "bf16"}}}) {
    SCOPED_TRACE(parts.dump());
    Json json = watched(still);
    json["training"].update(parts);
    const auto run = workshop.train(json, "watched-" + std::to_string(++runs));
    const std::vector<double> told = noiseOf(run);
    ASSERT_GT(told.size(), 20U);
    double mean = 0;
    for (std::size_t i = told.size() / 2; i < told.size(); ++i) mean += told[i] / (told.size() - told.size() / 2);
    EXPECT_GT(mean, known / 2) << known;
    EXPECT_LT(mean, known * 2) << known;
  }
}

TEST(WatchedGradients, NeedAPartOfAStep) {
  const Workshop workshop("whole", 64);
  const auto run = workshop.train(watched({{"epochs", 20}}), "whole");
  EXPECT_TRUE(noiseOf(run).empty());
  ASSERT_FALSE(run.of("gradients").empty());  // magnitudes need none
}

// To watch changes nothing of what is trained.
TEST(WatchedGradients, LeaveTheWeightsAsTheyWouldBe) {
  const Workshop workshop("unchanged", 64);
  Json json = watched({{"epochs", 6}, {"accumulate", 4}});
  const auto run = workshop.train(json, "watched");
  json["training"]["watch_gradients"] = false;
  const auto plain = workshop.train(json, "plain");
  EXPECT_EQ(run.tensors(), plain.tensors());
  EXPECT_TRUE(plain.of("gradients").empty());
  EXPECT_TRUE(noiseOf(plain).empty());
}

// The rank that waits least is the slowest: what it waits is the exchange, what others wait beyond is lost.
TEST(RankSums, PartExchangingFromWaiting) {
  RankSums sums;
  sums.add({{.all = 0, .waited = 1, .data = 0}, {.all = 1, .waited = 0, .data = 0}});  // not known of all
  EXPECT_EQ(sums.steps(), 0);
  sums.add({{.all = 0.010, .waited = 0.004, .data = 0}, {.all = 0.010, .waited = 0.001, .data = 0.002}});
  sums.add({{.all = 0.012, .waited = 0.002, .data = 0}, {.all = 0.012, .waited = 0.005, .data = 0}});
  EXPECT_EQ(sums.steps(), 2);
  const Json told = sums.take({"a", "b"});
  EXPECT_EQ(told["exchanging_ms"], Json({1.5, 1.5}));
  EXPECT_EQ(told["waiting_ms"], Json({1.5, 1.5}));
  EXPECT_EQ(told["computing_ms"], Json({8.0, 7.0}));
  EXPECT_EQ(told["data_ms"], Json({0.0, 1.0}));
  EXPECT_EQ(told["hosts"], Json::parse(R"([["a", 1], ["b", 1]])"));
  EXPECT_EQ(sums.steps(), 0);
}

TEST(TrustRatios, StandByLayerInTheEvents) {
  const Workshop workshop("ratios", 64);
  Json json = perceptron(false);
  json["training"].update({{"batch", 32}, {"max_steps", 2}});
  json["training"]["optimizer"] = {{"name", "LARS"}, {"learning_rate", 0.1}};
  const auto run = workshop.train(json, "lars");
  ASSERT_EQ(run.of("gradients").size(), 1U);  // the next ones come seconds later
  const Json body = run.of("gradients").front().body;
  EXPECT_EQ(body["step"], 1);
  EXPECT_FALSE(body.contains("magnitudes"));
  const Json& ratios = body["trust_ratios"];
  ASSERT_GE(ratios.size(), 2U);
  double least = 1e9;
  for (const Json& each : ratios) {
    EXPECT_THAT(each["name"].get<std::string>(), testing::HasSubstr("weight"));  // biases are left out
    least = std::min(least, each["ratio"].get<double>());
  }
  EXPECT_DOUBLE_EQ(least, run.series("step", "trust_ratio_least").front());
}

}  // namespace
}  // namespace loom
