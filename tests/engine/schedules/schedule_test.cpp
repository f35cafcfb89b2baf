#include "engine/schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr ScheduleSpan kSpan{.steps = 100, .stepsPerEpoch = 10};

std::vector<double> factors(const Json& schedule, const Json& warmup, std::vector<double> steps,
                            const ScheduleSpan& span = kSpan) {
  const auto made = makeSchedule(schedule, warmup, span);
  std::vector<double> values;
  for (const double step : steps) values.push_back(made->factor(step));
  return values;
}

using testing::DoubleNear;
using testing::ElementsAre;
auto near(double value) {
  return DoubleNear(value, 1e-9);
}

TEST(Schedules, Constant) {
  EXPECT_THAT(factors({{"name", "Constant"}}, nullptr, {0, 99}), ElementsAre(1, 1));
}

TEST(Schedules, StepDropsAtWholeEpochs) {
  EXPECT_THAT(factors({{"name", "Step"}, {"factor", 0.5}, {"every", 3}}, nullptr, {0, 29, 30, 59, 60, 99}),
              ElementsAre(1, 1, near(0.5), near(0.5), near(0.25), near(0.125)));
  // Thirds of an epoch of 7 steps: rounding must not move a drop.
  for (int step = 0; step < 70; ++step)
    EXPECT_NEAR(
        factors({{"name", "Step"}, {"factor", 0.5}, {"every", 1}}, nullptr, {static_cast<double>(step)}, {70, 7})[0],
        std::pow(0.5, step / 7), 1e-12);
}

TEST(Schedules, StepTakesAList) {
  EXPECT_THAT(factors({{"name", "Step"}, {"at", {2, 5, 8}}}, nullptr, {19, 20, 49, 50, 80}),
              ElementsAre(1, near(0.1), near(0.1), near(0.01), near(0.001)));
}

TEST(Schedules, Exponential) {
  EXPECT_THAT(factors({{"name", "Exponential"}, {"factor", 0.9}, {"every", 2}}, nullptr, {0, 19, 20, 45}),
              ElementsAre(1, 1, near(0.9), near(0.81)));
  EXPECT_THAT(factors({{"name", "Exponential"}, {"factor", 0.9}, {"smooth", true}}, nullptr, {0, 5, 10}),
              ElementsAre(1, near(std::sqrt(0.9)), near(0.9)));
}

// Power 2 over ten steps: 1, .81, .64, ... as PyTorch's PolynomialLR.
TEST(Schedules, Polynomial) {
  EXPECT_THAT(factors({{"name", "Polynomial"}, {"power", 2}}, nullptr, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {10, 5}),
              ElementsAre(1, near(.81), near(.64), near(.49), near(.36), near(.25), near(.16), near(.09), near(.04),
                          near(.01), near(0)));
  EXPECT_THAT(factors({{"name", "Polynomial"}, {"end", 0.1}}, nullptr, {50, 100, 200}),
              ElementsAre(near(0.55), near(0.1), near(0.1)));
}

TEST(Schedules, Cosine) {
  EXPECT_THAT(factors({{"name", "Cosine"}, {"end", 0.2}}, nullptr, {0, 25, 50, 100}),
              ElementsAre(1, near(0.2 + 0.8 * 0.5 * (1 + std::cos(std::numbers::pi / 4))), near(0.6), near(0.2)));
}

// A fifth of the rate at first, all of it after a quarter of 200 steps, a tenth at the end.
TEST(Schedules, OneCycle) {
  EXPECT_THAT(factors({{"name", "OneCycle"}, {"peak", 0.25}, {"start", 0.2}, {"end", 0.1}}, nullptr,
                      {0, 25, 50, 125, 200, 250}, {200, 10}),
              ElementsAre(near(0.2), near(0.6), 1, near(0.55), near(0.1), near(0.1)));
  // A peak at either end leaves one line.
  EXPECT_THAT(factors({{"name", "OneCycle"}, {"peak", 0}, {"end", 0.5}}, nullptr, {0, 50, 100}),
              ElementsAre(1, near(0.75), near(0.5)));
  EXPECT_THAT(factors({{"name", "OneCycle"}, {"peak", 1}, {"start", 0.5}}, nullptr, {0, 50, 100}),
              ElementsAre(near(0.5), near(0.75), 1));
}

TEST(Schedules, StableThenDecay) {
  EXPECT_THAT(
      factors({{"name", "WSD"}}, nullptr, {0, 79, 80, 85, 90, 95, 100, 120}),
      ElementsAre(1, 1, near(1), near(.5), near(1 - std::sqrt(.5)), near(1 - std::sqrt(.75)), near(0), near(0)));
  EXPECT_THAT(factors({{"name", "WSD"}, {"decay", 0.5}, {"shape", "linear"}, {"end", 0.2}}, nullptr, {50, 75, 100}),
              ElementsAre(1, near(0.6), near(0.2)));
  EXPECT_THAT(factors({{"name", "WSD"}, {"decay", 0}}, nullptr, {0, 100}), ElementsAre(1, 1));
  EXPECT_THAT(factors({{"name", "WSD"}}, {{"epochs", 1}}, {0, 4, 10, 85}),
              ElementsAre(near(.1), near(.5), 1, near(.5)));
}

