// The front of results against costs, beside one that compares every pair, and what is never on it.
#include "engine/search/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Every pair compared: on the front is what nothing beats, nor equals in both before it.
std::vector<std::size_t> bruteFront(const std::vector<Weighed>& all) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool beaten = !std::isfinite(all[i].cost) || !std::isfinite(all[i].value);
    for (std::size_t j = 0; j < all.size() && !beaten; ++j) {
      if (i == j || !std::isfinite(all[j].cost) || !std::isfinite(all[j].value)) continue;
      const bool asGood = all[j].cost <= all[i].cost && all[j].value >= all[i].value;
      const bool better = all[j].cost < all[i].cost || all[j].value > all[i].value;
      beaten = asGood && (better || j < i);
    }
    if (!beaten) front.push_back(i);
  }
  std::sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) { return all[a].cost < all[b].cost; });
  return front;
}

TEST(Front, IsThatOfEveryPairCompared) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Weighed> all;
    for (int i = 0; i < 40; ++i) {
      // Few different values, so that many are equal; some are none.
      const auto some = [&] { return random() % 15 == 0 ? std::nan("") : static_cast<double>(random() % 12); };
      all.push_back({some(), some()});
    }
    EXPECT_EQ(frontOf(all), bruteFront(all)) << round;
  }
  EXPECT_TRUE(frontOf(std::vector<Weighed>{{std::nan(""), 1}, {1, std::nan("")}, {INFINITY, 1}}).empty());
}

TEST(Front, HoldsNoTrialThatFailedOrWasGivenUp) {
  SearchPlan plan{.name = "s", .space = {parseDimension("fc1.outputs=whole:2..16")}};
  plan.metric = "loss";
  std::vector<TrialRow> rows;
  const auto add = [&](int outputs, double loss, TrialState state) {
    TrialRow row{
        .number = static_cast<int>(rows.size()) + 1, .run = "r", .point = {outputs}, .state = state, .result = loss};
    row.cost.multiplyAdds = 6.0 * outputs;
    rows.push_back(row);
  };
  add(2, 0.5, TrialState::done);
  add(2, 0.5, TrialState::done);  // a tie
  add(4, 0.1, TrialState::failed);
  add(4, 0.2, TrialState::weak);
  add(8, 0.3, TrialState::done);
  add(9, std::nan(""), TrialState::done);
  add(16, 0.4, TrialState::done);  // dearer and worse: less loss is better
  const TrialCostKind& kind = costKindNamed("multiply_adds");
  EXPECT_THAT(frontOf(plan, rows, kind), ElementsAre(0u, 4u));
  EXPECT_EQ(frontCsv(plan, rows, kind),
            "trial,run,loss,multiply_adds,parameters,step,memory,measured,fc1.outputs\n"
            "1,r,0.5,12,,,,,2\n5,r,0.3,48,,,,,8\n");
  EXPECT_THAT(frontText(plan, rows, kind),
              AllOf(HasSubstr("2 of 7 trials"), HasSubstr("trial 5"), HasSubstr("fc1.outputs=8")));
}

}  // namespace
}  // namespace loom
