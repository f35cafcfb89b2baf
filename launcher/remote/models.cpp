#include "launcher/remote/models.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/job.h"
#include "launcher/run_parts.h"

namespace loom {
namespace {

const QString kBest = QStringLiteral("best.json"), kLast = QStringLiteral("last.json");

QString checkpoints(const RunRecord& run) {
  return run.folder + "/checkpoints/";
}

// While it is read and until its checkpoint is here: nobody follows a pointer to nothing.
QString fetchedPointer(const RunRecord& run, const QString& pointer) {
  return checkpoints(run) + pointer + ".there";
}

}  // namespace

Models::Models(RunStore& store, HostLines* hosts, QObject* parent) : QObject(parent), m_store(store), m_hosts(hosts) {
  for (const RunRecord& run : store.runs())
    if (isLive(run.state)) m_live.insert(run.id);
  connect(&store, &RunStore::runChanged, this, &Models::runChanged);
  if (!hosts) return;
  connect(hosts, &HostLines::removed, this, [this](const QString& host, HostLine* line) {
    line->disconnect(this);
    m_heard.remove(line);
    for (const QString& id : m_tasks.keys())
      if (m_tasks.value(id).host == host) end(id, tr("its host was taken from the list of hosts"));
  });
}

const Host* Models::hostOf(const RunRecord& run) const {
  const QString id = hostIdOf(m_store, run);
  return id.isEmpty() || !m_hosts ? nullptr : m_hosts->store().find(id);
}

ModelPlace Models::place(const QString& id) const {
  ModelPlace place;
  const RunRecord* const run = m_store.find(id);
  if (!run) return place;
  const QString host = hostIdOf(m_store, *run);
  // Here: as the pointers say. A run on a host may have a better one there than the one that was brought.
  for (const QString& pointer : {kBest, kLast}) {
    const QString name = pointedCheckpoint(checkpoints(*run) + pointer);
    if (!place.here.isEmpty() || name.isEmpty() || !QFile::exists(checkpoints(*run) + name)) continue;
    place.here = checkpoints(*run) + name;
    place.best = pointer == kBest;
  }
  if (host.isEmpty()) return place;
  const RunCheckpoints known = checkpointsOf(m_store, id);
  const QString file = known.best.isEmpty() ? known.newest : known.best;
  if (file.isEmpty() || (!place.here.isEmpty() && QFileInfo(place.here).fileName() == file)) return place;
  const Host* const there = hostOf(*run);
  place.here.clear();
  place.best = !known.best.isEmpty();
  place.host = host;
  place.there = QStringLiteral("%1/runs/%2/checkpoints/%3")
                    .arg(there ? there->folder : QStringLiteral("~/.cache/gradloom"), id, file);
  return place;
}

QString Models::sentence(const QString& id) const {
  const ModelPlace found = place(id);
  if (!found.here.isEmpty()) return found.here;
  if (found.there.isEmpty()) return {};
  const Host* const host = m_hosts ? m_hosts->store().find(found.host) : nullptr;
  return tr("on %1 at %2").arg(host ? host->name : found.host, found.there);
}

bool Models::mayFetch(const QString& id) const {
  const ModelPlace found = place(id);
  return !found.host.isEmpty() && m_hosts && m_hosts->store().find(found.host) && !isFetching(id);
}

bool Models::comesByItself(const QString& id) const {
  const RunRecord* const run = m_store.find(id);
  const Host* const host = run ? hostOf(*run) : nullptr;
  return host && host->bringBest;
}

bool Models::newestIsHere(const QString& id) const {
  const RunRecord* const run = m_store.find(id);
  if (!run) return false;
  const RunCheckpoints known = checkpointsOf(m_store, id);
  if (known.newest.isEmpty() || pointedCheckpoint(checkpoints(*run) + kLast) != known.newest) return false;
  return QFile::exists(checkpoints(*run) + known.newest) &&
         (known.best.isEmpty() || QFile::exists(checkpoints(*run) + known.best));
}

void Models::fetch(const QString& id, Which which) {
  const RunRecord* const run = m_store.find(id);
  if (!run) throwError(ErrorCode::badArgument, "there is no run '{}'", id.toStdString());
  const QString host = hostIdOf(m_store, *run);
  if (host.isEmpty())
    throwError(ErrorCode::badArgument, "{} ran on this machine: its checkpoints are in {}", run->name.toStdString(),
               checkpoints(*run).toStdString());
  if (!m_hosts || !m_hosts->store().find(host))
    throwError(ErrorCode::badArgument,
               "the host '{}' is not in the list of hosts: add it again to fetch what lies there", host.toStdString());
  if (which == Which::newest && checkpointsOf(m_store, id).newest.isEmpty())
    throwError(ErrorCode::badArgument,
               "{} has written no checkpoint yet, from which another machine could go on: resume it where it ran",
               run->name.toStdString());
  begin(id, {.host = host, .pointer = which == Which::newest ? kLast : kBest, .andBest = which == Which::newest});
}

void Models::begin(const QString& id, const Task& task) {
  if (m_tasks.contains(id)) return;
  const RunRecord* const run = m_store.find(id);
  if (!QDir().mkpath(checkpoints(*run)))
    throwError(ErrorCode::inputOutput, "{} cannot be made: it is to hold the checkpoint",
               checkpoints(*run).toStdString());
  m_tasks.insert(id, task);
  HostLine& line = *m_hosts->line(task.host);
  listen(task.host, line);
  if (line.state() == LineState::online)
    go(id);
  else if (!task.patient)
    line.connectNow();
  Q_EMIT changed(id);
}

void Models::listen(const QString& host, HostLine& line) {
  if (m_heard.contains(&line)) return;
  m_heard.insert(&line);
  connect(&line, &HostLine::stateChanged, this, [this, host] { lineChanged(host); });
  connect(&line, &HostLine::fetchProgress, this, [this](const QString& id, const QString& file, double share) {
    const auto task = m_tasks.find(id);
    if (task == m_tasks.end() || task->file != file) return;
    task->share = share;
    Q_EMIT changed(id);
  });
  connect(&line, &HostLine::fetched, this,
          [this](const QString& id, const QString& file, const QString&) { arrived(id, file); });
  connect(&line, &HostLine::fetchFailed, this, [this](const QString& id, const QString& file, const QString& sentence) {
    const auto task = m_tasks.find(id);
    if (task == m_tasks.end()) return;
    // Nothing was measured in that run, so no checkpoint is its best: then the newest.
    if (file == "checkpoints/" + kBest && task->pointer == kBest &&
        m_hosts->line(task->host)->state() == LineState::online) {
      task->pointer = kLast;
      return go(id);
    }
    end(id, sentence);
  });
}

void Models::go(const QString& id) {
  const Task& task = m_tasks[id];
  const RunRecord* const run = m_store.find(id);
  if (!run) return end(id, tr("the run was taken from the list"));
  HostLine& line = *m_hosts->line(task.host);
  if (task.file.isEmpty())
    line.fetch(id, "checkpoints/" + task.pointer, fetchedPointer(*run, task.pointer));
  else
    line.fetch(id, task.file, run->folder + '/' + task.file);
}

void Models::lineChanged(const QString& host) {
  HostLine& line = *m_hosts->line(host);
  for (const QString& id : m_tasks.keys()) {
    const Task task = m_tasks.value(id);
    if (task.host != host) continue;
    if (line.state() == LineState::online)
      go(id);
    else if (!task.patient && (line.state() == LineState::offline || line.state() == LineState::needsPerson ||
                               line.state() == LineState::waiting))
      end(id, line.sentence().isEmpty() ? tr("there is no connection") : line.sentence());
  }
}

void Models::arrived(const QString& id, const QString& file) {
  const auto task = m_tasks.find(id);
  const RunRecord* const run = m_store.find(id);
  if (task == m_tasks.end() || !run) return;
  const QString pointer = fetchedPointer(*run, task->pointer);
  if (task->file.isEmpty() && file == "checkpoints/" + task->pointer) {
    const QString name = pointedCheckpoint(pointer);
    if (name.isEmpty()) return end(id, tr("%1 on the host names no checkpoint").arg(task->pointer));
    task->file = "checkpoints/" + name;
    return go(id);
  }
  if (file != task->file) return;
  const QString place = checkpoints(*run) + task->pointer;
  QFile::remove(place);
  QFile::rename(pointer, place);
  const QString arrived = run->folder + '/' + file;
  // The best one as well: only a better one replaces it, wherever the run goes on.
  if (std::exchange(task->andBest, false) && !checkpointsOf(m_store, id).best.isEmpty()) {
    task->pointer = kBest;
    task->file.clear();
    return go(id);
  }
  end(id, {});
  Q_EMIT fetched(id, arrived);
}

void Models::end(const QString& id, const QString& fault) {
  const QString host = m_tasks.value(id).host;
  m_tasks.remove(id);
  if (const RunRecord* const run = m_store.find(id))
    for (const QString& pointer : {kBest, kLast}) QFile::remove(fetchedPointer(*run, pointer));
  if (!fault.isEmpty()) Q_EMIT failed(id, tr("Its checkpoint could not be fetched: %1").arg(fault));
  Q_EMIT changed(id);
}

void Models::runChanged(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  if (!run) return;
  if (isLive(run->state)) {
    m_live.insert(id);
    return;
  }
  if (!m_live.remove(id) || run->state == RunState::queued || run->step == 0 || !comesByItself(id)) return;
  try {
    begin(id, {.host = hostIdOf(m_store, *run), .pointer = kBest, .patient = true});
  } catch (const Error& error) {
    Q_EMIT failed(id, QString::fromStdString(error.what()));
  }
}

}  // namespace loom
