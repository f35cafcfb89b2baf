#include "engine/run/run_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/run_lock.h"

namespace loom {

bool RunFolder::running() const {
  return RunLock::held(*this);
}

void appendControl(const RunFolder& folder, const Json& command) {
  if (!command.is_object() || !command.contains("command") || !command["command"].is_string())
    throwError(ErrorCode::badArgument, "{} is no command: an object with a \"command\" is wanted", command.dump());
  Json line = command;
  if (!line.contains("time"))
    line["time"] = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string text = "\n" + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::filesystem::path path = folder.controlFile();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throwErrno(errno, "write", path);
  // A line that a killed writer left open is closed first; one write() makes the append whole for other writers.
  char last = '\n';
  const off_t size = ::lseek(file, 0, SEEK_END);
  if (size > 0 && ::pread(file, &last, 1, size - 1) != 1) last = '\n';
  const std::string_view whole = last == '\n' ? std::string_view(text).substr(1) : std::string_view(text);
  const ssize_t written = ::write(file, whole.data(), whole.size());
  const int fault = errno;
  ::close(file);
  if (written < 0) throwErrno(fault, "write", path);
  if (static_cast<std::size_t>(written) != whole.size()) throwErrno(ENOSPC, "write", path);
}

}  // namespace loom
