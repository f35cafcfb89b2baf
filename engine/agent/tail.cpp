#include "engine/agent/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/agent/frame.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"

namespace loom {
namespace {

constexpr std::size_t kMost = std::size_t{256} << 10;
constexpr std::size_t kLongestLine = std::size_t{4} << 20;
constexpr std::chrono::milliseconds kStateEvery{200};
// A file system of a cluster may show the last lines of another host late: that long an end is waited for that names
// itself.
constexpr std::chrono::seconds kLateLines{4};

// Bytes from `offset`, at most `most`; -1 for `size` where there is no file.
std::string readFrom(const std::filesystem::path& path, std::int64_t offset, std::size_t most, std::int64_t& size) {
  size = -1;
  std::string bytes;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return bytes;
  struct stat status {};
  if (::fstat(file, &status) == 0) size = status.st_size;
  if (size > offset) {
    bytes.resize(std::min<std::size_t>(most, static_cast<std::size_t>(size - offset)));
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), offset);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  ::close(file);
  return bytes;
}

}  // namespace

bool JobTail::tellRunFile(const std::string& id, const Tell& tell) {
  std::error_code fault;
  const auto time = std::filesystem::last_write_time(m_job.run().runFile(), fault);
  if (fault || time == m_runFile) return false;
  try {
    const std::string text = readFile(m_job.run().runFile(), kLongestBytes);
    tell({{"job", id}, {"file", "run.json"}}, text);
  } catch (const Error&) {
    return false;  // being replaced, or too long to be ours: the events say what matters
  }
  m_runFile = time;
  return true;
}

bool JobTail::tellEvents(const std::string& id, const Tell& tell) {
  std::int64_t size = 0;
  std::string bytes = readFrom(m_job.run().eventsFile(), m_events, kMost, size);
  if (m_events > 0 && size < m_events)
    throwError(ErrorCode::badData, "{} holds {} bytes, but {} of it were read before: it is no longer the same run's",
               m_job.run().eventsFile().string(), std::max<std::int64_t>(size, 0), m_events);
  // Network file systems show a file's new length before its bytes: zeros, which no line holds. What follows comes
  // again later.
  if (const auto hole = bytes.find('\0'); hole != std::string::npos) bytes.resize(hole);
  auto end = bytes.rfind('\n');
  if (end == std::string::npos && bytes.size() == kMost) {  // one line longer than a piece
    bytes = readFrom(m_job.run().eventsFile(), m_events, kLongestLine, size);
    end = bytes.rfind('\n');
    if (end == std::string::npos && bytes.size() == kLongestLine)
      end = bytes.size() - 1;  // no line at all: the reader will skip it
  }
  if (end == std::string::npos) return false;
  bytes.resize(end + 1);
  tell({{"job", id}, {"events", m_events}}, bytes);
  m_events += static_cast<std::int64_t>(bytes.size());
  return true;
}

bool JobTail::tellLog(const std::string& id, const Tell& tell) {
  std::int64_t size = 0;
  const std::string bytes = readFrom(m_job.run().logFile(), m_log, kMost, size);
  if (bytes.empty()) return false;
  tell({{"job", id}, {"log", m_log}}, bytes);
  m_log += static_cast<std::int64_t>(bytes.size());
  return true;
}

bool JobTail::look(const std::string& id, const Tell& tell) {
  const auto now = Clock::now();
  // The state is taken before the files: what an ended job wrote then is complete as far as this machine can see.
  if (now >= m_stateAt) {
    const JobState state = m_job.state();
    m_stateAt = now + kStateEvery;
    m_phase = state.phase;
    std::string text = toJson(state).dump();
    if (text != m_state) {
      m_state = std::move(text);
      m_endSeen = now;
      if (m_phase != JobPhase::ended) tell({{"job", id}, {"state", toJson(state)}}, {});
    }
  }
  bool told = tellRunFile(id, tell);
  told |= tellEvents(id, tell);
  told |= tellLog(id, tell);
  if (m_phase != JobPhase::ended || told) return false;
  const auto last = lastEvent(m_job.run());
  if ((!last || last->kind != "finished") && now < m_endSeen + kLateLines &&
      std::filesystem::exists(m_job.run().eventsFile()))
    return false;
  const JobState state = m_job.state();
  if (state.phase != JobPhase::ended) {  // it was started again meanwhile
    m_stateAt = {};
    return false;
  }
  tell({{"job", id}, {"end", true}, {"state", toJson(state)}}, {});
  return true;
}

}  // namespace loom
