#pragma once
// One program at a time keeps the runs of a data folder: it alone starts what waits and writes the list. Freed by
// itself when that program ends, in whatever way. Others leave it orders (orders.h).
#include <QLockFile>

#include "engine/base/error.h"

namespace loom {

class FolderLock {
 public:
  // `folder` must be there.
  explicit FolderLock(const QString& folder) : m_file(folder + "/launcher.lock") { m_file.setStaleLockTime(0); }
  // Throws Error where nobody could take it.
  bool take() {
    if (m_file.isLocked() || m_file.tryLock(0)) return true;
    if (m_file.error() == QLockFile::PermissionError)
      throwError(ErrorCode::inputOutput, "{} cannot be written: the folder is to hold the list of runs",
                 m_file.fileName().toStdString());
    return false;
  }
  void give() { m_file.unlock(); }
  bool held() const { return m_file.isLocked(); }

 private:
  QLockFile m_file;
};

}  // namespace loom
