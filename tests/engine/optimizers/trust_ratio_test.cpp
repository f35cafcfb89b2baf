// LARS and LAMB against worked numbers (w = [3, 4], constant gradients), and their edge cases.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/optimizers/optimizer.h"
#include "engine/optimizers/rules/rmsprop_warmup.h"

namespace loom {
namespace {

// A tensor of two weights under one rule.
class Pair {
 public:
  Pair(const char* name, Json values, std::vector<float> weight, std::vector<float> gradient)
      : weight(std::move(weight)),
        m_gradient(std::move(gradient)),
        m_values(std::move(values)),
        m_rule(findOptimizer(name)->make(Values(findOptimizer(name)->entry, m_values))) {}

  // Answers the trust ratio.
  double step(float rate, float decay) {
    const UpdateRange range{.weight = weight.data(),
                            .gradient = m_gradient.data(),
                            .slots = {slots[0].data(), slots[1].data(), slots[2].data()},
                            .count = 2};
    UpdateScalars scalars{.learningRate = rate, .weightDecay = decay, .step = ++m_step, .epoch = epoch};
    UpdateSums sums = m_rule->measure(range, scalars);
    for (const float g : m_gradient) sums.gradient += double{g} * g;
    const double ratio = m_rule->tensorScale(sums, scalars);
    scalars.tensorScale = static_cast<float>(ratio);
    scalars.sums = sums;
    m_rule->update(range, scalars);
    return ratio;
  }
  void expectWeight(double first, double second, double tolerance = 2e-6) const {
    EXPECT_NEAR(weight[0], first, tolerance);
    EXPECT_NEAR(weight[1], second, tolerance);
  }

  std::vector<float> weight;
  std::vector<float> slots[3] = {{0, 0}, {0, 0}, {0, 0}};
  double epoch = 0;

