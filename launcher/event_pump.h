#pragma once
// Follows the logs of runs on a thread of its own: reads what was appended, parses it there, and hands over batches of
// bounded size, the next one only when the last was taken. So a log of a million lines never stops the window, and a
// live point is on its way within 40 ms. Logs are looked at by the clock and not by QFileSystemWatcher: inotify sees
// nothing of what another host writes to a shared file system, and a watch that fires a thousand times a second costs
// more than a look.
#include <QObject>
#include <QString>
#include <QThread>
#include <memory>

#include "launcher/store/event_batch.h"

namespace loom {

class EventPumpWorker;

class EventPump : public QObject {
  Q_OBJECT

 public:
  explicit EventPump(QObject* parent = nullptr);
  ~EventPump() override;

  // From a byte of the log on; `mark`: logMark() there, as far as it is known.
  void follow(const QString& id, const QString& folder, std::int64_t offset, const std::string& mark);
  void unfollow(const QString& id);
  // Reads to the end of what stands in the log now, then says drained(): nothing that was written before this call is
  // missing.
  void drain(const QString& id);
  // The receiver of batch() has stored it.
  void taken(const QString& id);

 Q_SIGNALS:
  void batch(const QString& id, const std::shared_ptr<loom::EventBatch>& batch);
  void drained(const QString& id);
  // The log is another file than the one that was read so far: it was cut, or replaced. It is followed no more.
  void replaced(const QString& id);
  void failed(const QString& id, const QString& sentence);

 private:
  QThread m_thread;
  EventPumpWorker* m_worker;
};

}  // namespace loom
