#pragma once
// Draws the next trial: asks the strategy until a candidate can be built, is within the limits, and is no drawing that
// a trial has. A pure function of the trials so far and of what was refused before, so that a search that was killed
// draws the same again. Any thread; of large drawings, or with a planner, it takes its time.
#include <atomic>
#include <set>

#include "engine/search/candidate.h"
#include "engine/search/strategy.h"
#include "engine/search/study.h"

namespace loom {

// So many candidates are drawn for one trial before the search says that nothing fits.
inline constexpr int kMostDraws = 200;

struct DrawQuestion {
  SearchPlan plan;
  std::vector<Trial> trials;
  std::vector<Point> refused;                // earlier, for other trials
  std::set<std::string> drawings;            // CandidateScreen::Answer::drawing of the trials
  std::vector<RefusedCandidate> drawn = {};  // for this trial, before the search was stopped
};

struct DrawnCandidate {
  std::optional<Point> point;
  TrialCost cost;
  std::string drawing;
  std::vector<RefusedCandidate> refused;  // on the way there, DrawQuestion::drawn first
  std::string ending;                     // why there is no point; empty where the space is simply gone through
};

DrawnCandidate drawCandidate(const DrawQuestion& question, const SearchStrategy& strategy,
                             const CandidateScreen* screen, const std::atomic<bool>& outdated);

}  // namespace loom
