#pragma once
// Whether a share of 90 % is right nine times out of ten; and the temperature that would make it so.
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/evaluation/score_table.h"

namespace loom {

struct ReliabilityBin {
  double low = 0, high = 1;  // shares of the class that was said: low < share <= high
  std::int64_t count = 0;
  double confidence = 0, right = 0;  // means: the share that was said, and how many were right
};

struct CalibrationFigures {
  double expectedError = 0;  // ECE = sum over bins of count / all * |right - confidence| (Guo et al. 2017)
  double largestError = 0;   // of a bin
  std::vector<ReliabilityBin> bins;
};

class Calibration {
 public:
  static constexpr int kBins = 15;
  Calibration() : m_bins(kBins) {}
  void add(double confidence, bool right);
  void merge(const Calibration& other);
  CalibrationFigures finish() const;

 private:
  struct Sums {
    std::int64_t count = 0, right = 0;
    double confidence = 0;
  };
  std::vector<Sums> m_bins;
};

struct Temperature {
  double value = 1;  // logits are divided by it: above 1 it was too sure
  double lossBefore = 0, lossAfter = 0;
  std::int64_t samples = 0;  // from which it was fitted
};

// The temperature T with the least mean of -ln p_T(truth), p_T ~ p^(1/T) (for a label by itself sigmoid(logit / T)), by
// Newton's method on 1/T, which is a convex problem. Nothing where there are no samples, or where none between 1/1000
// and 1000 is the least: all are right, say.
std::optional<Temperature> fitTemperature(const ScoreTable& scores);

// A temperature that was fitted on one half of the samples, and what it does to the other half: so much it is worth on
// samples that it has not seen.
struct TemperatureTrial {
  double value = 1;
  std::int64_t fitted = 0, tried = 0;  // samples of each half
  double lossBefore = 0, lossAfter = 0;
  double errorBefore = 0, errorAfter = 0;  // ECE
};

// Which sample is in which half follows from its number alone. Nothing where none can be fitted, or nothing is left to
// try it on.
std::optional<TemperatureTrial> tryTemperature(const ScoreTable& scores);

}  // namespace loom
