// Strategies on functions whose best is known, and on trials that have no result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/search/strategy.h"

namespace loom {
namespace {

using Function = std::function<double(const Point&)>;  // more is better

Space spaceOf(const std::vector<std::string>& texts) {
  Space space;
  for (const std::string& each : texts) space.push_back(parseDimension(each));
  return space;
}

Trial doneAt(int number, const Point& point, double value) {
  return {.number = number, .point = point, .state = TrialState::done, .curve = {{1, value}}, .spent = 1};
}

std::vector<Trial> searched(const std::string& strategy, const Space& space, const Function& function, int trials,
                            std::uint64_t seed) {
  std::vector<Trial> all;
  while (static_cast<int>(all.size()) < trials) {
    const auto point = strategyNamed(strategy).next({.space = space, .trials = all, .planned = trials, .seed = seed});
    if (!point) break;
    all.push_back(doneAt(nextNumber(all), *point, function(*point)));
  }
  return all;
}

double bestBy(const std::string& strategy, const Space& space, const Function& function, int trials,
              std::uint64_t seed) {
  const std::vector<Trial> all = searched(strategy, space, function, trials, seed);
  return bestOf(all)->score();
}

double branin(const Point& point) {
  const double x = point[0], y = point[1], pi = std::acos(-1.0);
  const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return -(a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10);
}

// A rate, a whole number and a list, best at 0.003, 64 and the third.
double bowl(const Point& point) {
  const double rate = std::log10(point[0].get<double>() / 0.003), width = std::log2(point[1].get<double>() / 64);
  const double choice = point[2] == 32 ? 0 : 0.3;
  return -(rate * rate + width * width / 4 + choice);
}

#ifdef GRADLOOM_HAS_DLIB
int winsOverRandom(const Space& space, const Function& function, int trials) {
  int wins = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    wins += bestBy("global", space, function, trials, seed) > bestBy("random", space, function, trials, seed);
  return wins;
}

TEST(SearchStrategies, GlobalBeatsRandomOnBranin) {
  const Space space = spaceOf({"x=-5..10", "y=0..15"});
  EXPECT_GE(winsOverRandom(space, branin, 30), 15) << "of 20 seeds";
  std::vector<double> best;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) best.push_back(bestBy("global", space, branin, 30, seed));
  std::sort(best.begin(), best.end());
  EXPECT_GT(best[10], -0.5) << "the least of Branin's function is 0.398";
}

TEST(SearchStrategies, GlobalBeatsRandomOnABowlOfALogScaleAWholeNumberAndAList) {
  EXPECT_GE(winsOverRandom(spaceOf({"rate=log:1e-6..1", "width=log:whole:4..512", "batch=8,16,32,64"}), bowl, 30), 15);
}

TEST(SearchStrategies, GlobalGoesOnAsIfItHadNotBeenInterrupted) {
  const Space space = spaceOf({"x=-5..10", "y=0..15"});
  const std::vector<Trial> whole = searched("global", space, branin, 20, 3);
  std::vector<Trial> half(whole.begin(), whole.begin() + 11);
  std::reverse(half.begin(), half.end());  // folders come in any order
  while (half.size() < 20) {
    const auto point = strategyNamed("global").next({.space = space, .trials = half, .planned = 20, .seed = 3});
    ASSERT_TRUE(point);
    half.push_back(doneAt(nextNumber(half), *point, branin(*point)));
    EXPECT_EQ(half.back().point, whole[half.size() - 1].point);
  }
}

TEST(SearchStrategies, GlobalLeavesAloneWhatFailed) {
  // The better half of the range has no results at all: they count as worst, not as a mean of their neighbours.
  const Space space = spaceOf({"x=0..1"});
  const Function broken = [](const Point& point) {
    const double x = point[0];
    return x > 0.5 ? std::nan("") : x;
  };
  const std::vector<Trial> all = searched("global", space, broken, 25, 1);
  EXPECT_GT(bestOf(all)->score(), 0.45);
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), [&](const Trial& each) {
    return std::isnan(each.score()) && bestOf(all)->number == each.number;
  }));
  const auto broke =
      std::count_if(all.begin() + 5, all.end(), [](const Trial& each) { return std::isnan(each.score()); });
  EXPECT_LT(broke, 12) << "of 20 behind the first five";
  std::vector<Trial> none;
  for (int i = 1; i <= 5; ++i) none.push_back(doneAt(i, {i / 10.0}, std::nan("")));
  EXPECT_TRUE(strategyNamed("global").next({.space = space, .trials = none, .planned = 9, .seed = 1}))
      << "with nothing to go by it goes anywhere";
}
#endif

