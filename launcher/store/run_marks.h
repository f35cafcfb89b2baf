#pragma once
// What of a run stands neither in its log nor, where that may only be read, in its folder: what a person gave it, and
// the host it was sent to. A line of JSON for each change, beside the list of runs and apart from it, so that a list
// that is built anew has all of it again. Later lines hold.
#include <QHash>
#include <QString>
#include <QStringList>
#include <optional>

namespace loom {

// Appends whole lines, and has them on the disk soon; one that a crash left open is closed before. False where they
// could not be written.
bool appendLines(const QString& file, const QByteArray& lines);

struct RunMark {
  QString project, name, note;
  std::optional<QString> host;  // its id, empty = this machine; nothing = nobody said
  QStringList tags;
  int colour = 0;
  bool archived = false;
  bool operator==(const RunMark&) const = default;
};

class RunMarks {
 public:
  explicit RunMarks(QString file);
  const RunMark* find(const QString& folder) const;
  // Written with save(), where it is not known yet.
  bool note(const QString& folder, const RunMark& mark);  // false where it was known
  void save();

 private:
  QString m_file;
  QHash<QString, RunMark> m_marks;  // by the run's folder
  QByteArray m_unsaved;
};

}  // namespace loom
