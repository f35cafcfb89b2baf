#pragma once
// The hidden sibling that holds unsaved changes: `.name.loom.recovery` beside the project, or in the user's data folder where
// the project's folder cannot be written or the project has no file yet. Written atomically; removed when the project is saved
// or closed in order, so one that is found was left by a crash. A lock file tells it from that of another window.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QDateTime>
#include <QLockFile>
#include <QString>

namespace loom {

struct Recovered {
  std::string text;  // the project as it was
  QDateTime time;
};

struct Orphan {
  QString file;  // give to RecoveryFile::take()
  QString name;  // of the project that had no file yet
  QDateTime time;
};

class RecoveryFile {
 public:
  RecoveryFile();
  ~RecoveryFile();  // leaves the file: only discard() removes it

  // Turns to another project; `path` empty for one without a file (then `name` tells its recovery from others).
  void attach(const QString& path, const QString& name);
  // What a crash left, unless another window has this project open.
  std::optional<Recovered> find() const;
  // Throws Error when it can be written nowhere.
  void write(const std::string& text);
  void discard();
  // Projects that were never saved when the program ended without a word.
  static std::vector<Orphan> orphans();
  static std::string take(const Orphan& orphan);  // its text; the file is gone afterwards
  bool openElsewhere() const { return m_openElsewhere; }

 private:
  QString m_beside, m_fallback;  // empty where there is none
  std::unique_ptr<QLockFile> m_lock;
  bool m_openElsewhere = false;
};

}  // namespace loom
