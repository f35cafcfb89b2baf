#pragma once
// Imports in the background, one after another: IDX, CIFAR binary or a folder of class folders becomes a CSV dataset.
#include <QObject>
#include <QString>
#include <QStringList>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "engine/data/import.h"
#include "widgets/document/background.h"

namespace loom {

class ImportTask : public QObject {
  Q_OBJECT

 public:
  // Runs beside the window's thread and may outlive the task: it brings along what it needs.
  using Work = std::function<ImportResult(const ImportOptions& options)>;

  explicit ImportTask(QObject* parent = nullptr) : QObject(parent) {}
  ~ImportTask() override { cancel(); }

  bool running() const { return m_running.has_value(); }
  void start(QString what, Work work);            // waits its turn behind what runs
  void cancel();                                  // what runs and what waits; waits for neither
  const QString& what() const { return m_what; }  // "train-images-idx3-ubyte"

 Q_SIGNALS:
  void progressed(qint64 done, qint64 total);
  // `left`: which files were not taken, in a sentence; empty where all were.
  void finished(const QString& csv, qint64 rows, const QString& left);
  void failed(const QString& message);

 private:
  void next();

  QString m_what;
  std::deque<std::pair<QString, Work>> m_waiting;
  std::optional<Background<ImportTask>> m_running;
};

}  // namespace loom
