#pragma once
// One dataset of the project, opened, measured and checked in the background: the page shows what is known so far and
// work goes on. Results arrive as signals on the window's thread; opening another file or the end of the session
// cancels, and waits for nothing: a disk that does not answer holds up its own work alone.
#include <QObject>
#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/pages/data/samples_model.h"
#include "engine/base/error.h"
#include "engine/data/check.h"
#include "engine/data/dataset.h"
#include "engine/data/stats.h"
#include "engine/network/project.h"
#include "widgets/document/background.h"

namespace loom {

struct SessionRequest {
  QString csv;                           // absolute
  DatasetSpec spec;                      // which of its rows
  std::optional<DatasetSpec> otherPart;  // another dataset of the same file: the doctor compares their classes
  std::vector<Json> prepare;             // its first steps may be done before samples are stored
  CheckOptions check;                    // classes and the other dataset
};

class DatasetSession : public QObject {
  Q_OBJECT

 public:
  enum class State { closed, opening, ready, failed };

  explicit DatasetSession(QObject* parent = nullptr) : QObject(parent) {}
  ~DatasetSession() override { cancel(); }

  void open(SessionRequest request);
  void close();
  void checkAgain();

  State state() const { return m_state; }
  const SessionRequest& request() const { return m_request; }
  const Schema& schema() const { return m_schema; }  // from the first row alone until ready
  std::shared_ptr<const Dataset> dataset() const { return m_dataset; }
  const CacheProgress& progress() const { return m_progress; }
  const TextRows& text() const { return m_text; }  // of a file that could not be opened: its first rows
  const std::optional<Error>& error() const { return m_error; }
  const std::vector<VariableStats>& stats() const { return m_stats; }
  // The words that stand for a column's classes, of the columns that have such.
  const std::map<std::string, QStringList>& classNames() const { return m_classNames; }
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
  using Work = Background<DatasetSession>;
  // With a dataset that is open already it is only checked.
  static void work(const SessionRequest& request, const Work& here, std::shared_ptr<const Dataset> dataset);
  static std::shared_ptr<const Dataset> read(const SessionRequest& request, const Work& here);
  static void check(const SessionRequest& request, const Work& here, const std::shared_ptr<const Dataset>& dataset);
  void start(bool checkOnly);
  void cancel();

  State m_state = State::closed;
  SessionRequest m_request;
  Schema m_schema;
  std::shared_ptr<const Dataset> m_dataset;
  CacheProgress m_progress;
  std::optional<Error> m_error;
  TextRows m_text;
  std::map<std::string, QStringList> m_classNames;
  std::vector<VariableStats> m_stats;
  std::optional<CheckReport> m_report;
  bool m_checking = false;
  std::int64_t m_rowsChecked = 0;
  std::optional<Work> m_work;
};

}  // namespace loom
