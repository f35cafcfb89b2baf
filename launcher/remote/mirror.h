#pragma once
// The run's folder on this machine as a mirror of the host's: bytes stand at the offsets where they stand there, so
// that writing them twice, by one launcher or by two, changes nothing, and a file's length is where to go on.
#include <QByteArray>
#include <QString>
#include <string>
#include <utility>
#include <vector>

namespace loom {

class Mirror {
 public:
  explicit Mirror(QString folder) : m_folder(std::move(folder)) {}
  qint64 eventBytes() const;
  qint64 logBytes() const;
  // Only what follows on the bytes that stand here is written: what stands is never changed, and no hole is left. Throw
  // Error(badData) for a piece that begins behind the end or before the beginning, Error(diskFull, inputOutput).
  void putEvents(qint64 offset, const QByteArray& bytes) const;
  void putLog(qint64 offset, const QByteArray& bytes) const;
  // Places of this log with their logMark(), the last one its end, before it ever further apart: the host finds by them
  // up to where its file is the same.
  std::vector<std::pair<qint64, std::string>> eventMarks() const;
  // The host's file is another from here on. What stood behind is kept in events.cut.jsonl.
  void cutEvents(qint64 offset) const;
  void putRunFile(const QByteArray& text) const;

 private:
  void put(const char* name, qint64 offset, const QByteArray& bytes) const;
  QString m_folder;
};

}  // namespace loom