// Cycles of 1, 2 and 4 epochs of 10 steps; as PyTorch's CosineAnnealingWarmRestarts(T_0 = 10, T_mult = 2).
TEST(Schedules, CosineWithRestarts) {
  const Json doubling = {{"name", "CosineRestarts"}, {"first", 1.0}, {"end", 0.1}};
  const auto at = [](double share) { return 0.1 + 0.9 * 0.5 * (1 + std::cos(std::numbers::pi * share)); };
  EXPECT_THAT(factors(doubling, nullptr, {0, 5, 9, 10, 20, 29, 30, 50, 69, 70}),
              ElementsAre(1, near(at(.5)), near(at(.9)), near(1), near(at(.5)), near(at(.95)), near(1), near(at(.5)),
                          near(at(.975)), near(1)));
  // As long each, with lower peaks.
  EXPECT_THAT(factors({{"name", "CosineRestarts"}, {"first", 2.0}, {"times", 1.0}, {"peaks", 0.5}}, nullptr,
                      {0, 10, 20, 30, 40, 99}),
              ElementsAre(1, near(.5), near(.5), near(.25), near(.25),
                          near(.0625 * .5 * (1 + std::cos(std::numbers::pi * .95)))));
  // Whole epochs are met exactly, whatever their number of steps.
  for (int epoch = 0; epoch < 60; epoch += 3)
    EXPECT_NEAR(
        factors({{"name", "CosineRestarts"}, {"first", 3.0}, {"times", 1.0}}, nullptr, {7.0 * epoch}, {420, 7})[0], 1,
        1e-6);
}

// Akiba et al. at a batch of 32,768: 6.4, 0.96, 0.128, 0.0128 of 12.8.
TEST(Schedules, SlowStart) {
  EXPECT_THAT(factors({{"name", "SlowStart"}}, nullptr, {0, 399, 400, 699, 700, 849, 850, 899}, {900, 10}),
              ElementsAre(.5, .5, .075, .075, .01, .01, .001, .001));
  EXPECT_THAT(factors({{"name", "SlowStart"}, {"factors", {1.0}}, {"at", Json::array()}}, nullptr, {0, 99}),
              ElementsAre(1, 1));
}

PlateauState observed(const PlateauRule& rule, const std::vector<double>& values, bool higherIsBetter = false) {
  PlateauState state;
  for (const double value : values) state.observe(rule, value, higherIsBetter);
  return state;
}

// Each sequence by hand; PyTorch's ReduceLROnPlateau drops at the same places.
TEST(Schedules, PlateauDropsAfterTooManyResultsWithoutAGain) {
  const PlateauRule rule{.factor = 0.5, .patience = 2, .threshold = 0.1};
  EXPECT_EQ(observed(rule, {1, 1, 1}).scale, 1) << "the first is a gain, two more are borne";
  EXPECT_EQ(observed(rule, {1, 1, 1, 1}).scale, 0.5);
  EXPECT_EQ(observed(rule, {1, .95, .95, .95}).scale, 0.5) << "a gain of less than a tenth is none";
  EXPECT_EQ(observed(rule, {1, .95, .95, .8, .8, .8}).scale, 1);
  EXPECT_EQ(observed(rule, {1, 1, 1, 1, 1, 1, 1}).scale, 0.25);
  EXPECT_EQ(observed(rule, {.5, .4, .4, .4}, true).scale, 0.5);
  EXPECT_EQ(observed(rule, {.5, .6, .7, .8}, true).scale, 1);
  EXPECT_EQ(observed(rule, {1, NAN, NAN, NAN}).scale, 0.5);
  const PlateauRule resting{.factor = 0.1, .patience = 0, .threshold = 0, .cooldown = 2, .least = 0.05};
  EXPECT_EQ(observed(resting, {1, 1, 1, 1}).scale, 0.1) << "two results behind a drop do not count";
  EXPECT_EQ(observed(resting, {1, 1, 1, 1, 1}).scale, 0.05);
}

TEST(Schedules, OnlyPlateauFollowsWhatIsMeasured) {
  for (const ScheduleDefinition* definition : scheduleTable()) {
    const auto made = makeSchedule({{"name", definition->entry.id}}, {{"epochs", 1}}, kSpan);
    EXPECT_EQ(made->plateau().has_value(), definition->entry.id == "Plateau") << definition->entry.id;
  }
  EXPECT_EQ(makeSchedule({{"name", "Plateau"}, {"patience", 3}}, nullptr, kSpan)->plateau()->patience, 3);
}

