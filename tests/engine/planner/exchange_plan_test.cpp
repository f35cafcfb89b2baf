// What ranks exchange in a step, before it runs.
#include "engine/planner/exchange_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/planner/plan.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::HasSubstr;

Project exchanging(Json settings) {
  Project project;
  project.networks = {leNet()};
  UpdateSpec update = defaultUpdate();
  update.network = project.networks.front().name;
  project.training.updates = {update};
  project.training.settings = std::move(settings);
  return project;
}

TEST(ExchangePlan, CountsEveryBucketByTheRowsFormula) {
  const Project project = exchanging({{"reduction", "ring"}, {"fusion", 0.01}});
  const std::vector<ExchangePlan> plans = planExchange(project, {.ranks = 8});
  ASSERT_EQ(plans.size(), 1U);
  const ExchangePlan& plan = plans[0];
  EXPECT_GT(plan.buckets.size(), 2U);
  std::int64_t floats = 0;
  for (const ExchangePlan::Bucket& bucket : plan.buckets) {
    floats += static_cast<std::int64_t>(bucket.floats);
    EXPECT_EQ(bucket.cost.steps, 14);
  }
  EXPECT_EQ(floats, planTraining(project).total.parameters);
  EXPECT_EQ(plan.cost.steps, 14 * static_cast<std::int64_t>(plan.buckets.size()));
  EXPECT_NEAR(static_cast<double>(plan.cost.total), 2.0 * 7 * 4 * static_cast<double>(floats), 1);
  EXPECT_FALSE(plan.seconds);
}

// Which layers complete a bucket; what is added behind the last shard, and what follows the update, waits for all.
TEST(ExchangePlan, SaysWhenABucketLeaves) {
  const auto plan = [](Json settings) { return planExchange(exchanging(std::move(settings)), {.ranks = 2})[0]; };
  std::vector<std::string> layers;
  for (const ExchangePlan::Bucket& bucket : plan({{"reduction", "ring"}, {"fusion", 0}}).buckets) {
    ASSERT_EQ(bucket.layers.size(), 1u) << bucket.label;
    EXPECT_EQ(bucket.label.rfind(bucket.layers[0] + "/", 0), 0u);
    EXPECT_FALSE(bucket.behindUpdate);
    if (layers.empty() || layers.back() != bucket.layers[0]) layers.push_back(bucket.layers[0]);
  }
  EXPECT_THAT(layers, testing::ElementsAre("fc3", "fc2", "fc1", "conv2", "conv1"));
  EXPECT_TRUE(plan({{"deterministic", true}}).buckets[0].layers.empty());
  EXPECT_TRUE(plan({{"shard_optimizer", true}}).buckets.back().behindUpdate);
  EXPECT_FALSE(plan(Json::object()).delayed);
  EXPECT_TRUE(plan({{"gradients", "delayed"}}).delayed);
  EXPECT_TRUE(plan({{"wire", "bf16"}, {"virtual_ranks", 8}}).buckets[0].layers.empty());
  EXPECT_FALSE(plan({{"wire", "bf16"}}).buckets[0].layers.empty());
}

// SAM exchanges twice; shared state sends the weights around, in parts as large as the largest tensor.
TEST(ExchangePlan, CountsWhatMethodsAndSharedStateSend) {
  const auto plan = [](Json more) {
    more["reduction"] = "ring";
    return planExchange(exchanging(std::move(more)), {.ranks = 4, .links = Links{}})[0];
  };
  const ExchangePlan plain = plan(Json::object()), sam = plan({{"perturbation", "sam"}}),
                     shared = plan({{"shard_optimizer", true}});
  EXPECT_EQ(sam.times, 2);
  EXPECT_EQ(sam.cost.bytes, 2 * plain.cost.bytes);
  EXPECT_NEAR(*sam.seconds, 2 * *plain.seconds, 1e-12);
  EXPECT_EQ(plan({{"gradients", "delayed"}}).cost.bytes, plain.cost.bytes);
  EXPECT_EQ(shared.buckets.back().label, "stepped weights");
  EXPECT_EQ(shared.cost.bytes, plain.cost.bytes + 3 * 48000 * 4);
  EXPECT_EQ(shared.cost.steps, plain.cost.steps + 3);
  EXPECT_NEAR(shared.stateShare, 48000.0 / 61706, 1e-9);
  EXPECT_GT(*shared.seconds, *plain.seconds);
  EXPECT_THAT(toText({shared}), HasSubstr("a rank keeps 78 % at most"));
}

