#include "engine/run/run_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/host.h"
#include "engine/run/file_lock.h"

namespace loom {
namespace {

// held() takes a shared lock for an instant; a process that starts meanwhile tries again this often, 10 ms apart.
constexpr int kTries = 30;

}  // namespace

RunLock::RunLock(const RunFolder& folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder.path, fault);
  if (fault) throwErrno(fault.value(), "make the run folder", folder.path);
  const std::filesystem::path path = folder.lockFile();
  m_file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (m_file < 0) throwErrno(errno, "lock", path);
  for (int tries = 0;; ++tries) {
    const LockOutcome lock = takeLock(m_file, LockKind::exclusive);
    const int number = errno;
    // Where there are no locks, nobody can be turned away; the run is not to fail for that.
    if (lock == LockOutcome::taken || lock == LockOutcome::unsupported) break;
    if (lock == LockOutcome::elsewhere && tries < kTries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    char holder[300] = "";
    if (::pread(m_file, holder, sizeof holder - 1, 0) < 0) holder[0] = '\0';
    ::close(m_file);
    if (lock == LockOutcome::failed) throwErrno(number, "lock", path);
    throwError(ErrorCode::badArgument,
               "the run {} is being trained by another process ({}); wait for it, stop it, or choose another folder "
               "with --run",
               folder.path.string(), holder[0] ? holder : "unknown");
  }
  const std::string text = fmt::format("process {} on {}", ::getpid(), hostName());
  // Only for the message above: a full disk must not stand in the way of the lock itself.
  if (::ftruncate(m_file, 0) == 0 && ::pwrite(m_file, text.data(), text.size(), 0) < 0) return;
}

RunLock::~RunLock() {
  if (m_file >= 0) ::close(m_file);
}

bool RunLock::held(const RunFolder& folder) {
  const int file = ::open(folder.lockFile().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool busy = takeLock(file, LockKind::shared) == LockOutcome::elsewhere;
  ::close(file);
  return busy;
}

}  // namespace loom
