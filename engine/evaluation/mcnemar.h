#pragma once
// Whether one of two runs is better on the same samples, or only luckier (McNemar 1947).
#include <cstdint>
#include <span>

#include "engine/evaluation/samples.h"

namespace loom {

struct McNemar {
  std::int64_t both = 0;                    // samples that both were asked
  std::int64_t nowRight = 0, nowWrong = 0;  // where they differ: the second alone right, the first alone
  double pValue = 1;  // of so great a difference by chance; two-sided, exact (binomial) up to 1,000 that differ, then
                      // chi^2 with correction for continuity
};

McNemar mcNemar(std::int64_t nowRight, std::int64_t nowWrong);
// By the samples' numbers, in any order; those that only one of them has, or that are not finite in one of them, count
// for nothing.
McNemar compare(std::span<const EvaluatedSample> before, std::span<const EvaluatedSample> now);

}  // namespace loom
