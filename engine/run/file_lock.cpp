#include "engine/run/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace loom {

LockOutcome lockRefusal(int number) {
  switch (number) {
    case EWOULDBLOCK:
      return LockOutcome::elsewhere;
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL:
      return LockOutcome::unsupported;
    default:
      return LockOutcome::failed;
  }
}

LockOutcome takeLock(int file, LockKind kind) {
  int answer;
  do answer = ::flock(file, (kind == LockKind::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
  while (answer != 0 && errno == EINTR);
  return answer == 0 ? LockOutcome::taken : lockRefusal(errno);
}

}  // namespace loom
