#pragma once
// On which host each run is or was: what its folder says, read once. Window's thread.
#include <QHash>
#include <QList>

#include "launcher/store/run_store.h"

namespace loom {

class RunHosts {
 public:
  explicit RunHosts(const RunStore& store) : m_store(store) {}
  // Id of a host; empty = this machine.
  QString hostOf(const RunRecord& run) const;
  // Runs that go or wait there.
  QList<RunRecord> busyOn(const QString& host) const;
  void forget(const QString& run) { m_known.remove(run); }  // it goes on elsewhere

 private:
  const RunStore& m_store;
  mutable QHash<QString, QString> m_known;
};

}  // namespace loom
