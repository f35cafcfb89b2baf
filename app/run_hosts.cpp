#include "app/run_hosts.h"

#include "launcher/job.h"

namespace loom {

QString RunHosts::hostOf(const RunRecord& run) const {
  const auto known = m_known.find(run.id);
  if (known != m_known.end()) return *known;
  RunRecord read;
  JobFile file;
  readJobFile(run.folder, read, file);
  return m_known.insert(run.id, file.host).value();
}

QList<RunRecord> RunHosts::busyOn(const QString& host) const {
  QList<RunRecord> busy;
  for (const RunRecord& each : m_store.runs())
    if ((isLive(each.state) || each.state == RunState::queued) && hostOf(each) == host) busy << each;
  return busy;
}

}  // namespace loom
