#include "launcher/launcher.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUuid>
#include <csignal>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {
namespace {

constexpr int kWatchMs = 100;

RunFolder folderOf(const RunRecord& run) { return RunFolder{run.folder.toStdString()}; }

const char* verb(RunAction action) {
  switch (action) {
    case RunAction::stop: return "stopped";
    case RunAction::stopAfterEpoch: return "stopped after its epoch";
    case RunAction::setLearningRate: return "given another learning rate";
    case RunAction::resume: return "resumed";
    case RunAction::kill: return "killed";
  }
  return "";
}

}  // namespace

Launcher::Launcher(RunStore& store, LauncherOptions options, QObject* parent)
    : QObject(parent), m_store(store), m_options(std::move(options)) {
  connect(&m_pump, &EventPump::batch, this, &Launcher::take);
  connect(&m_pump, &EventPump::drained, this, &Launcher::settle);
  connect(&m_pump, &EventPump::failed, this, &Launcher::failed);
  m_watch.setInterval(kWatchMs);
  connect(&m_watch, &QTimer::timeout, this, &Launcher::watch);
}

Launcher::~Launcher() = default;

bool Launcher::may(RunState state, RunAction action) {
  switch (action) {
    case RunAction::stop:
      return state == RunState::queued || state == RunState::starting || state == RunState::running;
    case RunAction::stopAfterEpoch:
    case RunAction::setLearningRate:
      return state == RunState::running;
    case RunAction::resume:
      return state == RunState::stopped || state == RunState::failed;
    case RunAction::kill:
      return isLive(state);
  }
  return false;
}

const RunRecord& Launcher::wanted(const QString& id, RunAction action) const {
  const RunRecord* const run = m_store.find(id);
  if (!run) throwError(ErrorCode::badArgument, "there is no run '{}'", id.toStdString());
  if (!may(run->state, action))
    throwError(ErrorCode::badArgument, "{} is {}: it cannot be {} now", run->name.toStdString(), toKey(run->state), verb(action));
  return *run;
}

void Launcher::saveJob(const QString& id, const std::function<void(JobFile&)>& change) {
  const RunRecord* const run = m_store.find(id);
  if (!run) return;
  RunRecord read;
  JobFile job;
  readJobFile(run->folder, read, job);
  change(job);
  writeJobFile(*run, job);
}

void Launcher::keep(const QString& id) {
  try {
    saveJob(id, [](JobFile&) {});
  } catch (const Error& error) {
    // A folder that may only be read: the store alone remembers.
    Q_EMIT failed(id, QString::fromStdString(error.what()));
  }
}

void Launcher::submit(const Job& job) {
  if (m_store.find(job.id)) return;
  const QString runs = !job.runsFolder.isEmpty() ? job.runsFolder : QFileInfo(job.project).absolutePath() + "/runs";
  RunRecord run;
  run.id = job.id;
  run.name = job.name.isEmpty() ? job.id : job.name;
  run.project = job.project;
  run.folder = runs + '/' + job.id;
  if (!QDir().mkpath(run.folder))
    throwError(ErrorCode::inputOutput, "{} cannot be made: choose a folder that may be written for this project's runs",
               run.folder.toStdString());
  run.folder = QFileInfo(run.folder).canonicalFilePath();
  const QByteArray snapshot = withAbsolutePaths(job.snapshot, job.dataFolder);
  writeFileAtomically((run.folder + "/project.loom").toStdString(), std::string_view(snapshot.data(), snapshot.size()));
  run.created = static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
  writeJobFile(run, {.folder = run.folder, .overrides = job.overrides, .queued = true});
  m_store.add(run);
  m_queue << job.id;
  startNext();
  Q_EMIT countsChanged();
}

void Launcher::startNext() {
  for (qsizetype i = 0; i < m_queue.size() && m_active.size() < m_options.atOnce;) {
    const QString id = m_queue[i];
    if (m_active.contains(id)) {  // resumed before its last attempt was quite gone
      ++i;
      continue;
    }
    m_queue.removeAt(i);
    try {
      start(id);
    } catch (const Error& error) {
      m_store.setState(id, RunState::failed, QString::fromStdString(error.what()));
      saveJob(id, [](JobFile& job) { job.queued = false; });
    }
  }
}

void Launcher::start(const QString& id) {
  const RunRecord run = *m_store.find(id);
  if (m_options.program.isEmpty()) m_options.program = findLoom();
  if (m_options.program.isEmpty())
    throwError(ErrorCode::missingFile, "the program loom was not found beside Gradloom nor in PATH: build or install it");
  RunRecord read;
  JobFile job;
  readJobFile(run.folder, read, job);
  QStringList arguments{"train", run.folder + "/project.loom", "--run", run.folder};
  for (const QString& each : job.overrides) arguments << "--set" << each;
  if (job.resume) arguments << "--resume" << run.folder;
  const ProcessIdentity process = startDetached(run.folder, m_options.program, arguments);
  m_active.insert(id, {.process = process});
  saveJob(id, [&](JobFile& file) {
    file.queued = false;
    file.process = process.id;
    file.processStart = process.start;
    file.bootId = process.bootId;
  });
  m_store.setState(id, RunState::starting);
  follow(id);
  m_watch.start();
  Q_EMIT countsChanged();
}

