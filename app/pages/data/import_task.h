#pragma once
// Imports in the background, one after another: IDX, CIFAR binary or a folder of class folders becomes a CSV dataset.
#include <QObject>
#include <QString>
#include <QStringList>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "engine/data/import.h"

namespace loom {

class ImportTask : public QObject {
  Q_OBJECT

 public:
  using Work = std::function<ImportResult(const ImportOptions& options)>;

  explicit ImportTask(QObject* parent = nullptr) : QObject(parent) {}
  ~ImportTask() override { cancel(); }

  bool running() const { return m_thread.joinable() && !m_done; }
  void start(QString what, Work work);  // waits its turn behind what runs
  void cancel();                        // what runs and what waits; returns when it has ended
  const QString& what() const { return m_what; }  // "train-images-idx3-ubyte"

 Q_SIGNALS:
  void progressed(qint64 done, qint64 total);
  void finished(const QString& csv, qint64 rows);
  void failed(const QString& message);

 private:
  void next();

  QString m_what;
  std::deque<std::pair<QString, Work>> m_waiting;
  std::shared_ptr<std::atomic<bool>> m_cancelled;
  bool m_done = true;
  std::jthread m_thread;
};

}  // namespace loom
