#pragma once
// One dataset of the project, looked at and made in the background: the page shows what is known so far and work goes
// on. Its file is looked at once (columns, faults); what the steps of preparation make of it is made anew whenever they
// change. Results arrive as signals on the window's thread; opening another file or the end of the session cancels, and
// waits for nothing: a disk that does not answer holds up its own work alone.
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/data/check.h"
#include "engine/data/columns/analysis.h"
#include "engine/data/stats.h"
#include "engine/network/project.h"
#include "widgets/document/background.h"

namespace loom {

struct SessionRequest {
  QString csv;                // absolute
  DatasetSpec spec;           // which of its rows
  std::vector<Json> prepare;  // the steps that hold for it
  struct Other {
    QString csv;
    DatasetSpec spec;
    std::vector<Json> prepare;
  };
  std::optional<Other> measuredOn;  // the dataset that is trained on, where the steps are its
  std::optional<Other> otherPart;   // another dataset of the same file: the doctor compares their classes
  CheckOptions check;               // classes and the other dataset
};

class DatasetSession : public QObject {
  Q_OBJECT

 public:
  enum class State { closed, opening, ready, failed };

  explicit DatasetSession(QObject* parent = nullptr);
  ~DatasetSession() override { cancel(); }

  // What does not differ from what is open is kept.
  void open(SessionRequest request);
  void close();
  void lookAgain();
  void stopLooking();  // what is known stays

  const SessionRequest& request() const { return m_request; }
  // The file as it stands: grows while it is looked at. Null before the first rows.
  const std::shared_ptr<const TableFacts>& facts() const { return m_facts; }
  const std::optional<Error>& unreadable() const { return m_unreadable; }  // why it cannot be looked at
  const std::optional<CheckReport>& report() const { return m_report; }
  bool looking() const { return m_looking; }
  bool stopped() const { return m_stopped; }  // by a person: facts are of the first rows alone
  const std::map<std::string, QStringList>& classNames() const { return m_classNames; }

  // What the steps make of it.
  State state() const { return m_state; }
  std::shared_ptr<const Dataset> dataset() const { return m_dataset; }
  const CacheProgress& progress() const { return m_progress; }
  const std::optional<Error>& error() const { return m_error; }
  // Rows of the file that this part is, where it is one.
  const std::shared_ptr<const std::vector<std::int64_t>>& rows() const { return m_rows; }
  const std::vector<VariableStats>& stats() const { return m_stats; }
  // Classes that one of two parts alone has.
  const std::vector<Fault>& partFaults() const { return m_partFaults; }

 Q_SIGNALS:
  void looked();   // more is known of the file
  void checked();  // all of it
  void progressed();
  void opened();
  void failed();
  void measured();

 private:
  using Work = Background<DatasetSession>;
  static void look(const SessionRequest& request, const Work& here);
  static void make(const SessionRequest& request, const Work& here);
  void startLooking();
  void startMaking();
  void cancel();

  SessionRequest m_request;
  std::string m_lookKey, m_makeKey;
  std::shared_ptr<const TableFacts> m_facts;
  std::optional<Error> m_unreadable;
  std::optional<CheckReport> m_report;
  std::map<std::string, QStringList> m_classNames;
  bool m_looking = false, m_stopped = false;
  State m_state = State::closed;
  std::shared_ptr<const Dataset> m_dataset;
  CacheProgress m_progress;
  std::optional<Error> m_error;
  std::shared_ptr<const std::vector<std::int64_t>> m_rows;
  std::vector<VariableStats> m_stats;
  std::vector<Fault> m_partFaults;
  std::optional<Work> m_look, m_make;
  QTimer m_soon;  // several changes in a row are made once
};

}  // namespace loom
