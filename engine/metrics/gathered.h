#pragma once
// Metrics that make a list of what a run gives, and join lists in their own way: the area under a curve needs every
// score behind the other, errors of words are counted of whole sequences. Lists of batches and ranks may be joined in
// any order.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/program/program.h"

namespace loom {

// A rule whose `accumulate` is gatheredMark: finish() takes a list.
struct GatheredSums : ResultSums {
  std::vector<double> (*list)(std::span<const double> run);                   // of what one run gave
  void (*join)(std::vector<double>& list, const std::vector<double>& other);  // empty: nothing was gathered
  // What a person has to know of a list's number; empty: it is exact.
  const char* (*remark)(std::span<const double> list);
};
void gatheredMark(std::span<const double> run, std::span<double> sums);  // is never called

inline const GatheredSums* asGathered(const ResultSums* rule) {
  return rule != nullptr && rule->accumulate == gatheredMark ? static_cast<const GatheredSums*>(rule) : nullptr;
}

// Scores of rows against what is true of them, for the area under the receiver operating characteristic.
//
// A list: width K, the form, and of each row K scores and the class that is true, 0 or 1 where K is 1. From more than
// kMostScores on: -K, the form, and of each class kScoreBins counts of rows that are of it and kScoreBins of others;
// the bins are alike in the logit.
namespace score_lists {

inline constexpr std::int64_t kMostScores = 10'000'000;
inline constexpr std::size_t kScoreBins = 65'536, kHead = 2;

enum class Form {
  logits,       // of a chance each
  shares,       // chances, or the shares of classes
  classLogits,  // of K classes: their softmax is taken
};
// A run: K, the class that is looked for or -1, of each row K scores, and then of each row what is true: of K = 1 a
// number from 0 to 1, else K numbers, 1 at the true class. Of one class that is looked for alone its list has the
// width 1.
std::vector<double> ofRun(std::span<const double> run, Form form);
void join(std::vector<double>& list, const std::vector<double>& other, std::int64_t mostScores = kMostScores);
bool isBinned(std::span<const double> list);

// P(score of one that is of the class > score of another) + P(equal) / 2 (Mann and Whitney), the mean over classes that
// have both, each weighed by how often it is true where `weighted`. NaN where no class has both, or a score is NaN.
double area(std::span<const double> list, bool weighted);

}  // namespace score_lists
}  // namespace loom
