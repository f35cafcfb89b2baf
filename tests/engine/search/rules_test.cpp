// Which trials end early, and what that saves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/philox.h"
#include "engine/search/stop_rule.h"

namespace loom {
namespace {

Trial curveOf(int number, std::vector<TrialResult> curve, TrialState state = TrialState::done) {
  return {.number = number, .point = {number}, .state = state, .curve = std::move(curve), .spent = 1};
}

// What trainings look like: each nears a level of its own at a speed of its own, with noise.
std::vector<TrialResult> learned(std::uint64_t seed, int trial, int points) {
  const Philox random(seed, "curves");
  const auto place = static_cast<std::uint64_t>(trial) * 100;
  const double level = 0.5 + 0.49 * random.uniform(place), speed = 2 + 8 * random.uniform(place + 1);
  std::vector<TrialResult> curve;
  for (int i = 1; i <= points; ++i) {
    const double at = static_cast<double>(i) / points;
    curve.push_back(
        {at, level * (1 - std::exp(-speed * at)) + 0.01 * random.normal(place + 1 + static_cast<std::uint64_t>(i))});
  }
  return curve;
}

struct Saved {
  double steps = 0;  // share of what all would have taken
  double lost = 0;   // of the best result, against the best of all whole curves
};

Saved replayed(const StopRule& rule, std::uint64_t seed, int count, int points) {
  std::vector<Trial> trials;
  double spent = 0, best = -1, bestOfAll = -1;
  for (int number = 1; number <= count; ++number) {
    const std::vector<TrialResult> whole = learned(seed, number, points);
    Trial& trial = trials.emplace_back(curveOf(number, {}, TrialState::running));
    for (const TrialResult& each : whole) bestOfAll = std::max(bestOfAll, each.value);
    for (const TrialResult& each : whole) {
      trial.curve.push_back(each);
      if (!rule.isWeak(trial, trials)) continue;
      trial.state = TrialState::weak;
      break;
    }
    if (trial.state == TrialState::running) trial.state = TrialState::done;
    spent += trial.curve.back().at;
    best = std::max(best, trial.score());
  }
  return {spent / count, bestOfAll - best};
}

TEST(StopRules, TakeAtMostHalfOfTheStepsAndKeepTheBest) {
  for (const char* name : {"median", "halving"}) {
    double steps = 0, lost = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Saved saved = replayed(stopRuleNamed(name), seed, 40, 8);
      steps += saved.steps / 20;
      lost += saved.lost / 20;
    }
    EXPECT_LT(steps, 0.5) << name;
    EXPECT_GT(steps, 0.1) << name << ": some go to their end";
    EXPECT_LT(lost, 0.02) << name;
  }
  EXPECT_EQ(replayed(stopRuleNamed("none"), 1, 40, 8).steps, 1);
}

TEST(StopRules, MedianIsExactAboutTiesAndFailures) {
  const StopRule& rule = stopRuleNamed("median");
  std::vector<Trial> trials;
  for (int i = 1; i <= 4; ++i) trials.push_back(curveOf(i, {{0.5, i / 10.0}, {1, 1}}));
  const auto asked = [&](double value, double at = 0.5) {
    std::vector<Trial> all = trials;
    all.push_back(curveOf(9, {{at, value}}, TrialState::running));
    return rule.isWeak(all.back(), all);
  };
  EXPECT_TRUE(asked(0.19));
  EXPECT_FALSE(asked(0.2)) << "equal to the lower middle";
  EXPECT_FALSE(asked(0.9));
  EXPECT_FALSE(asked(0.01, 1)) << "nothing is saved at the end";
  EXPECT_TRUE(asked(std::nan(""))) << "no number is worst";
  trials.pop_back();
  EXPECT_FALSE(asked(0.01)) << "three others are too few";
  trials.push_back(curveOf(4, {{0.5, 0.9}}, TrialState::failed));
  EXPECT_FALSE(asked(0.15)) << "what failed stands below all: the lower middle is 0.1";
  EXPECT_TRUE(asked(0.05));
  trials[3] = curveOf(4, {{0.25, 0.9}}, TrialState::weak);
  EXPECT_FALSE(asked(0.01)) << "one that did not come as far says nothing";
}

TEST(StopRules, HalvingKeepsTheBestThirdOfARung) {
  const StopRule& rule = stopRuleNamed("halving");
  std::vector<Trial> trials{curveOf(1, {{0.125, 0.5}, {1, 1}}), curveOf(2, {{0.125, 0.4}, {1, 1}})};
  const auto asked = [&](std::vector<TrialResult> curve) {
    std::vector<Trial> all = trials;
    all.push_back(curveOf(9, std::move(curve), TrialState::running));
    return rule.isWeak(all.back(), all);
  };
  EXPECT_TRUE(asked({{0.125, 0.45}})) << "second of three";
  EXPECT_FALSE(asked({{0.125, 0.5}})) << "as good as the best";
  EXPECT_FALSE(asked({{0.05, 0}})) << "before the rung";
  EXPECT_TRUE(asked({{0.125, 0.6}, {0.375, 0.6}}))
      << "best of the first rung, last of the second, where both others are better";
  trials.pop_back();
  EXPECT_FALSE(asked({{0.125, 0.1}})) << "two are too few";
}

}  // namespace
}  // namespace loom
