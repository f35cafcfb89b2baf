#pragma once
// What may be asked of the program that keeps a data folder's runs: one list of wishes, for the verbs of the terminal
// and for other programs of the same person, which leave theirs in the folder `orders` and find the answer there. So a
// terminal and an open window never start the same run twice. Window's thread.
//
//   {"order": "submit", "id", "name", "project", "snapshot", "data_folder", "overrides": [], "host", "ranks",
//   "runs_folder", "shared"}
//   {"order": "stop" | "stop_after_epoch" | "kill" | "give_up" | "resume" | "fetch" | "connect", "run"}; "resume" with
//   "host" (empty = here) and "ranks" elsewhere than it ran
//   {"order": "model", "run"} -> model: the file that was fetched last, else where it is
//   {"order": "state", "run"} -> state, message, stage, doubt, online, ended, place, fetching, share, fetch_fault
//   {"order": "add_host", "host": {...}} -> id
//   {"order": "yield"}: a window opens; a terminal lets it have the folder
#include <QFileSystemWatcher>
#include <QHash>
#include <QObject>
#include <QTimer>
#include <functional>
#include <optional>

#include "engine/base/json.h"
#include "launcher/launcher.h"
#include "launcher/remote/models.h"

namespace loom {

Json toJson(const Job& job);
Job jobFromJson(const Json& order);

class OrderDesk : public QObject {
  Q_OBJECT

 public:
  // `folder`: the data folder, which is this program's (see FolderLock). Takes orders that lie there from now on.
  OrderDesk(const QString& folder, Launcher& launcher, RunStore& store, HostStore& hosts, HostLines& lines,
            Models& models, QObject* parent = nullptr);

  // Answers what the order asks for; throws Error.
  Json carryOut(const Json& order);
  // A person who only looks on from a terminal gives way; without this the answer to "yield" is no.
  std::function<void()> yield;

 private:
  void look();
  Json state(const RunRecord& run) const;
  const RunRecord& wanted(const Json& order) const;
  void callOn(const QString& host);

  QString m_folder;
  Launcher& m_launcher;
  RunStore& m_store;
  HostStore& m_hosts;
  HostLines& m_lines;
  Models& m_models;
  QHash<QString, QString> m_fetchFaults, m_fetched;
  QFileSystemWatcher m_watcher;
  QTimer m_soon;
};

// The other side: an order on its way to whoever has the folder.
class OrderSlip {
 public:
  OrderSlip(const QString& folder, const Json& order);  // throws Error where it cannot be written
  ~OrderSlip();                                         // taken back, if nobody took it
  OrderSlip(const OrderSlip&) = delete;
  OrderSlip& operator=(const OrderSlip&) = delete;
  // Nothing = not yet. Throws the Error that it was answered with.
  std::optional<Json> answer();

 private:
  QString m_order, m_answer;
};

}  // namespace loom
