#pragma once
// Locks on files by flock, which the system frees however a process ends; and what its refusals mean.

namespace loom {

enum class LockOutcome {
  taken,
  elsewhere,    // another process holds it
  unsupported,  // this file system has no locks (Lustre without -o flock, NFS without its lock service)
  failed        // errno says why
};
enum class LockKind { exclusive, shared };

// Never waits.
LockOutcome takeLock(int file, LockKind kind);
// Of errno after flock().
LockOutcome lockRefusal(int number);

}  // namespace loom
