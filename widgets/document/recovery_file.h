#pragma once
// The hidden sibling that holds unsaved changes: `.name.loom.recovery` beside the project, or in the user's data folder
// where the project's folder cannot be written or the project has no file yet. Written atomically; removed when the
// project is saved or closed in order, so one that is found was left by a crash: it is set aside under a name of its
// own until a person has answered, whatever is edited, saved or lost again meanwhile. A lock file tells it from that of
// another window.
#include <QDateTime>
#include <QFileInfo>
#include <QLockFile>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace loom {

struct Recovered {
  std::string text;  // the project as it was
  QDateTime time;
  QString file;  // where it stands aside
};

struct Orphan {
  QString file;
  QString name;  // of the project that had no file yet
  QDateTime time;
};

class RecoveryFile {
 public:
  RecoveryFile();
  ~RecoveryFile();  // leaves the file, written to the end: only discard() removes it

  // Turns to another project; `path` empty for one without a file (then `name` tells its recovery from others).
  void attach(const QString& path, const QString& name);
  // The newest of what crashes left, unless another window has this project open.
  std::optional<Recovered> find() const;
  // Beside the window's thread, as a disk may take its time; of several texts that wait, the newest is written.
  // `failed` is called there with the reason when it can be written nowhere.
  void write(std::function<std::string()> text, std::function<void(const QString&)> failed);
  void finish();  // waits until what was given stands
  void discard();
  void discardSoon();   // the same, without waiting for what is being written
  bool stands() const;  // whether what was given is on a disk
  // The project has another name now: what crashes left goes along.
  void rename(const QString& path, const QString& name);
  // What find() answered, and back again. False: it cannot be removed.
  static bool remove(const Recovered& recovered);
  static void restore(const Recovered& recovered);
  // Projects that were never saved when the program ended without a word.
  static std::vector<Orphan> orphans();
  static std::string read(const Orphan& orphan);
  static void remove(const Orphan& orphan);
  static void restore(const Orphan& orphan, const std::string& text);
  bool openElsewhere() const { return m_openElsewhere; }

 private:
  void setAside() const;
  QFileInfoList left() const;
  QString m_beside, m_fallback;  // empty where there is none
  std::unique_ptr<QLockFile> m_lock;
  bool m_openElsewhere = false;
  std::shared_ptr<std::atomic<int>> m_newest =
      std::make_shared<std::atomic<int>>(0);  // number of the text that is to be written
  QThreadPool m_writer;                       // of one thread; last: it ends before what it writes to
};

}  // namespace loom
