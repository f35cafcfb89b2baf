// How a run scales with ranks, and what is chosen for a host.
#include "engine/planner/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/error.h"
#include "engine/planner/run_choice.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::HasSubstr;

Project scaled(Json settings) {
  Project project;
  project.networks = {leNet()};
  UpdateSpec update = defaultUpdate();
  update.network = project.networks.front().name;
  update.optimizer = {{"name", "Momentum"}, {"learning_rate", 0.05}};
  project.training.updates = {update};
  project.training.settings = std::move(settings);
  return project;
}

ScalingQuestion question() {
  return {.secondsPerSample = 1e-4,
          .secondsPerStep = 2e-4,
          .samplesPerRank = 32,
          .perHost = 4,
          .links = {.within = {2e-6, 5e9}, .between = {30e-6, 1.25e8}},
          .samples = 65536,
          .epochs = 2};
}

TEST(Scaling, GoesFromOneRankToThousands) {
  const std::vector<ScalingPoint> points = predictScaling(scaled({{"batch", 32}}), question());
  ASSERT_EQ(points.front().ranks, 1);
  ASSERT_EQ(points.back().ranks, 4096);
  EXPECT_DOUBLE_EQ(points.front().efficiency, 1);
  EXPECT_DOUBLE_EQ(points.front().step, 32e-4 + 2e-4);
  EXPECT_EQ(points.front().steps, 2 * 2048);
  for (std::size_t i = 1; i < points.size(); ++i) {
    SCOPED_TRACE(points[i].ranks);
    EXPECT_EQ(points[i].batch, 32 * points[i].ranks);
    EXPECT_FALSE(points[i].reduction.empty());
    EXPECT_LE(points[i].efficiency, points[i - 1].efficiency * 1.0001);
    EXPECT_GE(points[i].step, points[i].compute);
    // Samples a second over those of ranks that never wait.
    EXPECT_NEAR(points[i].efficiency, points[i].compute / points[i].step, 1e-9);
  }
  EXPECT_LT(points.back().efficiency, 0.9);
}

// A run's own ranks stand among the powers of two.
TEST(Scaling, TellsOfTheRunsOwnRanks) {
  ScalingQuestion asked = question();
  asked.also = 12;
  const std::vector<ScalingPoint> points = predictScaling(scaled({{"batch", 32}}), asked);
  const auto own =
      std::find_if(points.begin(), points.end(), [](const ScalingPoint& each) { return each.ranks == 12; });
  ASSERT_NE(own, points.end());
  EXPECT_EQ(std::prev(own)->ranks, 8);
  EXPECT_EQ(std::next(own)->ranks, 16);
  EXPECT_EQ(points.size(), predictScaling(scaled({{"batch", 32}}), question()).size() + 1);
}

// No way of the table is cheaper than the one that is taken, and a wide link leaves nothing to wait for.
TEST(Scaling, TakesTheCheapestReduction) {
  const Project project = scaled({{"batch", 32}});
  ScalingQuestion asked = question();
  const ScalingPoint best = predictScalingAt(project, asked, 64);
  asked.anyReduction = false;
  for (const char* name : {"ring", "torus", "hierarchical", "binomial", "butterfly"}) {
    const ScalingPoint one = predictScalingAt(scaled({{"batch", 32}, {"reduction", name}}), asked, 64);
    EXPECT_EQ(one.reduction, name);
    EXPECT_LE(best.step, one.step * 1.001) << name;
  }
  asked.links = {.within = {0, 1e18}, .between = {0, 1e18}};
  EXPECT_NEAR(predictScalingAt(project, asked, 64).efficiency, 1, 1e-9);
  // A batch that stays: each rank has less of it.
  asked.batch = 64;
  EXPECT_DOUBLE_EQ(predictScalingAt(project, asked, 64).compute, 1e-4 + 2e-4);
}