void Launcher::follow(const QString& id) {
  m_pump.follow(id, m_store.find(id)->folder, m_store.logOffset(id));
}

void Launcher::take(const QString& id, const std::shared_ptr<EventBatch>& batch) {
  m_store.append(id, *batch);
  const RunRecord* const run = m_store.find(id);
  const bool started = std::any_of(batch->others.begin(), batch->others.end(), [](const Event& each) { return each.kind == "started"; });
  if (run && started) m_store.change(id, [](RunRecord& record) { readRunFile(record.folder, record); });
  if (run && !m_store.notice().isEmpty() && m_store.logOffset(id) == 0) attach();  // the store lost it under our hands
  m_pump.taken(id);
}

void Launcher::watch() {
  for (auto each = m_active.begin(); each != m_active.end(); ++each) {
    if (each->end) continue;
    const RunRecord* const run = m_store.find(each.key());
    if (!run) continue;
    if (each->process.id == 0) {
      if (!folderOf(*run).running()) each->end = ProcessEnd{-1, 0};
    } else {
      each->end = processEnd(each->process, run->folder);
    }
    if (each->end) m_pump.drain(each.key());
  }
  if (m_active.isEmpty()) m_watch.stop();
}

// All that was ever written is in the store: what is the run now?
void Launcher::settle(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  m_reading.remove(id);
  if (!run) return;
  const auto active = m_active.find(id);
  if (active == m_active.end()) {  // an older log, read to its end
    if (folderOf(*run).running()) {
      m_active.insert(id, {});
      m_watch.start();
      Q_EMIT countsChanged();
      return;
    }
  } else if (!active->end) {
    return;
  }
  m_pump.unfollow(id);
  const ProcessEnd end = active == m_active.end() ? ProcessEnd{-1, 0} : *active->end;
  const bool killed = active != m_active.end() && active->killed;
  m_active.remove(id);
  m_stopsAfterEpoch.remove(id);
  if (isLive(run->state) || run->state == RunState::queued) {
    if (!m_queue.contains(id)) {
      const QString place = run->step > 0 ? tr("at step %1").arg(run->step) : tr("before its first step");
      const QString word = run->message.isEmpty() ? lastLineOf(run->folder + "/log.txt") : run->message;
      QString sentence = tr("loom %1 %2").arg(describe(end), place);
      if (!word.isEmpty()) sentence += tr("; its last words: %1").arg(word);
      if (killed) m_store.setState(id, RunState::stopped, tr("Killed %1; what came after the last checkpoint is not kept.").arg(place));
      else m_store.setState(id, RunState::failed, sentence);
    }
  } else {
    m_store.flush();
  }
  startNext();
  Q_EMIT countsChanged();
}

// Wishes.

void Launcher::command(const RunRecord& run, const Json& command) {
  Json line = command;
  line["id"] = QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
  appendControl(folderOf(run), line);
}

void Launcher::stop(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::stop);
  if (run.state == RunState::queued) {
    m_queue.removeAll(id);
    saveJob(id, [](JobFile& job) { job.queued = false; });
    m_store.setState(id, RunState::stopped, tr("Taken from the queue before it began."));
    Q_EMIT countsChanged();
    return;
  }
  command(run, {{"command", "stop"}});
  // Before the first step nobody reads the control file: the signal says the same.
  if (run.state == RunState::starting && m_active.contains(id)) sendSignal(m_active[id].process, SIGTERM);
  m_store.setState(id, RunState::stopping);
}

void Launcher::stopAfterEpoch(const QString& id) {
  command(wanted(id, RunAction::stopAfterEpoch), {{"command", "stop_after_epoch"}});
  m_stopsAfterEpoch.insert(id);
  m_store.change(id, [](RunRecord&) {});
}

void Launcher::setLearningRate(const QString& id, double value) {
  const RunRecord& run = wanted(id, RunAction::setLearningRate);
  if (!std::isfinite(value) || value < 0)
    throwError(ErrorCode::badArgument, "the learning rate is {}, but must be a number from 0 up", value);
  command(run, {{"command", "learning_rate"}, {"value", value}});
}

void Launcher::resume(const QString& id) {
  wanted(id, RunAction::resume);
  saveJob(id, [](JobFile& job) { job.queued = job.resume = true; });
  m_store.setState(id, RunState::queued);
  if (!m_queue.contains(id)) m_queue << id;
  startNext();
  Q_EMIT countsChanged();
}

void Launcher::kill(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::kill);
  const auto active = m_active.find(id);
  if (active == m_active.end() || active->process.id == 0)
    throwError(ErrorCode::badArgument, "{} was not started here: end it where it was started", run.name.toStdString());
  active->killed = true;
  sendSignal(active->process, SIGKILL);
}

}  // namespace loom
