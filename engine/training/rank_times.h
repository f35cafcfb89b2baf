#pragma once
// What a step's time is on each rank: computing, exchanging gradients, waiting for the slowest, for data. Each rank
// tells its own with a step's measures, so it costs no message; rank 0 sums what all told.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"

namespace loom {

// Of one rank, in seconds, from one step's measures to the next.
struct RankStep {
  double all = 0;     // 0: not known, as of the first
  double waited = 0;  // for other ranks: for their gradients and their measures
  double data = 0;    // for samples
};

// This rank's.
class RankClock {
 public:
  // The time since the last call, or since restart(). `waited`, `data`: since the beginning of the run.
  RankStep take(double waited, double data);
  // What lies between two steps (validation, a checkpoint) is none's.
  void restart(double waited, double data);

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> m_from;
  double m_waited = 0, m_data = 0;
};

// Over all ranks. Of a step, what the rank waited that waited least is the exchange itself; what others waited beyond
// that they waited for the slowest.
class RankSums {
 public:
  void add(const std::vector<RankStep>& step);  // of every rank; one that is not known of all is left out
  int steps() const { return m_steps; }
  // Means in milliseconds of a step by rank, with the ranks' hosts, and begins anew: the event's fields but "step".
  Json take(const std::vector<std::string>& hosts);

 private:
  struct Sum {
    double computing = 0, exchanging = 0, waiting = 0, data = 0;
  };
  std::vector<Sum> m_sums;
  int m_steps = 0;
};

}  // namespace loom
