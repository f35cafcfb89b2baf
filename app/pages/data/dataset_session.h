#pragma once
// One dataset of the project, opened, measured and checked in the background: the page shows what is known so far and work
// goes on. Results arrive as signals on the window's thread; opening another file or the end of the session cancels.
#include <QObject>
#include <QString>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/data/check.h"
#include "engine/data/dataset.h"
#include "app/pages/data/samples_model.h"
#include "engine/data/stats.h"
#include "engine/network/project.h"

namespace loom {

struct SessionRequest {
  QString csv;                          // absolute
  DatasetSpec spec;                     // which of its rows
  std::optional<DatasetSpec> otherPart; // another dataset of the same file: the doctor compares their classes
  CheckOptions check;                   // classes and the other dataset
};

class DatasetSession : public QObject {
  Q_OBJECT

 public:
  enum class State { closed, opening, ready, failed };

  explicit DatasetSession(QObject* parent = nullptr) : QObject(parent) {}
  ~DatasetSession() override { close(); }

  void open(SessionRequest request);
  void close();  // waits for the background's next look at the cancel flag: well under 100 ms
  void checkAgain();

  State state() const { return m_state; }
  const SessionRequest& request() const { return m_request; }
  const Schema& schema() const { return m_schema; }  // from the first row alone until ready
  std::shared_ptr<const Dataset> dataset() const { return m_dataset; }
  const CacheProgress& progress() const { return m_progress; }
  const TextRows& text() const { return m_text; }  // of a file that could not be opened: its first rows
  const std::optional<Error>& error() const { return m_error; }
  const std::vector<VariableStats>& stats() const { return m_stats; }
  const std::optional<CheckReport>& report() const { return m_report; }
  bool checking() const { return m_checking; }
  std::int64_t rowsChecked() const { return m_rowsChecked; }

 Q_SIGNALS:
  void schemaKnown();
  void progressed();
  void opened();
  void failed();
  void measured();
  void checkProgressed();
  void checked();

 private:
  // With a dataset that is open already it is only checked.
  void work(const SessionRequest& request, std::shared_ptr<std::atomic<bool>> cancelled, std::shared_ptr<const Dataset> dataset);
  void start(bool checkOnly);
  // Runs `done` on the window's thread unless the work was cancelled meanwhile.
  void post(const std::shared_ptr<std::atomic<bool>>& cancelled, std::function<void()> done);

  State m_state = State::closed;
  SessionRequest m_request;
  Schema m_schema;
  std::shared_ptr<const Dataset> m_dataset;
  CacheProgress m_progress;
  std::optional<Error> m_error;
  TextRows m_text;
  std::vector<VariableStats> m_stats;
  std::optional<CheckReport> m_report;
  bool m_checking = false;
  std::int64_t m_rowsChecked = 0;
  std::shared_ptr<std::atomic<bool>> m_cancelled;
  std::jthread m_thread;
};

}  // namespace loom
