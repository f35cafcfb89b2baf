#pragma once
// How much each of several causes moves a result: a random forest learns the result from all of them, and what is worth
// knowing is how much worse its trees tell the samples that they have not learnt from when the values of one cause are
// shuffled among those. Knows no runs and no Qt; any thread.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace loom {

// A number, or a word of a few.
using Cause = std::variant<double, std::string>;

struct CauseSamples {
  std::vector<std::vector<Cause>> causes;  // by sample, then by cause; as many everywhere
  std::vector<double> results;             // finite
};

struct CauseWeights {
  std::vector<double> shares;  // by cause, not negative, together 1; all 0 where nothing tells
  double explained = 0;        // R² on samples that a tree has not learnt from; below 0: worse than the mean
};

inline constexpr std::size_t kLeastSamples = 20;  // from which a forest says anything

// Nothing where there are too few samples, no causes, results that are all the same, or `stop` came. The same samples
// give the same answer. `trees`: for a test that compares with dlib's own predictions.
std::optional<CauseWeights> weighCauses(const CauseSamples& samples, const std::atomic<bool>* stop = nullptr);

// What dlib's forest says of each sample by the trees that have not learnt from it, beside what is said here by the
// same trees: equal as long as dlib draws its samples as this room takes it to. For tests.
struct LeftOut {
  std::vector<double> ofDlib, ofOurs;
};
LeftOut leftOutPredictions(const CauseSamples& samples);

}  // namespace loom
