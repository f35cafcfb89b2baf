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
}

TEST(Schedules, EveryEntryIsWhole) {
  for (const ScheduleDefinition* definition : scheduleTable()) {
    EXPECT_FALSE(definition->entry.summary.empty() || definition->entry.help.empty()) << definition->entry.id;
    const Json none = Json::object();
    EXPECT_TRUE(validate(definition->entry, none).empty()) << definition->entry.id;
    // A factor of the base rate: never negative and at most 1 by default, which all but a cycle have at once.
    const auto schedule = definition->make(Values(definition->entry, none), kSpan);
    if (definition->entry.id != "OneCycle") EXPECT_EQ(schedule->factor(0), 1);
    double highest = 0;
    for (double step = 0; step <= 100; step += 0.5) {
      EXPECT_GE(schedule->factor(step), 0);
      highest = std::max(highest, schedule->factor(step));
    }
    EXPECT_EQ(highest, 1);
  }
}

}  // namespace
}  // namespace loom