// The fixed tree, one message, leaves each of two ranks with the sums of its own.
TEST(ExchangePlan, SharedStateNeedsItsOwnSumsAlone) {
  const auto plan = [](Json more, int ranks = 2) {
    more.update({{"deterministic", true}});
    return planExchange(exchanging(std::move(more)), {.ranks = ranks, .links = Links{}})[0];
  };
  const ExchangePlan plain = plan(Json::object()), shared = plan({{"shard_optimizer", true}});
  EXPECT_EQ(plain.cost.bytes, 2 * 30853 * 4 + 4);
  EXPECT_EQ(shared.cost.bytes, 48001 * 4 + 48000 * 4) << "what the largest tensor's rank receives, then gives";
  EXPECT_THAT(shared.buckets[0].label, HasSubstr("each to who steps it"));
  // SAM needs all gradients everywhere; of eight ranks one would receive seven times the largest tensor.
  EXPECT_EQ(plan({{"shard_optimizer", true}, {"perturbation", "sam"}}).cost.bytes, 2 * plain.cost.bytes + 48000 * 4);
  EXPECT_EQ(plan({{"shard_optimizer", true}}, 8).buckets[0].cost.bytes, plan(Json::object(), 8).buckets[0].cost.bytes);
}

// A rule that gives each matrix to one rank: fc1 of 48,000 weights is one rank's, conv2 and fc2 are the second's.
TEST(ExchangePlan, CountsMatricesThatOneRankSteps) {
  const auto plan = [](bool oneRankEach) {
    Project project = exchanging({{"reduction", "ring"}});
    project.training.updates[0].optimizer = {{"name", "Muon"}, {"one_rank_each", oneRankEach}};
    return planExchange(project, {.ranks = 2, .links = Links{}})[0];
  };
  const ExchangePlan plain = plan(false), each = plan(true);
  EXPECT_EQ(each.buckets.size(), plain.buckets.size() + 1);
  EXPECT_EQ(each.buckets.back().tensors, 4u) << "the last weight is AdamW's";
  EXPECT_EQ(each.buckets.back().floats, 150u + 2400 + 48000 + 10080);
  EXPECT_EQ(each.cost.bytes, plain.cost.bytes + 48000 * 4);
  EXPECT_GT(*each.seconds, *plain.seconds);
  EXPECT_EQ(each.stateShare, 1);
}

TEST(ExchangePlan, ADeterministicRunSendsOneMessage) {
  const std::vector<ExchangePlan> plans =
      planExchange(exchanging({{"deterministic", true}, {"fusion", 0}}), {.ranks = 4});
  EXPECT_EQ(plans[0].reduction, "tree");
  EXPECT_EQ(plans[0].buckets.size(), 1U);
}

// ResNet-50 in 16 bits, 51,114,064 bytes.
TEST(ExchangePlan, PredictsWhatDelayAndBandwidthMake) {
  const auto milliseconds = [&](const char* name, int ranks, int perHost, const Links& links) {
    const ReductionShape shape{.ranks = ranks, .floats = 51114064 / 4, .perHost = perHost, .links = links};
    return 1e3 * secondsOf(*findReduction(name), shape);
  };
  const Links slow{.within = {7.5e-6, 31e9}, .between = {30e-6, 3.1e9}};
  EXPECT_NEAR(milliseconds("ring", 64, 8, slow), 36.24, 0.01);
  EXPECT_NEAR(milliseconds("torus", 64, 8, slow), 7.02, 0.01);
  EXPECT_NEAR(milliseconds("ring", 1024, 16, slow), 94.32, 0.01);
  EXPECT_NEAR(milliseconds("torus", 1024, 16, slow), 9.13, 0.01);
  const Links quick{.within = {1.25e-6, 100e9}, .between = {5e-6, 10e9}};
  EXPECT_NEAR(milliseconds("ring", 64, 8, quick), 10.69, 0.01);
  EXPECT_NEAR(milliseconds("torus", 1024, 16, quick), 2.25, 0.01);
}

