#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/foreign.h"
#include "engine/base/hash.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr std::int64_t kMarked = 1024;         // bytes before an offset: a few lines, each with its time
constexpr std::size_t kLongestLine = 4 << 20;  // a line without an end within this is garbage

// pread() until `size` bytes have come or the file ends.
std::size_t readAt(int file, char* to, std::size_t size, std::int64_t offset, const std::filesystem::path& path) {
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::pread(file, to + have, size - have, offset + static_cast<std::int64_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throwErrno(errno, "read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

std::int64_t sizeOf(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? status.st_size : 0;
}

// Walks whole lines backwards from the end until one is an event: O(1) for a sound file of any length.
std::optional<Event> lastEventOf(int file, const std::filesystem::path& path) {
  std::string tail;  // from `at` to the end of what is not yet looked at
  for (std::int64_t at = sizeOf(file); at > 0;) {
    const std::int64_t from = std::max<std::int64_t>(0, at - static_cast<std::int64_t>(kBlock));
    std::string block(static_cast<std::size_t>(at - from), '\0');
    block.resize(readAt(file, block.data(), block.size(), from, path));
    tail.insert(0, block);
    at = from;
    for (;;) {
      const std::size_t end = tail.rfind('\n');
      if (end == std::string::npos) break;
      tail.resize(end);  // what follows the last newline is torn or was looked at before
      const std::size_t before = tail.rfind('\n');
      if (before == std::string::npos && at > 0) {
        tail += '\n';
        break;
      }
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      if (auto event = parseEvent(std::string_view(tail).substr(begin))) return event;
      tail.resize(begin);
    }
    if (tail.size() > kLongestLine) tail = "\n";
  }
  return {};
}

}  // namespace

std::optional<Event> parseEvent(std::string_view line) {
  if (line.empty() || line.front() != '{') return {};
  Event event;
  event.body = Json::parse(line, nullptr, false);
  const Json& body = event.body;
  if (!body.is_object()) return {};
  const auto number = [&body](const char* key) -> const Json* {
    const auto found = body.find(key);
    return found != body.end() && found->is_number() ? &*found : nullptr;
  };
  const Json* sequence = number("seq");
  const auto kind = body.find("kind");
  if (!sequence || !sequence->is_number_integer() || kind == body.end() || !kind->is_string()) return {};
  event.sequence = sequence->get<std::int64_t>();
  if (const Json* attempt = number("attempt")) event.attempt = attempt->get<std::int64_t>();
  if (const Json* time = number("time")) event.time = time->get<double>();
  event.kind = kind->get<std::string>();
  makeShowable(event.body);  // whoever wrote it: it is shown on terminals and in labels
  return event;
}

std::optional<Event> lastEvent(const RunFolder& folder) {
  const int file = ::open(folder.eventsFile().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  try {
    auto event = lastEventOf(file, folder.eventsFile());
    ::close(file);
    return event;
  } catch (...) {
    ::close(file);
    throw;
  }
}

std::string logMark(const std::filesystem::path& path, std::int64_t offset) {
  const int file = offset > 0 ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  std::string mark = logMark(file, offset);
  if (file >= 0) ::close(file);
  return mark;
}

std::string logMark(int file, std::int64_t offset) {
  if (file < 0 || offset <= 0) return {};
  const std::int64_t from = std::max<std::int64_t>(0, offset - kMarked);
  std::string before(static_cast<std::size_t>(offset - from), '\0');
  const ssize_t got = ::pread(file, before.data(), before.size(), from);
  if (got != static_cast<ssize_t>(before.size())) return {};
  return fmt::format("{:016x}", Hash64::of(std::as_bytes(std::span(before))));
}

void EventWriter::open() {
  if (m_file >= 0) ::close(m_file);
  m_file = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (m_file < 0) throwErrno(errno, "write", m_path);
}

EventWriter::EventWriter(const RunFolder& folder, std::int64_t attempt)
    : m_path(folder.eventsFile()), m_attempt(attempt) {
  open();
  try {
    if (const auto last = lastEventOf(m_file, m_path)) m_next = last->sequence + 1;
    const std::int64_t size = sizeOf(m_file);
    char end = '\n';
    if (size > 0 && readAt(m_file, &end, 1, size - 1, m_path) == 1 && end != '\n' && ::write(m_file, "\n", 1) != 1)
      throwErrno(errno ? errno : ENOSPC, "write", m_path);
  } catch (...) {
    ::close(m_file);
    throw;
  }
}

EventWriter::~EventWriter() {
  if (m_file >= 0) ::close(m_file);
}

// A file system that cannot sync is no reason not to train.
void EventWriter::sync() {
  ::fdatasync(m_file);
}

Event EventWriter::write(std::string_view kind, const Json& fields) {
  Event event{.sequence = m_next,
              .attempt = m_attempt,
              .time = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(),
              .kind = std::string(kind)};
  event.body = {{"v", 1}, {"seq", event.sequence}, {"attempt", m_attempt}, {"time", event.time}, {"kind", event.kind}};
  for (const auto& [key, value] : fields.items()) event.body[key] = value;
  const std::string line = event.body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  struct stat status {};
  if (::fstat(m_file, &status) == 0 && status.st_nlink == 0) {  // deleted: what is written into it nobody reads
    open();
    ::fstat(m_file, &status);
  }
  const std::int64_t before = status.st_size;
  std::size_t done = 0;
  while (done < line.size()) {  // one write(), unless the disk fills or a signal comes
    const ssize_t written = ::write(m_file, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int fault = errno;
      if (done > 0 && ::ftruncate(m_file, before) != 0) throwErrno(errno, "write", m_path);
      throwErrno(fault, "write", m_path);
    }
    done += static_cast<std::size_t>(written);
  }
  ++m_next;
  if (kind == "started" || kind == "checkpoint" || kind == "error" || kind == "finished") sync();
  return event;
}

std::vector<Event> EventReader::read(std::size_t limit) {
  std::vector<Event> events;
  const int file = ::open(m_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT) return events;
    throwErrno(errno, "read", m_file);
  }
  try {
    if (sizeOf(file) < m_offset) m_offset = 0;
    std::string text;  // read, but not yet consumed, from `begin` on
    std::size_t begin = 0, searched = 0;
    std::int64_t next = m_offset;  // where the following block is read
    while (events.size() < limit) {
      const std::size_t end = text.find('\n', searched);
      if (end != std::string::npos) {
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        if (auto event = parseEvent(line))
          events.push_back(std::move(*event));
        else if (!line.empty())
          ++m_skipped;
        m_offset += static_cast<std::int64_t>(line.size()) + 1;
        begin = searched = end + 1;
        continue;
      }
      text.erase(0, begin);
      begin = 0;
      if (text.size() > kLongestLine) {  // given up: its remainder is garbage of its own
        ++m_skipped;
        m_offset = next;
        text.clear();
      }
      searched = text.size();
      char block[kBlock];
      const std::size_t got = readAt(file, block, sizeof block, next, m_file);
      if (got == 0) break;
      text.append(block, got);
      next += static_cast<std::int64_t>(got);
    }
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
  return events;
}

}  // namespace loom
