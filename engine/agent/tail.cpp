#include "engine/agent/tail.h"

#include <algorithm>
#include <utility>

#include "engine/agent/frame.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"

namespace loom {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMost = std::size_t{256} << 10;
constexpr std::int64_t kMarkEvery = 64 << 10;
constexpr std::size_t kLongestLine = std::size_t{4} << 20;
constexpr auto kShortestPause = 40ms, kLongestPause = 1500ms;  // between two looks
constexpr auto kStateEvery = 400ms, kRunFileEvery = 1000ms;
// A file system of a cluster may show the last lines of another host late, and a length from before: that long an end
// is waited for that names itself, and a file that is shorter than it was is not believed.
constexpr auto kLate = 4s;

}  // namespace

JobTail::JobTail(JobFolder job, std::int64_t events, std::int64_t log, std::optional<LogMarks> marks, BatchLook look)
    : m_job(std::move(job)),
      m_batchLook(std::move(look)),
      m_eventsFile(m_job.run().eventsFile()),
      m_logFile(m_job.run().logFile()),
      m_events(events),
      m_log(log),
      m_marks(std::move(marks)),
      m_pause(kShortestPause) {
  if (m_marks && !m_marks->empty() && m_marks->back().first == m_events) m_eventsMark = m_marks->back().second;
}

JobState JobTail::state() const {
  return m_batchLook ? m_job.state(m_batchLook) : m_job.state();
}

// Whether the file has been shorter than what was read of it for a while.
bool JobTail::shorter(const FollowedFile& file, std::int64_t read, Clock::time_point& since) const {
  if (file.size() >= read || read == 0) {
    since = {};
    return false;
  }
  if (since == Clock::time_point{}) since = Clock::now();
  return Clock::now() - since >= kLate;
}

bool JobTail::tellState(const std::string& id, const Tell& tell) {
  const auto now = Clock::now();
  if (now < m_stateAt) return false;
  const JobState state = this->state();
  m_stateAt = now + std::max<Clock::duration>(kStateEvery, m_pause);
  m_phase = state.phase;
  std::string text = toJson(state).dump();
  if (text == m_state) return false;
  m_state = std::move(text);
  m_endSeen = now;
  if (m_phase != JobPhase::ended) tell({{"job", id}, {"state", toJson(state)}}, {});
  return true;
}

bool JobTail::tellRunFile(const std::string& id, const Tell& tell) {
  if (Clock::now() < m_runFileAt) return false;
  std::error_code fault;
  const auto time = std::filesystem::last_write_time(m_job.run().runFile(), fault);
  if (fault || time == m_runFile) {
    if (!fault) m_runFileAt = Clock::now() + kRunFileEvery;
    return false;
  }
  try {
    const std::string text = readFile(m_job.run().runFile(), kLongestBytes);
    tell({{"job", id}, {"file", "run.json"}}, text);
  } catch (const Error&) {
    return false;  // being replaced, or too long to be ours: the events say what matters
  }
  m_runFile = time;
  return true;
}

// The machine went down with what it had not written yet, and the run went on: the launcher has lines that this file
// never had, or has others for.
bool JobTail::tellCut(const std::string& id, const Tell& tell) {
  if (!m_marks)
    throwError(ErrorCode::badData,
               "{} is no longer the file of which {} bytes were read before: it was cut or replaced",
               m_eventsFile.path().string(), m_events);
  while (!m_marks->empty() && m_eventsFile.markAt(m_marks->back().first) != m_marks->back().second) m_marks->pop_back();
  m_events = m_marks->empty() ? 0 : m_marks->back().first;
  m_eventsMark = m_marks->empty() ? std::string() : m_marks->back().second;
  m_eventsShort = {};
  tell({{"job", id}, {"cut", m_events}}, {});
  return true;
}