 private:
  std::vector<float> m_gradient;
  Json m_values;
  std::unique_ptr<Optimizer> m_rule;
  int m_step = 0;
};

const Json kLars = {{"momentum", 0.9}, {"coefficient", 0.001}};

TEST(Lars, FollowsTheWorkedNumbers) {
  Pair pair("LARS", kLars, {3, 4}, {0.6f, 0.8f});
  EXPECT_NEAR(pair.step(2, 0.01f), 0.004761904762, 1e-9);
  EXPECT_NEAR(pair.slots[0][0], 0.006, 1e-8);
  EXPECT_NEAR(pair.slots[0][1], 0.008, 1e-8);
  pair.expectWeight(2.994, 3.992);
  EXPECT_NEAR(pair.step(2, 0.01f), 0.004752833603, 1e-8);
  EXPECT_NEAR(pair.slots[0][0], 0.011388, 1e-7);
  pair.expectWeight(2.982612, 3.976816);
}

TEST(Lars, PlacesTheRateInsideOrOutsideOfTheBuffer) {
  Json outside = kLars;
  outside["rate_placement"] = "outside";
  Pair inner("LARS", kLars, {3, 4}, {0.6f, 0.8f}), outer("LARS", outside, {3, 4}, {0.6f, 0.8f});
  for (const float rate : {2.0f, 1.0f}) {
    inner.step(rate, 0.01f);
    outer.step(rate, 0.01f);
  }
  inner.expectWeight(2.985606, 3.980808);
  outer.expectWeight(2.988306, 3.984408);
}

TEST(Lars, ClipsTheRatioAtTheRate) {
  Json clipped = kLars;
  clipped["trust_clip"] = true;
  EXPECT_EQ(Pair("LARS", clipped, {3, 4}, {0.6f, 0.8f}).step(1e-4f, 0.01f), 1);
  EXPECT_NEAR(Pair("LARS", clipped, {3, 4}, {0.6f, 0.8f}).step(1, 0.01f), 0.0047619, 1e-7);
}

TEST(Lars, LeavesZeroWithoutARatio) {
  Pair zero("LARS", kLars, {0, 0}, {0.6f, 0.8f});
  EXPECT_EQ(zero.step(0.5f, 0.01f), 1);
  zero.expectWeight(-0.3, -0.4);
  EXPECT_EQ(Pair("LARS", kLars, {0, 0}, {0, 0}).step(0.5f, 0), 1);
  Pair still("LARS", kLars, {3, 4}, {0, 0});
  EXPECT_EQ(still.step(0.5f, 0), 1);
  still.expectWeight(3, 4, 0);
  // A denominator below epsilon gains it: 0.001 * 5 / (5e-7 + 1e-6).
  EXPECT_NEAR(Pair("LARS", kLars, {3, 4}, {3e-7f, 4e-7f}).step(0.5f, 0), 0.005 / 1.5e-6, 1);
}

// One after another: the coefficient is Jizhi's rate's, and epsilon is nnabla's alone.
TEST(Lars, ComesInTheVariantsOfItsAuthors) {
  Json you = kLars, jizhi = kLars;
  you["variant"] = "you";
  jizhi["variant"] = "jizhi";
  Pair theirs("LARS", you, {3, 4}, {0.6f, 0.8f}), others("LARS", jizhi, {3, 4}, {0.6f, 0.8f});
  EXPECT_NEAR(theirs.step(2, 0.01f), 0.004761904762, 1e-9);
  theirs.expectWeight(2.994, 3.992);
  EXPECT_NEAR(others.step(0.002f, 0.01f), 4.761904762, 1e-6);
  EXPECT_NEAR(others.step(0.002f, 0.01f), 4.752833603, 1e-5);
  others.expectWeight(2.982612, 3.976816);
  EXPECT_NEAR(Pair("LARS", you, {3, 4}, {3e-7f, 4e-7f}).step(0.5f, 0), 0.005 / 5e-7, 1);
  EXPECT_NEAR(Pair("LARS", you, {3e-7f, 4e-7f}, {0.6f, 0.8f}).step(0.5f, 0), 5e-10, 1e-15);
  EXPECT_EQ(Pair("LARS", you, {0, 0}, {0.6f, 0.8f}).step(0.5f, 0.01f), 1);
}

struct LambCase {
  const char* name;
  Json values;
  double ratio[2];
  double weight[2][2];
};

TEST(Lamb, FollowsTheWorkedNumbers) {
  const std::vector<LambCase> cases = {
      {"bias correction",
       {{"bias_correction", true}},
       {3.551131169, 3.556352636},
       {{2.963423704, 4.034090682}, {2.926806635, 4.068219365}}},
      {"none", Json::object(), {1.120002685, 0.8342598969}, {{2.964257601, 4.034963995}, {2.928565593, 4.070076049}}},
      {"clamped",
       {{"gamma_high", 2.0}},
       {0.4480010741, 0.3332359989},
       {{2.98570304, 4.013985598}, {2.971445543, 4.028011423}}},
      {"DeepSpeed",
       {{"bias_correction", true}, {"correction_of", "length"}, {"epsilon", 1e-8}, {"ratio_high", 10.0}},
       {1.119738426, 0.8332929942},
       {{2.988696423, 4.01105573}, {2.980304907, 4.019309998}}}};
  for (const LambCase& one : cases) {
    SCOPED_TRACE(one.name);
    Pair pair("LAMB", one.values, {3, 4}, {0.1f, -0.2f});
    for (int step = 0; step < 2; ++step) {
      // 1 - beta2 = 0.001 in float has seven digits, and its root stands in the direction.
      EXPECT_NEAR(pair.step(0.01f, 0.01f), one.ratio[step], 3e-5 * one.ratio[step]);
      pair.expectWeight(one.weight[step][0], one.weight[step][1]);
    }
  }
}

TEST(Lamb, KeepsTheRatioBetweenItsBounds) {
  EXPECT_EQ(Pair("LAMB", {{"ratio_high", 1.0}}, {3, 4}, {0.1f, -0.2f}).step(0.01f, 0.01f), 1);
  EXPECT_EQ(Pair("LAMB", {{"ratio_low", 1.5}}, {3, 4}, {0.1f, -0.2f}).step(0.01f, 0.01f), 1.5);
  Json values = {{"ratio_low", 2.0}, {"ratio_high", 1.0}};
  EXPECT_THROW(findOptimizer("LAMB")->make(Values(findOptimizer("LAMB")->entry, values)), Error);
}

// apex without use_nvlamb.
TEST(Lamb, LeavesUndecayedTensorsWithoutARatioWhereAsked) {
  const Json fused = {{"adapt_undecayed", false}};
  EXPECT_EQ(Pair("LAMB", fused, {3, 4}, {0.1f, -0.2f}).step(0.01f, 0), 1);
  EXPECT_NEAR(Pair("LAMB", fused, {3, 4}, {0.1f, -0.2f}).step(0.01f, 0.01f), 1.120002685, 3e-5);
}

const Json kStill = {{"transition", 4.0}, {"lamb_learning_rate", 0.01}, {"momentum", 0.9}};

// At first it is LAMB, from the end of the transition on LARS; both have followed every gradient from the beginning.
TEST(Still, IsLambAtFirstAndLarsInTheEnd) {
  Pair still("STiLL", kStill, {3, 4}, {0.1f, -0.2f}), lamb("LAMB", Json::object(), {3, 4}, {0.1f, -0.2f});
  EXPECT_EQ(still.step(2, 0.01f), lamb.step(0.01f, 0.01f));
  still.expectWeight(lamb.weight[0], lamb.weight[1], 1e-7);
  Pair late("STiLL", kStill, {3, 4}, {0.6f, 0.8f}), lars("LARS", kLars, {3, 4}, {0.6f, 0.8f});
  late.epoch = 4;
  for (int step = 0; step < 3; ++step) EXPECT_EQ(late.step(2, 0.01f), lars.step(2, 0.01f));
  late.expectWeight(lars.weight[0], lars.weight[1], 1e-7);
  EXPECT_NE(late.slots[1][0], 0) << "LAMB's mean square goes on";
}

// Three of four epochs are left: a quarter is LARS's, whose buffer is whole.
TEST(Still, MixesTheTwoSteps) {
  Pair still("STiLL", kStill, {3, 4}, {0.6f, 0.8f}), lamb("LAMB", Json::object(), {3, 4}, {0.6f, 0.8f}),
      lars("LARS", kLars, {3, 4}, {0.6f, 0.8f});
  still.epoch = 1;
  still.step(2, 0.01f);
  lamb.step(0.01f, 0.01f);
  lars.step(2, 0.01f);
  const auto mixed = [&](std::size_t i, float w) {
    return w + 0.75 * (lamb.weight[i] - w) + 0.25 * (lars.weight[i] - w);
  };
  still.expectWeight(mixed(0, 3), mixed(1, 4), 1e-6);
  EXPECT_EQ(still.slots[2], lars.slots[0]);
}

TEST(Lamb, MovesEachTensorByTheRateTimesItsLength) {
  for (const float decay : {0.0f, 0.01f}) {
    Pair pair("LAMB", Json::object(), {3, 4}, {0.1f, -0.2f});
    pair.step(0.01f, decay);
    EXPECT_NEAR(std::hypot(pair.weight[0] - 3, pair.weight[1] - 4), 0.01 * 5, 1e-6);
  }
}

TEST(Lamb, LeavesZeroWithoutARatio) {
  Pair zero("LAMB", {{"bias_correction", true}}, {0, 0}, {0.1f, -0.2f});
  EXPECT_EQ(zero.step(0.01f, 0.01f), 1);
  zero.expectWeight(-0.01, 0.01, 1e-6);
  Pair still("LAMB", Json::object(), {3, 4}, {0, 0});
  EXPECT_EQ(still.step(0.01f, 0), 1);
  still.expectWeight(3, 4, 0);
}

// Akiba et al., center 10, period 5: an exponential, then a line that meets it without a bend.
TEST(RmsPropWarmup, GoesToMomentumAsThePaperMeansIt) {
  RmsPropWarmupRule rule{.momentum = 0.9, .keep = 0.99, .epsilon = 1e-8, .rmsRate = 3e-4, .center = 10, .period = 5};
  const std::pair<double, double> shares[] = {{0, .009157819444},
                                              {2.5, .02489353418},
                                              {5, .06766764162},
                                              {7.5, .1839397206},
                                              {9, .335160023},
                                              {10, .5},
                                              {10.5, .6},
                                              {11, .7},
                                              {11.25, .75},
                                              {12, .9},
                                              {12.4, .98},
                                              {12.5, 1},
                                              {80, 1}};
  for (const auto& [epoch, share] : shares) EXPECT_NEAR(rule.share(epoch), share, 1e-10) << epoch;
  const auto divided = [&](double epoch) {
    return rule.constants<double>({.learningRate = 6.4, .epoch = epoch}).divided;
  };
  EXPECT_NEAR(divided(0), 4.644572721e-5, 1e-14);
  EXPECT_NEAR(divided(10), 2.34375e-5, 1e-14);
  EXPECT_EQ(divided(12.5), 0);
  // As it is printed the line is twice as steep and would pass 1.
  rule.literal = true;
  for (const auto& [epoch, share] : {std::pair{10.5, .7}, {11.0, .9}, {11.25, 1.0}, {12.0, 1.0}, {12.5, 1.0}})
    EXPECT_NEAR(rule.share(epoch), share, 1e-12) << epoch;
  EXPECT_EQ(divided(12), 0);
  EXPECT_EQ(rule.constants<double>({.learningRate = 0}).divided, 0) << "a rate of 0 divides nothing";
}

TEST(TrustRatios, SpareBiasesAndNormalisationByDefault) {
  for (const char* name : {"LARS", "LAMB", "STiLL"}) {
    const Json none = Json::object();
    const auto rule = findOptimizer(name)->make(Values(findOptimizer(name)->entry, none));
    ASSERT_EQ(rule->unscaled().size(), 2u);
    EXPECT_EQ(rule->unscaled()[0], "bias");
    EXPECT_EQ(rule->unscaled()[1], "normalisation");
  }
}

TEST(Lamb, RefusesABetaThatTheCorrectionDividesBy) {
  for (const char* key : {"beta1", "beta2"}) {
    Json values = {{"bias_correction", true}, {key, 1}};
    EXPECT_THROW(findOptimizer("LAMB")->make(Values(findOptimizer("LAMB")->entry, values)), Error);
    values["bias_correction"] = false;
    EXPECT_NO_THROW(findOptimizer("LAMB")->make(Values(findOptimizer("LAMB")->entry, values)));
  }
}

// What other programs call so computes otherwise than the entry's defaults.
TEST(TrustRatios, OtherArithmeticIsNoAlias) {
  for (const char* name : {"LARC", "NVLAMB", "FusedLAMB", "nvlamb"}) EXPECT_EQ(findOptimizer(name), nullptr) << name;
  EXPECT_EQ(adviceOn(optimizerTable(), "larc").substr(0, 12), "LARC is LARS");
  EXPECT_NE(hintOn(optimizerTable(), "FusedLAMB").find("\"adapt_undecayed\": false"), std::string::npos);
}

// The advice for LARC, worked by hand: min(λ / rate, 1) times the rate and the gradient, momentum outside of it.
TEST(Lars, WithTheAdviceIsLarc) {
  Pair pair("LARS", {{"momentum", 0.9}, {"coefficient", 0.001}, {"trust_clip", true}, {"rate_placement", "outside"}},
            {3, 4}, {0.6f, 0.8f});
  const double first = 0.001 * 5 / 1.05, multiplier = std::min(first / 0.002, 1.0);
  EXPECT_EQ(pair.step(0.002f, 0.01f), 1);
  const double buffer[] = {multiplier * (0.6 + 0.01 * 3), multiplier * (0.8 + 0.01 * 4)};
  pair.expectWeight(3 - 0.002 * buffer[0], 4 - 0.002 * buffer[1]);
}

}  // namespace
}  // namespace loom
