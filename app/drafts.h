#pragma once
// Drawings that their person gave no name: one folder holds them until they are named or discarded, and the Start page
// lists them. A folder each, called like its file; what was discarded waits in a hidden one until the next start.
#include <QDateTime>
#include <QList>
#include <QString>

namespace loom {

struct Draft {
  QString path;  // of the .loom file
  QDateTime changed;
};

class Drafts {
 public:
  explicit Drafts(const QString& folder) : m_folder(folder) {}

  bool holds(const QString& path) const;
  QList<Draft> all() const;                     // newest first
  QString freeFile(const QString& name) const;  // where a draft of this name goes; makes its folder
  bool discard(const QString& path) const;      // false where it could not be moved away
  bool restore(const QString& path) const;      // what was discarded since the start
  void forgetDiscarded() const;                 // for good

 private:
  QString kept(const QString& path) const;
  QString m_folder;
};

}  // namespace loom
