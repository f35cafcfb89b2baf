#pragma once
// How much an evaluation keeps. What is beyond a limit is not dropped in silence: the result says so.
#include <cstdint>

namespace loom {

struct EvaluationLimits {
  std::int64_t exactScores = 10'000'000;  // samples x classes up to which curves are exact
  int bins = 65'536;                      // of each class's curve beyond that
  int binnedClasses = 256;                // with more classes than that there are no curves beyond that
  std::int64_t samples = 200'000;         // told one by one: the worst ones
};

}  // namespace loom
