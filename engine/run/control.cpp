#include "engine/run/control.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/files.h"

namespace loom {
namespace {
constexpr std::size_t kLongestCommand = 1 << 16;
}

// The file is made here, so that a read at every step needs no open().
ControlReader::ControlReader(const RunFolder& folder, From from) {
  const std::filesystem::path path = folder.controlFile();
  m_file = ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (m_file < 0) throwErrno(errno, "read", path);
  if (from == From::end) m_offset = ::lseek(m_file, 0, SEEK_END);
}

ControlReader::~ControlReader() {
  ::close(m_file);
}

std::vector<Json> ControlReader::read() {
  std::vector<Json> commands;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::pread(m_file, buffer, sizeof buffer, m_offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return commands;
    m_offset += got;
    for (const char c : std::string_view(buffer, static_cast<std::size_t>(got))) {
      if (c != '\n') {
        if (m_open.size() <= kLongestCommand) m_open += c;
        continue;
      }
      const Json command = m_open.size() > kLongestCommand ? Json() : Json::parse(m_open, nullptr, false);
      if (command.is_object() && command.contains("command") && command["command"].is_string())
        commands.push_back(command);
      else if (!m_open.empty())
        ++m_skipped;
      m_open.clear();
    }
  }
}

}  // namespace loom
