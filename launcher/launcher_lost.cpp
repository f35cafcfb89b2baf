// What a person decides about a run of a host: it is counted as ended, submitted anew, or goes on here.
#include <QDir>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "launcher/launcher.h"

namespace loom {

void Launcher::giveUp(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::kill);
  if (orderOf(run).file.host.isEmpty())
    throwError(ErrorCode::badArgument, "{} runs on this machine, where it can be told how it goes: kill it", run.name.toStdString());
  if (const auto active = m_active.find(id); active != m_active.end()) active->executor->giveUp(id);
  const QString doubt = m_doubts.value(id);
  leave(id);
  m_store.setState(id, RunState::failed, doubt.isEmpty() ? tr("Counted as ended by hand.") : tr("Counted as ended by hand. %1").arg(doubt));
  startNext();
  Q_EMIT countsChanged();
}

QString Launcher::submitAnew(const QString& id) {
  const RunRecord* const found = m_store.find(id);
  if (!found) throwError(ErrorCode::badArgument, "there is no run '{}'", id.toStdString());
  const RunRecord run = *found;
  const JobOrder order = orderOf(run);
  const std::string snapshot = readFile((run.folder + "/project.loom").toStdString());
  if (isLive(run.state)) giveUp(id);
  const QString fresh = makeRunId(run.project);
  submit({.id = fresh,
          .name = run.name,
          .project = run.project,
          .snapshot = QByteArray::fromStdString(snapshot),
          .overrides = order.file.overrides,
          .host = order.file.host,
          .ranks = order.file.ranks,
          .runsFolder = QFileInfo(run.folder).absolutePath(),
          .priority = order.file.priority});
  m_store.change(fresh, [&](RunRecord& record) { record.tags = run.tags, record.note = run.note; });
  keep(fresh);
  return fresh;
}

// run.json tells where the data lies on the host; the engine finds it by the snapshot of the project, which is given to every start
// here, and refuses other data.
void Launcher::resumeHere(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::resume);
  if (orderOf(run).file.host.isEmpty()) return resume(id);
  if (QDir(run.folder + "/checkpoints").entryList({"step-*.safetensors"}, QDir::Files).isEmpty())
    throwError(ErrorCode::badArgument, "no checkpoint of {} is on this machine: fetch its model first", run.name.toStdString());
  saveJob(id, [](JobFile& job) {
    job.host.clear();
    job.accepted = job.ranks = job.place = 0;
    job.process = job.processStart = 0;
  });
  Q_EMIT hostChanged(id);
  resume(id);
}

}  // namespace loom