// Groups of two of four ranks take three sums' bytes one behind the other. Where the last group is smaller, what it
// sends early stands in the way of the first one's members: a half of a sum with one rank beside two.
TEST(ExchangePlan, ASmallerGroupSendsEarly) {
  const auto sums = [](int ranks, int group) {
    const ReductionShape shape{.ranks = ranks,
                               .floats = 900,
                               .perHost = 1,
                               .links = {.within = {0, 1e9}, .between = {0, 3600}},
                               .values = {{"hierarchical_group", group}}};
    return secondsOf(*findReduction("hierarchical"), shape);
  };
  EXPECT_NEAR(sums(4, 2), 3, 1e-9);
  EXPECT_NEAR(sums(3, 2), 3.5, 1e-9);
  EXPECT_NEAR(sums(6, 3), 4 * 2.0 / 3 + 1, 1e-9);
  EXPECT_NEAR(sums(5, 3), 4 * 2.0 / 3 + 1 + 1.0 / 3, 1e-3) << "it is ready a third of a sum sooner";
  EXPECT_NEAR(sums(7, 3), 4 * 2.0 / 3 + 4.0 / 3 + 1.0 / 3, 1e-9) << "a part of three";
}

// Trees for small messages, rings for large ones.
TEST(ExchangePlan, TheHybridTakesTheCheapest) {
  const Links links{.within = {2e-6, 5e9}, .between = {100e-6, 1e9}};
  for (const std::size_t floats : {std::size_t{16}, std::size_t{1} << 24}) {
    const ReductionShape shape{.ranks = 12, .floats = floats, .perHost = 4, .links = links};
    const double chosen = secondsOf(*findReduction("hybrid"), shape);
    for (const char* other : {"ring", "butterfly", "halving_doubling", "binomial", "torus", "hierarchical"})
      EXPECT_LE(chosen, secondsOf(*findReduction(other), shape)) << other << floats;
    EXPECT_LT(chosen, secondsOf(*findReduction(floats == 16 ? "ring" : "butterfly"), shape) / 2);
  }
}

TEST(ExchangePlan, SaysItInTextAndJson) {
  const std::vector<ExchangePlan> plans =
      planExchange(exchanging({{"reduction", "torus"}}), {.ranks = 8, .perHost = 4, .links = Links{}});
  const std::string text = toText(plans);
  EXPECT_THAT(text, HasSubstr("what 8 ranks exchange in a step of '"));
  EXPECT_THAT(text, HasSubstr(": 2D torus (torus), f32 on the wire"));
  EXPECT_THAT(text, HasSubstr("reduce-scatter in rows (reduce-scatter): 2 groups of 4 ranks, 3 steps"));
  EXPECT_THAT(text, HasSubstr("along columns (all-reduce): 4 groups of 2 ranks, 2 steps"));
  const Json json = toJson(plans)[0];
  EXPECT_EQ(json["steps"], 8 * json["buckets"].size());
  EXPECT_GT(json["seconds"].get<double>(), 0);
  EXPECT_EQ(json["phases"].size(), 3U);
}

TEST(ExchangePlan, RefusesWhatCannotBe) {
  try {
    planExchange(exchanging({{"reduction", "torus"}}), {.ranks = 7});
    ADD_FAILURE() << "a torus of a prime was planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badProject);
    EXPECT_THAT(error.what(), HasSubstr("start 8 ranks, or set reduction to ring"));
  }
}

}  // namespace
}  // namespace loom
