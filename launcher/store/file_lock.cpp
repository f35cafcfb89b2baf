#include "launcher/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QFile>
#include <cerrno>

namespace loom {
namespace {

constexpr int kLockTries = 300;
constexpr useconds_t kLockPause = 10000;

}  // namespace

FileLock::FileLock(const QString& path, Kind kind)
    : m_file(::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  const int how = (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  for (int tries = 0; m_file >= 0 && tries < kLockTries && ::flock(m_file, how) != 0; ++tries) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    ::usleep(kLockPause);
  }
}

FileLock::~FileLock() {
  if (m_file >= 0) ::close(m_file);
}

bool FileLock::tryExclusive() {
  if (m_file < 0 || ::flock(m_file, LOCK_EX | LOCK_NB) == 0) return true;
  const bool held = errno == EWOULDBLOCK;
  backToShared();  // a failed change may have given up what was held
  return !held;
}

void FileLock::backToShared() {
  if (m_file >= 0) ::flock(m_file, LOCK_SH | LOCK_NB);
}

}  // namespace loom
