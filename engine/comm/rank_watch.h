#pragma once
// What a supervisor makes of the signs of life of all ranks and of what mpirun says: one sentence that names rank,
// host, cause and collective. Pure logic over given times; supervise.cpp in engine/loom does the rest.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/heartbeat.h"
#include "engine/comm/mpirun_words.h"

namespace loom {

struct WatchLimits {
  std::chrono::seconds silentHost{9};  // every rank of a host, while others are heard
  std::chrono::seconds silentRank{40};
  std::chrono::seconds stalled{40};  // alive, but others wait for it in a collective
};

class RankWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit RankWatch(WatchLimits limits = {}) : m_limits(limits) {}

  // A line of the job's standard error; true when it was a sign of life, which nobody else wants to see.
  bool hear(std::string_view line, Time now);
  // The supervisor itself did not run for so long: nobody is held to account for that.
  void excuse(std::chrono::steady_clock::duration pause);
  // The step that the run's log has come to, which is newer than what ranks said of themselves.
  void logged(std::int64_t step) { m_logged = step; }
  // Why the job must be ended now; nothing while all is well.
  std::optional<std::string> verdict(Time now) const;
  // After the job ended by itself with `exitCode` (or by `signal`): what happened, from what was heard.
  std::string postMortem(int exitCode, int signal) const;
  std::int64_t step() const;

 private:
  struct Rank {
    RankSign sign;
    Time heard, moved;  // when it was heard; when its counts changed
  };
  std::string place(const RankSign& sign) const;
  std::string where(const Rank& rank) const;
  std::string waiting(const std::vector<int>& without) const;

  WatchLimits m_limits;
  std::map<int, Rank> m_ranks;
  std::int64_t m_logged = 0;
  std::optional<std::string> m_failed;  // the first that said why
  MpirunWords m_told;
};

}  // namespace loom