TEST(Schedules, WarmUpFromNothingNeverHasARateOfZero) {
  EXPECT_THAT(factors({{"name", "Constant"}}, {{"steps", 4}}, {0, 1, 2, 3, 4, 50}),
              ElementsAre(0.25, 0.5, 0.75, 1, 1, 1));
}

// Goyal et al.: batch 8192, 157 steps an epoch, five epochs of warm-up from 0.1 to 3.2.
TEST(Schedules, WarmUpOfGoyal) {
  const auto rates =
      factors({{"name", "Constant"}}, {{"epochs", 5}, {"from", 1.0 / 32}}, {0, 1, 392, 785}, {157 * 90, 157});
  EXPECT_NEAR(3.2 * rates[0], 0.1, 1e-6);
  EXPECT_NEAR(3.2 * rates[1], 0.103949, 1e-6);
  EXPECT_NEAR(3.2 * rates[2], 1.648025, 1e-6);
  EXPECT_NEAR(3.2 * rates[3], 3.2, 1e-6);
}

// The same from the settings of a project: the unscaled rate is 0.1, the batch 32 times the base batch.
TEST(Schedules, WarmUpBeginsAtTheUnscaledRate) {
  const double scale = rateScale("linear", 8192, 256);
  EXPECT_EQ(scale, 32);
  const auto rates = factors({{"name", "Constant"}}, {{"epochs", 5}, {"from_unscaled", true}}, {0, 1, 392, 785},
                             {.steps = 157 * 90, .stepsPerEpoch = 157, .rateScale = scale});
  EXPECT_NEAR(0.1 * scale * rates[0], 0.1, 1e-6);
  EXPECT_NEAR(0.1 * scale * rates[1], 0.103949, 1e-6);
  EXPECT_NEAR(0.1 * scale * rates[2], 1.648025, 1e-6);
  EXPECT_NEAR(0.1 * scale * rates[3], 3.2, 1e-6);
  // A smaller batch than the base one: no ramp downwards.
  EXPECT_THAT(factors({{"name", "Constant"}}, {{"steps", 4}, {"from_unscaled", true}}, {0, 2}, {100, 10, 0.5}),
              ElementsAre(1, 1));
}

TEST(Schedules, RateScalesWithTheBatch) {
  EXPECT_EQ(rateScale("none", 4096, 256), 1);
  EXPECT_EQ(rateScale("linear", 4096, 256), 16);
  EXPECT_EQ(rateScale("square_root", 4096, 256), 4);
  EXPECT_EQ(rateScale("linear", 64, 256), 0.25);
}

TEST(Schedules, WarmUpMultipliesASchedulesThatCountsFromTheFirstStep) {
  EXPECT_THAT(factors({{"name", "Polynomial"}}, {{"epochs", 2}}, {9, 19, 20}),
              ElementsAre(near(0.5 * 0.91), near(0.81), near(0.8)));
}

std::string messageOf(const Json& schedule, const Json& warmup = nullptr) {
  try {
    makeSchedule(schedule, warmup, kSpan);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schedules, RefuseWhatCannotBe) {
  EXPECT_THAT(messageOf({{"name", "Cosin"}}), testing::HasSubstr("did you mean 'Cosine'"));
  EXPECT_THAT(messageOf({{"name", "Cosine"}, {"ende", 0}}), testing::HasSubstr("ende"));
  EXPECT_THAT(messageOf({{"name", "Step"}, {"every", 0}}), testing::HasSubstr("every"));
  EXPECT_THAT(messageOf({{"name", "Cosine"}}, {{"epoch", 1}}), testing::HasSubstr("epoch"));
  EXPECT_THAT(messageOf(5), testing::HasSubstr("names no schedule"));
  EXPECT_THAT(messageOf({{"name", "SlowStart"}, {"at", {10}}}),
              testing::HasSubstr("2 stages, but there are 4 factors"));
  EXPECT_THAT(messageOf({{"name", "SlowStart"}, {"at", {40, 30, 85}}}), testing::HasSubstr("must rise"));
}

TEST(Schedules, EveryEntryIsWhole) {
  for (const ScheduleDefinition* definition : scheduleTable()) {
    EXPECT_FALSE(definition->entry.summary.empty() || definition->entry.help.empty()) << definition->entry.id;
    const Json none = Json::object();
    EXPECT_TRUE(validate(definition->entry, none).empty()) << definition->entry.id;
    // A factor of the base rate: never negative and at most 1 by default, which all but a cycle have at once, and a
    // slow start never.
    const auto schedule = definition->make(Values(definition->entry, none), kSpan);
    const bool slow = definition->entry.id == "SlowStart";
    if (definition->entry.id != "OneCycle" && !slow) EXPECT_EQ(schedule->factor(0), 1);
    double highest = 0;
    for (double step = 0; step <= 100; step += 0.5) {
      EXPECT_GE(schedule->factor(step), 0);
      highest = std::max(highest, schedule->factor(step));
    }
    EXPECT_EQ(highest, slow ? 0.5 : 1);
  }
}

}  // namespace
}  // namespace loom
