// LARS and LAMB against worked numbers (w = [3, 4], constant gradients), and their edge cases.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/optimizers/optimizer.h"

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
                            .slots = {slots[0].data(), slots[1].data(), nullptr},
                            .count = 2};
    UpdateScalars scalars{.learningRate = rate, .weightDecay = decay, .step = ++m_step};
    const double ratio = m_rule->tensorScale(m_rule->measure(range, scalars), scalars);
    scalars.tensorScale = static_cast<float>(ratio);
    m_rule->update(range, scalars);
    return ratio;
  }
  void expectWeight(double first, double second, double tolerance = 2e-6) const {
    EXPECT_NEAR(weight[0], first, tolerance);
    EXPECT_NEAR(weight[1], second, tolerance);
  }

  std::vector<float> weight;
  std::vector<float> slots[2] = {{0, 0}, {0, 0}};

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
       {{2.98570304, 4.013985598}, {2.971445543, 4.028011423}}}};
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

TEST(TrustRatios, SpareBiasesAndNormalisationByDefault) {
  for (const char* name : {"LARS", "LAMB"}) {
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
  EXPECT_NE(hintOn(optimizerTable(), "FusedLAMB").find("\"bias_correction\": true"), std::string::npos);
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
