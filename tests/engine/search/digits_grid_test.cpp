// On the results of 200 real trainings: LeNet on 600 drawn digits, two epochs, its accuracy on 2,000 others after each
// quarter of an epoch, over rate, batch and channels (digits_grid.csv says how they came about).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/search/stop_rule.h"
#include "engine/search/strategy.h"

namespace loom {
namespace {

constexpr int kTrials = 30;

struct Grid {
  Space space;
  std::map<std::string, std::vector<TrialResult>> curves;  // by keyOf(point)
  double best = 0;
};

const Grid& grid() {
  static const Grid grid = [] {
    Grid read;
    std::vector<std::vector<Json>> values(3);
    std::ifstream file(GRADLOOM_SOURCE_DIR "/tests/engine/search/digits_grid.csv");
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#' || line[0] == 'r') continue;
      std::istringstream cells(line);
      std::vector<double> numbers;
      for (std::string cell; std::getline(cells, cell, ',');) numbers.push_back(std::stod(cell));
      Point point{numbers[0], static_cast<int>(numbers[1]), static_cast<int>(numbers[2])};
      for (std::size_t i = 0; i < 3; ++i)
        if (std::find(values[i].begin(), values[i].end(), point[i]) == values[i].end()) values[i].push_back(point[i]);
      std::vector<TrialResult>& curve = read.curves[keyOf(point)];
      for (std::size_t i = 3; i < numbers.size(); ++i) {
        curve.push_back({static_cast<double>(i - 2) / static_cast<double>(numbers.size() - 3), numbers[i]});
        read.best = std::max(read.best, numbers[i]);
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      std::sort(values[i].begin(), values[i].end());
      read.space.push_back({.key = std::to_string(i), .choices = values[i]});
    }
    return read;
  }();
  return grid;
}

struct Found {
  double best = 0, steps = 0;
};

Found searched(const char* strategy, const char* stopWeak, std::uint64_t seed) {
  const StopRule& rule = stopRuleNamed(stopWeak);
  std::vector<Trial> trials;
  Found found;
  while (static_cast<int>(trials.size()) < kTrials) {
    const auto point =
        strategyNamed(strategy).next({.space = grid().space, .trials = trials, .planned = kTrials, .seed = seed});
    if (!point) break;
    Trial& trial = trials.emplace_back(Trial{.number = nextNumber(trials), .point = *point});
    for (const TrialResult& each : grid().curves.at(keyOf(*point))) {
      trial.curve.push_back(each);
      if (rule.isWeak(trial, trials)) {
        trial.state = TrialState::weak;
        break;
      }
    }
    if (trial.state == TrialState::running) trial.state = TrialState::done;
    found.steps += trial.curve.back().at / kTrials;
  }
  found.best = bestOf(trials)->score();
  return found;
}

TEST(DigitsGrid, IsWhole) {
  EXPECT_EQ(grid().curves.size(), 200u);
  for (const auto& [point, curve] : grid().curves) EXPECT_EQ(curve.size(), 8u) << point;
}

#ifdef GRADLOOM_HAS_DLIB
TEST(DigitsGrid, GlobalSearchComesNearTheBestMoreOftenThanRandom) {
  int global = 0, random = 0;
  double globalMean = 0, randomMean = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const double found = searched("global", "none", seed).best, drawn = searched("random", "none", seed).best;
    global += found >= grid().best - 0.005;
    random += drawn >= grid().best - 0.005;
    globalMean += found / 20;
    randomMean += drawn / 20;
  }
  RecordProperty("global", global);
  RecordProperty("random", random);
  RecordProperty("globalMean", std::to_string(globalMean));
  RecordProperty("randomMean", std::to_string(randomMean));
  EXPECT_GT(global, random) << "of 20 seeds within half a point of the grid's best";
  EXPECT_GT(globalMean, randomMean + 0.01);
  EXPECT_GT(globalMean, grid().best - 0.015);
}

TEST(DigitsGrid, WithEarlyStoppingInAtMostHalfOfTheSteps) {
  for (const char* rule : {"median", "halving"}) {
    double steps = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) steps += searched("random", rule, seed).steps / 20;
    EXPECT_LE(steps, 0.5) << rule;
  }
}
#endif

}  // namespace
}  // namespace loom
