#pragma once
// A lock between programs on one folder: what two windows must not do at the same time. It goes with whoever holds it.
#include <QString>

namespace loom {

class FileLock {
 public:
  enum class Kind { shared, exclusive };
  // Makes the file where it is missing and waits a few seconds for others at the most; a file system without locks is
  // gone on with.
  FileLock(const QString& path, Kind kind);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // From shared to exclusive at once; false: somebody else holds it too, and it stays shared.
  bool tryExclusive();
  void backToShared();

 private:
  int m_file = -1;
};

}  // namespace loom
