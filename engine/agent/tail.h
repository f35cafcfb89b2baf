#pragma once
// Follows the files of a job for the launcher, from byte offsets that the launcher names. A job that is silent is
// looked at ever more seldom.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/agent/agent.h"
#include "engine/agent/followed_file.h"
#include "engine/agent/job_folder.h"
#include "engine/agent/scheduler.h"

namespace loom {

// Offsets of a log, ascending, with their logMark().
using LogMarks = std::vector<std::pair<std::int64_t, std::string>>;

class JobTail {
 public:
  using Clock = std::chrono::steady_clock;

  // `marks`: of what the launcher has of the events, its end the last one; nothing = it cannot cut what it has.
  JobTail(JobFolder job, std::int64_t events, std::int64_t log, std::optional<LogMarks> marks, BatchLook look = {});

  // Tells what is new, where it is time to look; true when the job has ended and everything was told. A log of events
  // that is another than the launcher has is told from where they differ; where it cannot cut, that is an
  // Error(badData).
  bool look(const std::string& id, const Tell& tell);
  // When the next look is worth its files.
  Clock::time_point next() const { return m_next; }

 private:
  JobState state() const;
  bool shorter(const FollowedFile& file, std::int64_t read, Clock::time_point& since) const;
  bool tellState(const std::string& id, const Tell& tell);
  bool tellRunFile(const std::string& id, const Tell& tell);
  bool tellCut(const std::string& id, const Tell& tell);
  bool tellEvents(const std::string& id, const Tell& tell);
  bool tellLog(const std::string& id, const Tell& tell);
  bool tellEnd(const std::string& id, const Tell& tell);

  JobFolder m_job;
  BatchLook m_batchLook;
  FollowedFile m_eventsFile, m_logFile;
  std::int64_t m_events, m_log;
  std::optional<LogMarks> m_marks;
  std::string m_eventsMark;  // of the log at m_events; empty = not known
  bool m_sameChecked = false;
  std::int64_t m_logShift = 0;  // what the launcher has of a log that became shorter, before this one's beginning
  std::filesystem::file_time_type m_runFile{};
  std::chrono::milliseconds m_pause;
  Clock::time_point m_next{}, m_stateAt{}, m_runFileAt{}, m_endSeen{}, m_eventsShort{}, m_logShort{};
  std::string m_state;
  JobPhase m_phase = JobPhase::none;
};

}  // namespace loom
