#pragma once
// Follows the files of a job for the launcher, from byte offsets that the launcher names.
#include <chrono>
#include <filesystem>
#include <string>

#include "engine/agent/agent.h"
#include "engine/agent/job_folder.h"

namespace loom {

class JobTail {
 public:
  JobTail(JobFolder job, std::int64_t events, std::int64_t log) : m_job(std::move(job)), m_events(events), m_log(log) {}

  // Tells what is new; true when the job has ended and everything was told. Throws Error(badData) when the log is
  // shorter than what the launcher already has of it: it is then another run's.
  bool look(const std::string& id, const Tell& tell);

 private:
  using Clock = std::chrono::steady_clock;
  bool tellRunFile(const std::string& id, const Tell& tell);
  bool tellEvents(const std::string& id, const Tell& tell);
  bool tellLog(const std::string& id, const Tell& tell);

  JobFolder m_job;
  std::int64_t m_events, m_log;
  std::filesystem::file_time_type m_runFile{};
  Clock::time_point m_stateAt{}, m_endSeen{};
  std::string m_state;
  JobPhase m_phase = JobPhase::none;
};

}  // namespace loom
