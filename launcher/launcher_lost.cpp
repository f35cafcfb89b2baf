// What a person decides about a run of a host: it is counted as ended, submitted anew, or goes on elsewhere.
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "launcher/launcher.h"
#include "launcher/remote/data_delivery.h"
#include "launcher/remote/host_lines.h"
#include "launcher/remote/launch_order.h"
#include "launcher/run_parts.h"

namespace loom {
namespace {

// What the host would be told, tried before anything is changed: the order of its ranks, and where its data come from.
void requireAcceptable(const Host& host, const JobOrder& order) {
  launchOrder(host, order.file);
  const QByteArray project = readProject(order.folder + "/project.loom");
  if (!host.dataFolder.isEmpty()) {
    withDataMoved(project, order.projectFolder, host.dataFolder);
    return;
  }
  for (const QString& word : dataWords(project)) {
    const auto equals = word.indexOf('=');
    if (!QFile::exists(word.mid(equals + 1)))
      throwError(ErrorCode::missingFile,
                 "dataset '{0}' is to be sent to {1}, but {2} is not on this machine; bring it here, or name the "
                 "folder of {1} where it "
                 "lies already on the page Hosts",
                 word.left(equals).toStdString(), host.name.toStdString(), word.mid(equals + 1).toStdString());
  }
}

}  // namespace

void Launcher::takeDoubt(const QString& id, const QString& sentence) {
  const auto active = m_active.find(id);
  if (active == m_active.end() || m_doubts.value(id) == sentence) return;
  // One that has told of its end keeps nobody waiting, whatever became of its folder since.
  if (!sentence.isEmpty() && !isLive(m_store.find(id)->state)) {
    active->executor->forget(id);
    active->end = JobEnd{};
    return m_pump.drain(id);
  }
  if (sentence.isEmpty())
    m_doubts.remove(id);
  else
    m_doubts.insert(id, sentence);
  m_store.change(id, [&](RunRecord& run) { run.message = sentence; });
  Q_EMIT doubtChanged(id);
}

void Launcher::giveUp(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::kill);
  if (orderOf(run).file.host.isEmpty())
    throwError(ErrorCode::badArgument, "{} runs on this machine, where it can be told how it goes: kill it",
               run.name.toStdString());
  if (const auto active = m_active.find(id); active != m_active.end()) active->executor->giveUp(id);
  const QString doubt = m_doubts.value(id);
  leave(id);
  m_store.setState(id, RunState::failed,
                   doubt.isEmpty() ? tr("Counted as ended by hand.") : tr("Counted as ended by hand. %1").arg(doubt));
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

// run.json tells where the data lies on the host; the engine finds it by the snapshot of the project, which is given to
// every start here, and refuses other data.
void Launcher::resumeHere(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::resume);
  if (orderOf(run).file.host.isEmpty()) return resume(id);
  if (QDir(run.folder + "/checkpoints").entryList({"step-*.safetensors"}, QDir::Files).isEmpty())
    throwError(ErrorCode::badArgument, "no checkpoint of {} is on this machine: fetch its model first",
               run.name.toStdString());
  moveTo(id, {}, 0);
}

// What the host needs is looked for here first: a run that is refused stays what it is. The engine there is told where
// its data lie, and refuses others.
void Launcher::resumeOn(const QString& id, const QString& host, int ranks) {
  if (host.isEmpty()) return resumeHere(id);
  const RunRecord run = wanted(id, RunAction::resume);
  JobOrder order = orderOf(run);
  executorOf(host);
  if (order.file.host == host) {
    if (ranks > 0) saveJob(id, [ranks](JobFile& job) { job.ranks = ranks; });
    return resume(id);
  }
  const QString newest = checkpointsOf(m_store, id).newest;
  if (newest.isEmpty())
    throwError(ErrorCode::badArgument,
               "{} has written no checkpoint yet, from which another machine could go on: resume it where it ran",
               run.name.toStdString());
  if (!QFile::exists(run.folder + "/checkpoints/" + newest))
    throwError(ErrorCode::badArgument, "the newest checkpoint of {}, {}, is not on this machine: fetch it first",
               run.name.toStdString(), newest.toStdString());
  runParts(run.folder);
  requireSnapshot(run.folder);
  order.file.ranks = ranks;
  requireAcceptable(*m_options.hosts->store().find(host), order);
  moveTo(id, host, ranks);
}

void Launcher::moveTo(const QString& id, const QString& host, int ranks) {
  saveJob(id, [&](JobFile& job) {
    job.host = host;
    job.carry = !host.isEmpty();
    job.ranks = ranks;
    job.accepted = job.place = 0;
    job.process = job.processStart = 0;
  });
  QFile::remove(m_store.find(id)->folder + "/exit");  // how it ended here says nothing of what goes on there
  Q_EMIT hostChanged(id);
  resume(id);
}

}  // namespace loom