TEST(SearchStrategies, NoneRepeatsAPointAndEachEndsWithTheSpace) {
  const Space space = spaceOf({"a=1,2,3", "b=whole:1..4"});
  for (const SearchStrategy* strategy : strategyTable()) {
#ifndef GRADLOOM_HAS_DLIB
    if (strategy->id == "global") continue;
#endif
    const std::vector<Trial> all = searched(
        strategy->id, space, [](const Point& point) { return point[1].get<double>() * point[0].get<double>(); }, 50, 7);
    std::set<std::string> points;
    for (const Trial& each : all) points.insert(keyOf(each.point));
    EXPECT_EQ(points.size(), 12u) << strategy->id;
    EXPECT_EQ(all.size(), 12u) << strategy->id;
  }
}

TEST(SearchStrategies, GridTakesEveryCombination) {
  const Space space = spaceOf({"rate=log:0.001..1/4", "batch=16,32"});
  const std::vector<Trial> all = searched(
      "grid", space, [](const Point&) { return 0.0; }, 30, 1);
  std::set<std::string> points;
  for (const Trial& each : all) points.insert(keyOf(each.point));
  EXPECT_EQ(points, (std::set<std::string>{"[0.001,16]", "[0.001,32]", "[0.01,16]", "[0.01,32]", "[0.1,16]", "[0.1,32]",
                                           "[1.0,16]", "[1.0,32]"}));
  EXPECT_EQ(searched(
                "grid", spaceOf({"x=0..1", "y=0..1"}), [](const Point&) { return 0.0; }, 26, 1)
                .size(),
            25u)
      << "five by five fit into 26";
}

TEST(SearchStrategies, AGridThatIsCutShortGoesThroughAllOfIt) {
  const std::vector<Trial> all = searched(
      "grid", spaceOf({"x=0..1/10", "y=0..1/10"}), [](const Point&) { return 0.0; }, 20, 1);
  ASSERT_EQ(all.size(), 20u);
  std::set<double> x, y;
  for (const Trial& each : all) {
    x.insert(each.point[0].get<double>());
    y.insert(each.point[1].get<double>());
  }
  EXPECT_GE(x.size(), 9u);
  EXPECT_GE(y.size(), 9u);
}

TEST(SearchStrategies, RandomIsEvenOnItsScaleAndAFunctionOfSeedAndNumber) {
  const Space space = spaceOf({"rate=log:0.0001..1", "batch=16,32,64"});
  const std::vector<Trial> all = searched(
      "random", space, [](const Point&) { return 0.0; }, 600, 5);
  const auto below = std::count_if(all.begin(), all.end(), [](const Trial& each) { return each.point[0] < 0.01; });
  EXPECT_NEAR(static_cast<double>(below), 300, 60);
  for (const int batch : {16, 32, 64})
    EXPECT_NEAR(std::count_if(all.begin(), all.end(), [&](const Trial& each) { return each.point[1] == batch; }), 200,
                60);
  EXPECT_EQ(searched(
                "random", space, [](const Point&) { return 0.0; }, 3, 5)[2]
                .point,
            all[2].point);
  EXPECT_NE(searched(
                "random", space, [](const Point&) { return 0.0; }, 3, 6)[2]
                .point,
            all[2].point);
}

TEST(SearchTrials, OneWithoutAResultIsWorstAndOfEqualOnesTheEarlierIsBetter) {
  std::vector<Trial> all{doneAt(1, {1}, std::nan("")), doneAt(2, {2}, -5), doneAt(3, {3}, -5), doneAt(4, {4}, -7)};
  all.push_back({.number = 5, .point = {5}, .state = TrialState::failed, .curve = {{0.5, 100}}, .spent = 0.5});
  all.push_back({.number = 6, .point = {6}, .state = TrialState::done, .curve = {{0.5, 100}, {1, std::nan("")}}});
  EXPECT_EQ(bestOf(all)->number, 2) << "neither what failed nor what ended in NaN, whatever it had before";
  std::sort(all.begin(), all.end(), isBetter);
  std::vector<int> order;
  for (const Trial& each : all) order.push_back(each.number);
  EXPECT_THAT(order, testing::ElementsAre(2, 3, 4, 1, 5, 6));
  const std::vector<Trial> none(1, doneAt(1, {1}, std::nan("")));
  EXPECT_EQ(bestOf(none), nullptr);
}

TEST(SearchStrategies, AnUnknownOneIsRefusedWithThoseThatThereAre) {
  try {
    strategyNamed("bayes");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("choose one of global, random, grid"));
  }
}

}  // namespace
}  // namespace loom
