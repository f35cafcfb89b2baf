#pragma once
// A search whose trials the launcher trains, on this machine or through a host's queue. One search at a time; the runs
// that it began go on by themselves when it is gone, and goOn() takes them up again. Window's thread.
#include <QHash>
#include <QObject>
#include <QTimer>
#include <memory>

#include "engine/search/driver.h"
#include "launcher/job.h"

namespace loom {

class Launcher;

class SearchRunner : public QObject {
  Q_OBJECT

 public:
  // `launcher` and its store outlive it.
  SearchRunner(Launcher& launcher, RunStore& store, QObject* parent = nullptr);
  ~SearchRunner() override;

  // What each trial trains: project, its text, data folder, host, ranks, priority. Id, name, settings are the trial's.
  // `study` is a new one with its plan, or one that goes on; `atOnce` trials are in the host's queue or train at one
  // time. Throws Error where the first trial cannot begin; that no candidate fits may be told by ended() later.
  void begin(Study study, const Job& job, int atOnce);
  void stop();  // no further trial; those that train write a checkpoint and end
  bool active() const { return m_driver != nullptr; }
  bool stopping() const { return m_driver && m_driver->stopping(); }
  const Study* study() const { return m_driver ? &m_driver->study() : nullptr; }

 Q_SIGNALS:
  void changed();                      // a trial began, went on or ended
  void ended(const QString& fault);    // empty = with all trials, or stopped
  void trialBegan(const QString& id);  // of its run

 private:
  class Bench;
  void step();
  std::unique_ptr<Bench> m_bench;
  std::unique_ptr<SearchDriver> m_driver;
  Launcher& m_launcher;
  RunStore& m_store;
  QTimer m_look;
};

}  // namespace loom
