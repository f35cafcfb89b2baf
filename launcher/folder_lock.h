#pragma once
// One program at a time keeps the runs of a data folder: it alone starts what waits and writes the list. Freed by itself when that
// program ends, in whatever way. Others leave it orders (orders.h).
#include <QLockFile>

namespace loom {

class FolderLock {
 public:
  // `folder` must be there.
  explicit FolderLock(const QString& folder) : m_file(folder + "/launcher.lock") { m_file.setStaleLockTime(0); }
  bool take() { return m_file.isLocked() || m_file.tryLock(0); }
  void give() { m_file.unlock(); }
  bool held() const { return m_file.isLocked(); }

 private:
  QLockFile m_file;
};

}  // namespace loom
