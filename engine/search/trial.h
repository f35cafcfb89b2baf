#pragma once
// A trial of a search as strategies and rules see it: where it is in the space and how it goes. Results are turned so
// that more is better, whatever the metric.
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/search/space.h"

namespace loom {

enum class TrialState {
  running,      // or waits for its turn
  interrupted,  // stopped by a person, or its process went: it goes on from its checkpoint
  done,
  weak,    // ended early, as the others were better
  failed,  // by an error, or its results are no numbers
};
const char* toKey(TrialState state);

struct TrialResult {
  double at = 0;     // share of the trial's steps, 0 to 1
  double value = 0;  // more is better; may be NaN
};

struct Trial {
  int number = 0;  // from 1, in the order in which they began
  Point point;
  TrialState state = TrialState::running;
  std::vector<TrialResult> curve;  // in order of `at`
  double spent = 0;                // share of its steps that it took

  // The best finite result. NaN of a trial that failed, that measured nothing, or whose newest result is no number.
  double score() const;
  // The best result up to there; -infinity where one of them is no number, nothing where none was measured so far or
  // the trial ended before.
  std::optional<double> bestAt(double at) const;
  bool ended() const { return state == TrialState::done || state == TrialState::weak || state == TrialState::failed; }
};

// A trial without a score is worst; of equal ones the earlier is better.
bool isBetter(const Trial& a, const Trial& b);
// Of those that have a score; null where none has.
const Trial* bestOf(std::span<const Trial> trials);
int nextNumber(std::span<const Trial> trials);

}  // namespace loom