bool JobTail::tellEvents(const std::string& id, const Tell& tell) {
  std::string bytes = m_eventsFile.read(m_events, kMost);
  const bool isCut = shorter(m_eventsFile, m_events, m_eventsShort);
  const bool look = m_eventsFile.size() >= m_events && (!bytes.empty() || !std::exchange(m_sameChecked, true));
  if (isCut || (look && !m_eventsMark.empty() && m_eventsFile.markAt(m_events) != m_eventsMark))
    return tellCut(id, tell);
  // Network file systems show a file's new length before its bytes: zeros, which no line holds. What follows comes
  // again later.
  if (const auto hole = bytes.find('\0'); hole != std::string::npos) bytes.resize(hole);
  auto end = bytes.rfind('\n');
  if (end == std::string::npos && bytes.size() == kMost) {  // one line longer than a piece
    bytes = m_eventsFile.read(m_events, kLongestLine);
    end = bytes.rfind('\n');
    if (end == std::string::npos && bytes.size() == kLongestLine)
      end = bytes.size() - 1;  // no line at all: the reader will skip it
  }
  if (end == std::string::npos) return false;
  bytes.resize(end + 1);
  tell({{"job", id}, {"events", m_events}}, bytes);
  m_events += static_cast<std::int64_t>(bytes.size());
  m_eventsMark = m_eventsFile.markAt(m_events);
  if (m_marks && (m_marks->empty() || m_events - m_marks->back().first >= kMarkEvery))
    m_marks->emplace_back(m_events, m_eventsMark);
  return true;
}

bool JobTail::tellLog(const std::string& id, const Tell& tell) {
  const std::string bytes = m_logFile.read(m_log - m_logShift, kMost);
  if (shorter(m_logFile, m_log - m_logShift, m_logShort)) {
    // What the launcher has stays as it is; what is written from here on stands behind it.
    const std::int64_t size = std::max<std::int64_t>(m_logFile.size(), 0);
    tell({{"job", id},
          {"warning", fmt::format("{} became shorter: it holds {} bytes, but {} of it were read before. What was "
                                  "written into it meanwhile is not shown; what follows is",
                                  m_logFile.path().string(), size, m_log - m_logShift)}},
         {});
    m_logShift = m_log - size;
    m_logShort = {};
    return true;
  }
  if (bytes.empty()) return false;
  tell({{"job", id}, {"log", m_log}}, bytes);
  m_log += static_cast<std::int64_t>(bytes.size());
  return true;
}

bool JobTail::tellEnd(const std::string& id, const Tell& tell) {
  if (m_eventsShort != Clock::time_point{}) return false;  // soon it is a fault, or was none
  const auto last = lastEvent(m_job.run());
  if ((!last || last->kind != "finished") && Clock::now() < m_endSeen + kLate &&
      std::filesystem::exists(m_job.run().eventsFile()))
    return false;
  const JobState state = this->state();
  if (state.phase != JobPhase::ended) {  // it was started again meanwhile
    m_stateAt = {};
    return false;
  }
  // The last words may have come between the last look and the end.
  m_eventsFile.openAgain();
  m_logFile.openAgain();
  if (tellEvents(id, tell) || tellLog(id, tell)) return false;
  tell({{"job", id}, {"end", true}, {"state", toJson(state)}}, {});
  return true;
}

bool JobTail::look(const std::string& id, const Tell& tell) {
  const auto now = Clock::now();
  if (now < m_next) return false;
  // The state is taken before the files: what an ended job wrote then is complete as far as this machine can see.
  bool told = tellState(id, tell);
  const bool more = tellRunFile(id, tell) | tellEvents(id, tell) | tellLog(id, tell);
  told |= more;
  m_pause = told || m_phase == JobPhase::ended
                ? kShortestPause
                : std::min<std::chrono::milliseconds>(kLongestPause, m_pause + m_pause / 4);
  m_next = Clock::now() + m_pause;
  return m_phase == JobPhase::ended && !more && tellEnd(id, tell);
}

}  // namespace loom
