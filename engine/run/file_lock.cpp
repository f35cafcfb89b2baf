#include "engine/run/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace loom {

FileLock lockRefusal(int number) {
  switch (number) {
    case EWOULDBLOCK: return FileLock::elsewhere;
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL: return FileLock::unsupported;
    default: return FileLock::failed;
  }
}

FileLock takeLock(int file, LockKind kind) {
  int answer;
  do answer = ::flock(file, (kind == LockKind::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
  while (answer != 0 && errno == EINTR);
  return answer == 0 ? FileLock::taken : lockRefusal(errno);
}

}  // namespace loom
