#include "engine/planner/run_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using Rule = RunFinding::Rule;
using Severity = RunFinding::Severity;

Project projectOf(const char* optimizer, Json settings, Network network = leNet()) {
  Project project;
  project.networks = {std::move(network)};
  UpdateSpec update = defaultUpdate();
  update.network = project.networks.front().name;
  update.optimizer = Json::object();
  update.optimizer["name"] = optimizer;
  project.training.updates = {update};
  project.training.settings = std::move(settings);
  return project;
}

class RunAdvice : public testing::Test {
 protected:
  const RunFinding* find(const Project& project, const RunOutlook& outlook, Rule rule) {
    m_found = adviseOnRun(project, 0, outlook);
    for (const RunFinding& each : m_found)
      if (each.rule == rule) return &each;
    return nullptr;
  }

 private:
  std::vector<RunFinding> m_found;
};

TEST(StepsPerEpoch, TheRestIsAStepUnlessItIsLeftOut) {
  EXPECT_EQ(stepsPerEpoch(1000, 128, false), 8);
  EXPECT_EQ(stepsPerEpoch(1000, 128, true), 7);
  EXPECT_EQ(stepsPerEpoch(100, 128, true), 1);
  EXPECT_EQ(stepsPerEpoch(1024, 128, false), 8);
  EXPECT_EQ(stepsPerEpoch(-1, 128, false), 0);
}

TEST_F(RunAdvice, ALargeBatchWantsItsRateScaledByTheRule) {
  const Json large = {{"batch", 4096}, {"base_batch", 256}};
  const RunFinding* found = find(projectOf("Momentum", large), {}, Rule::rateNotScaled);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::warning);
  EXPECT_EQ(found->times, 16);
  EXPECT_EQ(found->baseBatch, 256);
  EXPECT_EQ(found->remedy.setting, "rate_scaling");
  EXPECT_EQ(found->remedy.value, "linear");
  found = find(projectOf("AdamW", large), {}, Rule::rateNotScaled);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->remedy.value, "square_root");
  EXPECT_FALSE(find(projectOf("LARS", large), {}, Rule::rateNotScaled)) << "its steps have a length of their own";
  EXPECT_FALSE(find(projectOf("Momentum", {{"batch", 768}, {"base_batch", 256}}), {}, Rule::rateNotScaled))
      << "not large";
  const Json scaled = {{"batch", 4096}, {"base_batch", 256}, {"rate_scaling", "square_root"}};
  found = find(projectOf("Momentum", scaled), {}, Rule::rateScaled);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->factor, 4);
}

TEST_F(RunAdvice, ALargeBatchWantsAWarmUpOfAFewSteps) {
  const Project project = projectOf("LARS", {{"batch", 4096}, {"base_batch", 256}, {"epochs", 90}});
  const RunFinding* found = find(project, {.samples = 45000, .steps = 990}, Rule::noWarmup);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->remedy.warmupEpochs, 5);
  EXPECT_FALSE(find(project, {}, Rule::noWarmup)) << "of a run whose steps are not known nothing is said";
  found = find(project, {.steps = 990, .warmupSteps = 3}, Rule::warmupShort);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, 3);
  found = find(project, {.steps = 990, .warmupSteps = 600}, Rule::warmupLong);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->percent, 61);
  found = find(project, {.steps = 990, .warmupSteps = 55}, Rule::warmup);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::fine);
}

TEST_F(RunAdvice, BatchRanksAndSamplesFitTogether) {
  const RunFinding* found = find(projectOf("SGD", {{"batch", 4}}), {.ranks = 8}, Rule::batchBelowRanks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::error);
  EXPECT_EQ(found->remedy.value, 8);
  found = find(projectOf("SGD", {{"batch", 64}}), {.samples = 50}, Rule::batchAboveSamples);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->remedy.value, 5);
  found = find(projectOf("SGD", {{"batch", 64}, {"drop_last", true}}), {.samples = 1000}, Rule::restOfSamples);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, 15);
  EXPECT_EQ(found->rest, 40);
  EXPECT_TRUE(found->dropped);
  found = find(projectOf("SGD", {{"batch", 64}}), {.samples = 640, .steps = 10}, Rule::fewSteps);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, 10);
}

TEST_F(RunAdvice, StatisticsOverAllRanksNeedAllSamplesAtOnce) {
  Json settings = {{"batch", 64}, {"accumulate", 2}, {"batch_statistics", "synchronised"}};
  const RunFinding* found = find(projectOf("SGD", settings), {}, Rule::statisticsOfPasses);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->passes, 2);
  EXPECT_EQ(found->remedy.value, "per_shard");
  settings["accumulate"] = 1;
  EXPECT_TRUE(find(projectOf("SGD", settings), {.ranks = 8, .virtualRanks = true}, Rule::statisticsOfVirtualRanks));
  EXPECT_FALSE(find(projectOf("SGD", settings), {.ranks = 8}, Rule::statisticsOfVirtualRanks));
}

TEST_F(RunAdvice, FewSamplesAtATimeMakeStatisticsNoisy) {
  Network network = leNet();
  network.nodes.push_back({.id = "bn", .layer = "BatchNormalization"});
  const Project project = projectOf("SGD", {{"batch", 64}}, network);
  const RunFinding* found = find(project, {.ranks = 8}, Rule::noisyStatistics);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shard, 8);
  EXPECT_EQ(found->remedy.value, "synchronised");
  found = find(project, {.ranks = 8, .virtualRanks = true}, Rule::noisyStatistics);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->remedy.any()) << "virtual ranks compute one after another";
  EXPECT_FALSE(find(project, {.ranks = 2}, Rule::noisyStatistics));
}

TEST_F(RunAdvice, ADeterministicRunIsExactOnTheWire) {
  const RunFinding* found = find(projectOf("SGD", {{"deterministic", true}, {"wire", "bf16"}}), {}, Rule::wireNotExact);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->remedy.value, "f32");
  EXPECT_FALSE(find(projectOf("SGD", {{"deterministic", true}}), {}, Rule::wireNotExact));
}

TEST_F(RunAdvice, AReductionFitsTheRanksTheWireAndTheRun) {
  const RunFinding* found = find(projectOf("SGD", {{"reduction", "torus"}}), {.ranks = 7}, Rule::reductionImpossible);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::error);
  EXPECT_EQ(found->remedy.setting, "reduction");
  EXPECT_EQ(found->remedy.value, "ring");
  EXPECT_THAT(found->reason, testing::HasSubstr("7 is a prime; start 8 ranks"));
  EXPECT_FALSE(find(projectOf("SGD", {{"reduction", "torus"}}), {.ranks = 8}, Rule::reductionImpossible));
  found = find(projectOf("SGD", {{"reduction", "ring"}, {"wire", "f16"}}), {.ranks = 8}, Rule::reductionImpossible);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->remedy.value, "automatic");
  EXPECT_TRUE(find(projectOf("SGD", {{"reduction", "ring"}, {"deterministic", true}}), {}, Rule::reductionImpossible));
}

}  // namespace
}  // namespace loom
