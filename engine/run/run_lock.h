#pragma once
// Who trains into a run folder: one process at a time, by flock on its file `lock`, which the system frees however the
// process ends. The file's text (pid and host) is for messages only.
#include "engine/run/run_folder.h"

namespace loom {

class RunLock {
 public:
  // Makes the folder where it is missing. Throws Error(badArgument) naming the holder when another process has it.
  explicit RunLock(const RunFolder& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Whether some process holds it now; takes no lock that would stand in the way of one that starts.
  static bool held(const RunFolder& folder);

 private:
  int m_file = -1;
};

}  // namespace loom
