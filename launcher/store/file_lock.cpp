#include "launcher/store/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <QFile>

#include "engine/run/file_lock.h"

namespace loom {
namespace {

constexpr int kLockTries = 300;
constexpr useconds_t kLockPause = 10000;

}  // namespace

FileLock::FileLock(const QString& path, Kind kind)
    : m_file(::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  const LockKind wanted = kind == Kind::shared ? LockKind::shared : LockKind::exclusive;
  for (int tries = 0; m_file >= 0 && tries < kLockTries && takeLock(m_file, wanted) == LockOutcome::elsewhere; ++tries)
    ::usleep(kLockPause);
}

FileLock::~FileLock() {
  if (m_file >= 0) ::close(m_file);
}

bool FileLock::tryExclusive() {
  if (m_file < 0) return true;
  const LockOutcome outcome = takeLock(m_file, LockKind::exclusive);
  if (outcome == LockOutcome::taken) return true;
  backToShared();  // a failed change may have given up what was held
  return outcome != LockOutcome::elsewhere;
}

void FileLock::backToShared() {
  if (m_file >= 0) takeLock(m_file, LockKind::shared);
}

}  // namespace loom