// Sony's STiLL on V100, four a host: computing is fitted to 97 s on 2,048, the two larger runs follow within 15 %. The
// links are assumed: NVLink, and a quarter of two EDR ports for each rank; 16 bits a number.
TEST(Scaling, PredictsPublishedRunsFromOneOfThem) {
  const Project project = loadProject(std::filesystem::path(GRADLOOM_SOURCE_DIR) / "samples/resnet_50/resnet_50.loom");
  std::vector<std::size_t> halves = exchangedBuckets(project);
  for (std::size_t& floats : halves) floats /= 2;
  const auto run = [&](int ranks, double secondsPerSample) {
    return scalingPoint(project,
                        {.secondsPerSample = secondsPerSample,
                         .samplesPerRank = 32,
                         .perHost = 4,
                         .links = {.within = {3e-6, 40e9}, .between = {5e-6, 6.25e9}},
                         .samples = 1281167,
                         .epochs = 90,
                         .wires = {Wire::f32}},
                        halves, ranks)
        .run;
  };
  double low = 0, high = 1e-2;
  for (int i = 0; i < 40; ++i) (run(2048, (low + high) / 2) > 97 ? high : low) = (low + high) / 2;
  EXPECT_NEAR(run(2048, low), 97, 0.1);
  EXPECT_NEAR(run(2560, low) / 79.7, 1, 0.15);
  EXPECT_NEAR(run(3072, low) / 67.65, 1, 0.15);
  EXPECT_GT(run(3072, low), 0.98 * 97 * 2048 / 3072) << "no better than perfect, but for whole steps";
}

ChoiceQuestion onHost(int ranks) {
  return {.host = {.name = "atlas", .ranks = ranks, .perHost = 4, .links = question().links},
          .samples = 60000,
          .secondsPerSample = 1e-3,
          .secondsPerStep = 1e-4};
}

Json taken(const RunChoice& choice, const std::string& path) {
  for (const FieldChange& change : choice.changes)
    if (change.path == path) return change.after;
  return "not chosen";
}

TEST(RunChoice, EveryFieldHasItsReasonAndHolds) {
  const Project project = scaled({{"batch", 64}, {"epochs", 90}});
  const RunChoice choice = chooseRun(project, 0, 1, onHost(16));
  for (const FieldChange& change : choice.changes) {
    EXPECT_FALSE(change.reason.empty()) << change.path;
    if (change.path != "ranks") EXPECT_EQ(fieldAt(choice.project, 0, change.path), change.after) << change.path;
  }
  EXPECT_EQ(choice.ranks, 16);
  EXPECT_GT(taken(choice, "batch").get<std::int64_t>(), 64);
  EXPECT_LE(taken(choice, "batch").get<std::int64_t>(), 60000 / 20);
  EXPECT_EQ(taken(choice, "optimizer.name"), "Momentum");
  EXPECT_EQ(taken(choice, "rate_scaling"), "linear");
  EXPECT_EQ(taken(choice, "base_batch"), 64);
  // It brings no fault into the project.
  const auto errors = [](const Project& checked) {
    int count = 0;
    for (const Problem& problem : checkProject(checked)) count += problem.severity == loom::Severity::error;
    return count;
  };
  EXPECT_EQ(errors(choice.project), errors(project));
}

TEST(RunChoice, FollowsTheWishTheNoiseAndTheMemory) {
  const Project project = scaled({{"batch", 64}, {"epochs", 90}});
  // The same accuracy: the batch stays, and with it the rate.
  ChoiceQuestion asked = onHost(16);
  asked.sameAsBatch = 64;
  RunChoice choice = chooseRun(project, 0, 1, asked);
  EXPECT_EQ(taken(choice, "batch"), 64);
  EXPECT_EQ(taken(choice, "rate_scaling"), "not chosen");
  EXPECT_GE(64 / choice.ranks, 8);
  // Never beyond the critical batch.
  asked = onHost(16);
  asked.noise = 300;
  EXPECT_LE(taken(chooseRun(project, 0, 1, asked), "batch").get<std::int64_t>(), 300);
  // Beyond 8,192 one rate for all tensors does not hold.
  asked.samples = 100000000;
  asked.noise = 50000;
  asked.host.ranks = 2048;
  choice = chooseRun(scaled({{"batch", 4096}, {"epochs", 90}}), 0, 1, asked);
  EXPECT_GT(taken(choice, "batch").get<std::int64_t>(), 8192);
  EXPECT_EQ(taken(choice, "optimizer.name"), "LARS");
  EXPECT_EQ(taken(choice, "schedule.name"), "Polynomial");
  EXPECT_EQ(taken(choice, "warmup.epochs"), 5);
  // So many samples at once as the memory holds.
  asked.memory = 1000;
  asked.memoryPerSample = 1;
  asked.memoryBeside = 500;
  choice = chooseRun(scaled({{"batch", 4096}, {"epochs", 90}}), 0, 1, asked);
  const auto perRank = static_cast<double>(taken(choice, "batch").get<std::int64_t>()) / choice.ranks;
  EXPECT_EQ(taken(choice, "accumulate").get<std::int64_t>(), std::ceil(perRank / 500));
  asked.host.ranks = 0;
  EXPECT_THROW(chooseRun(project, 0, 1, asked), Error);
}

}  // namespace
}  // namespace loom
