// A step of ranks that compute and exchange at the same time, by worked numbers.
#include "engine/planner/rank_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/json.h"

namespace loom {
namespace {

using testing::HasSubstr;

TEST(RankStep, BucketsGoOneAtATimeAndNotBeforeTheyAreReady) {
  const auto arrival = [](std::vector<double> ready, std::vector<double> taken) { return lastArrival(ready, taken); };
  EXPECT_DOUBLE_EQ(arrival({10, 20, 30}, {15, 5, 5}), 35);  // 10-25, 25-30, 30-35
  EXPECT_DOUBLE_EQ(arrival({10, 40}, {5, 5}), 45) << "the way is free, the bucket is not there yet";
  EXPECT_DOUBLE_EQ(arrival({30, 10}, {1, 1}), 32) << "their order is fixed";
  EXPECT_DOUBLE_EQ(arrival({}, {}), 0);
}

StepTimes::Stage stage(const char* layer, double seconds, double times = 1, bool ofUpdate = false) {
  return {.cost = {.op = "op", .origin = layer}, .times = times, .seconds = seconds, .ofUpdate = ofUpdate};
}

// Forward 2 + 1, backward 3 + 4, update 1.
StepTimes alone(double share = 1) {
  StepTimes one{.batch = 8};
  one.stages = {stage("conv", 2, share), stage("fc", 1, share), stage("fc", 3, share), stage("conv", 4, share),
                stage("", 1, share, true)};
  one.seconds = share * 11;
  return one;
}

ExchangePlan::Bucket bucket(double seconds, std::vector<std::string> layers) {
  ExchangePlan::Bucket made{.label = "a", .seconds = seconds};
  made.layers = std::move(layers);
  return made;
}

// fc's gradients are there after 6 s and take 5, conv's after 10 and take 2.
ExchangePlan exchange() {
  ExchangePlan plan{.ranks = 4};
  plan.buckets = {bucket(5, {"fc"}), bucket(2, {"conv"})};
  plan.seconds = 7;
  return plan;
}

TEST(RankStep, WaitsForWhatComputingDoesNotHide) {
  const RankStep step = planRankStep(alone(), {exchange()});
  EXPECT_EQ(step.ranks, 4);
  EXPECT_DOUBLE_EQ(step.computing, 11);
  EXPECT_DOUBLE_EQ(step.exchange, 7);
  EXPECT_DOUBLE_EQ(step.waited, 3) << "6-11, 11-13, and the backward part ends at 10";
  EXPECT_DOUBLE_EQ(step.seconds(), 14);
  EXPECT_DOUBLE_EQ(step.samplesPerSecond(), 32.0 / 14);
  EXPECT_EQ(toJson(step)["computing_from"], "predicted");
  EXPECT_THAT(toText(step), HasSubstr("4 ranks with 8 samples each"));
}

TEST(RankStep, TakesAMeasuredTimeAsItsStagesShareIt) {
  const RankStep step = planRankStep(alone(), {exchange()}, 22);
  EXPECT_DOUBLE_EQ(step.computing, 22);
  EXPECT_DOUBLE_EQ(step.waited, 2) << "12-17, 20-22, the backward part ends at 20";
  EXPECT_THAT(toText(step), HasSubstr("as given"));
}

TEST(RankStep, WhatHasNoLayersLeavesBehindAll) {
  ExchangePlan plan = exchange();
  plan.buckets.push_back(bucket(1, {}));  // running statistics
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 4);
  plan = exchange();
  plan.buckets = {bucket(7, {})};  // one message behind the last shard
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 7);
  plan.buckets = {bucket(5, {"fused into another"}), bucket(2, {"conv", "gone"})};
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 7) << "10-15, 15-17";
  plan = exchange();
  plan.buckets.push_back(bucket(2.5, {}));  // weights that one rank stepped
  plan.buckets.back().behindUpdate = true;
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 3 + 2.5);
}

TEST(RankStep, CountsMethodsAndUpdatesOfEveryOtherStep) {
  ExchangePlan plan = exchange();
  plan.times = 2;  // SAM: two backward parts, each exchanged
  plan.seconds = 14;
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 6);
  plan = exchange();
  plan.delayed = true;
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 0) << "a whole step hides it";
  plan.seconds = 15;
  EXPECT_DOUBLE_EQ(planRankStep(alone(), {plan}).waited, 4);
  const RankStep half = planRankStep(alone(0.5), {exchange()});
  EXPECT_DOUBLE_EQ(half.waited, 1.5);
  EXPECT_DOUBLE_EQ(half.exchange, 3.5);
}

}  // namespace
}  // namespace loom
