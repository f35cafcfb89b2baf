#include "launcher/launcher.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUuid>
#include <algorithm>
#include <csignal>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/exit_code.h"
#include "launcher/local_executor.h"
#include "launcher/local_process.h"
#include "launcher/remote/host_lines.h"
#include "launcher/store/file_lock.h"

namespace loom {
namespace {

const char* verb(RunAction action) {
  switch (action) {
    case RunAction::stop:
      return "stopped";
    case RunAction::stopAfterEpoch:
      return "stopped after its epoch";
    case RunAction::setLearningRate:
      return "given another learning rate";
    case RunAction::resume:
      return "resumed";
    case RunAction::kill:
      return "killed";
  }
  return "";
}

}  // namespace

Launcher::Launcher(RunStore& store, LauncherOptions options, QObject* parent)
    : QObject(parent), m_store(store), m_options(std::move(options)) {
  connect(&m_pump, &EventPump::batch, this, &Launcher::take);
  connect(&m_pump, &EventPump::drained, this, &Launcher::settle);
  connect(&m_pump, &EventPump::failed, this, &Launcher::failed);
  connect(&m_pump, &EventPump::replaced, this, &Launcher::readAnew);
  connect(&m_store, &RunStore::builtAnew, this, &Launcher::attach, Qt::QueuedConnection);
  m_local = std::make_unique<LocalExecutor>(m_options.program, m_options.atOnce);
  listen(*m_local);
  if (!m_options.hosts) return;
  connect(m_options.hosts, &HostLines::removed, this, [this](const QString&, HostLine* line) { lose(*line); });
  connect(&m_options.hosts->store(), &HostStore::hostAdded, this, &Launcher::attach);  // its runs are followed again
}

// The host of a line was taken from the list. Its runs go on there; what was read of them stays, and why no more comes.
void Launcher::lose(Executor& executor) {
  executor.disconnect(this);
  m_heard.remove(&executor);
  QStringList lost;
  for (auto each = m_active.begin(); each != m_active.end(); ++each)
    if (each->executor == &executor) lost << each.key();
  for (const QString& id : lost) {
    leave(id);
    m_store.change(id, [](RunRecord& run) {
      run.message = tr("Its host was taken from the list of hosts: add it again to go on following this run.");
    });
  }
  startNext();
  Q_EMIT countsChanged();
}

// Nothing more will be told of it.
void Launcher::leave(const QString& id) {
  m_active.remove(id);
  m_stages.remove(id);
  m_stopsAfterEpoch.remove(id);
  m_pump.unfollow(id);
  if (m_doubts.remove(id)) Q_EMIT doubtChanged(id);
}

void Launcher::listen(Executor& executor) {
  if (m_heard.contains(&executor)) return;
  m_heard.insert(&executor);
  connect(&executor, &Executor::started, this, [this](const QString& id, const JobFile& file) {
    saveJob(id, [&](JobFile& job) {
      if (file.start < job.start) return;  // the word of a start before this one
      job.start = file.start;
      job.accepted = file.accepted;
      job.carry = file.carry;
      job.process = file.process;
      job.processStart = file.processStart;
      job.bootId = file.bootId;
    });
  });
  connect(&executor, &Executor::doubted, this, &Launcher::takeDoubt);
  connect(&executor, &Executor::stage, this, [this](const QString& id, const QString& sentence, double share) {
    m_stages.insert(id, {sentence, share});
    Q_EMIT stageChanged(id);
  });
  connect(&executor, &Executor::waits, this, &Launcher::waitsThere);
  connect(&executor, &Executor::warned, this, &Launcher::failed);
  connect(&executor, &Executor::refused, this, &Launcher::refuse);
  connect(&executor, &Executor::ended, this, [this](const QString& id, const JobEnd& end) {
    const auto active = m_active.find(id);
    if (active == m_active.end()) return;
    active->end = end;
    m_pump.drain(id);
  });
}

Executor& Launcher::executorOf(const QString& host) {
  if (host.isEmpty()) return *m_local;
  Executor* const line = m_options.hosts ? m_options.hosts->line(host) : nullptr;
  if (!line)
    throwError(ErrorCode::badArgument, "the host '{}' is not in the list of hosts: add it again to go on with its runs",
               host.toStdString());
  listen(*line);
  return *line;
}

JobOrder Launcher::orderOf(const RunRecord& run) const {
  return {.id = run.id,
          .folder = run.folder,
          .projectFolder = run.project.isEmpty() ? QString() : QFileInfo(run.project).absolutePath(),
          .file = jobFileOf(m_store, run)};
}

int Launcher::activeOn(const Executor& executor) const {
  return static_cast<int>(
      std::count_if(m_active.begin(), m_active.end(), [&](const Active& each) { return each.executor == &executor; }));
}

// It never began, or cannot go on: nothing is running, nothing more will be told.
void Launcher::refuse(const QString& id, const QString& sentence) {
  leave(id);
  m_store.setState(id, RunState::failed, sentence);
  startNext();
  Q_EMIT countsChanged();
}

Launcher::~Launcher() {
  for (Executor* const each : m_heard) each->disconnect(this);
}

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
    throwError(ErrorCode::badArgument, "{} is {}: it cannot be {} now", run->name.toStdString(), toKey(run->state),
               verb(action));
  return *run;
}

void Launcher::saveJob(const QString& id, const std::function<void(JobFile&)>& change) {
  const RunRecord* const run = m_store.find(id);
  if (!run) return;
  JobFile job = jobFileOf(m_store, *run);
  change(job);
  writeJobFile(*run, job);
  m_store.setHost(id, job.host);
  if (const auto waits = m_waiting.find(id); waits != m_waiting.end()) *waits = job;
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
  executorOf(job.host);
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
  writeJobFile(run, {.folder = run.folder,
                     .overrides = job.overrides,
                     .queued = true,
                     .host = job.host,
                     .ranks = job.ranks,
                     .priority = job.priority});
  m_store.add(run);
  m_store.setHost(job.id, job.host);
  enqueue(job.id);
  startNext();
  Q_EMIT countsChanged();
}

void Launcher::start(const QString& id, Executor& executor) {
  // Another window may have the same runs in its queue: who is first starts it, the other one finds it started.
  const FileLock lock(m_store.find(id)->folder + "/job.lock", FileLock::Kind::exclusive);
  if (!orderOf(*m_store.find(id)).file.queued) {
    m_store.setState(id, RunState::starting);
    return pickUp(*m_store.find(id));
  }
  // The start's number is on file before anybody hears it: asked for again after a crash, it is known to be the same
  // one.
  saveJob(id, [](JobFile& job) {
    job.queued = job.gaveWay = false;
    ++job.start;
  });
  m_active.insert(id, {.executor = &executor});
  executor.start(orderOf(*m_store.find(id)));
  m_store.setState(id, RunState::starting);
  follow(id);
  Q_EMIT countsChanged();
}

void Launcher::follow(const QString& id) {
  m_pump.follow(id, m_store.find(id)->folder, m_store.logOffset(id), m_store.logMark(id));
}

// A host that crashed lost the end of the log and went on differently, or somebody deleted it. One that begins with the
// run says all there is; of any other, what was read before is kept.
void Launcher::readAnew(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  if (!run) return;
  EventReader log((run->folder + "/events.jsonl").toStdString());
  const std::vector<Event> first = log.read(1);
  if (!first.empty() && first.front().sequence == 0) m_store.forgetLog(id);
  if (!m_store.find(id)) return;
  m_pump.follow(id, m_store.find(id)->folder, 0, {});
  const auto active = m_active.find(id);
  if (m_reading.contains(id) || (active != m_active.end() && active->end)) m_pump.drain(id);
}

void Launcher::take(const QString& id, const std::shared_ptr<EventBatch>& batch) {
  m_store.append(id, *batch);
  holdLastWord(id);
  const RunRecord* const run = m_store.find(id);
  const bool started =
      std::any_of(batch->others.begin(), batch->others.end(), [](const Event& each) { return each.kind == "started"; });
  if (run && started) {
    m_stages.remove(id);
    m_store.change(id, [](RunRecord& record) { readRunFile(record.folder, record); });
  }
  m_pump.taken(id);
}

// All that was ever written is in the store: what is the run now?
void Launcher::settle(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  m_reading.remove(id);
  m_rediscovered.remove(id);
  const bool isForeign = m_foreign.remove(id);
  if (!run) return;
  const auto active = m_active.find(id);
  if (active == m_active.end()) {  // an older log, read to its end
    try {
      const JobOrder order = orderOf(*run);
      if (order.file.queued && !isForeign) {
        m_pump.unfollow(id);
        m_store.setState(id, RunState::queued, run->message);
        enqueue(id);
        startNext();
        Q_EMIT countsChanged();
        return;
      }
      Executor& executor = executorOf(order.file.host);
      // Only its host can tell of a run whose log has no last word; a process here may still be about to end.
      if ((&executor == m_local.get() || isLive(run->state)) && executor.follow(order)) {
        m_active.insert(id, {.executor = &executor});
        startNext();
        Q_EMIT countsChanged();
        return;
      }
    } catch (const Error& error) {  // its host was taken from the list, or nobody tells where it is: what was read of
                                    // it stays, and why no more comes
      if (isLive(run->state)) {
        m_pump.unfollow(id);
        m_store.change(id, [&](RunRecord& record) { record.message = QString::fromStdString(error.what()); });
        startNext();
        return;
      }
    }
  } else if (!active->end) {
    return;
  }
  const JobEnd end = active == m_active.end() ? JobEnd{} : *active->end;
  const bool killed = active != m_active.end() && active->killed;
  const std::optional<RunState> lastWord = active == m_active.end() ? std::nullopt : active->lastWord;
  leave(id);
  if (lastWord) tellLastWord(id, *lastWord, end);
  if (isLive(run->state) || run->state == RunState::queued) {
    if (!m_queue.contains(id)) {
      const QString place = run->step > 0 ? tr("at step %1").arg(run->step) : tr("before its first step");
      const QString word = run->message.isEmpty() ? lastLineOf(run->folder + "/log.txt") : run->message;
      const bool byWish = end.signal == SIGTERM || end.signal == SIGINT || end.signal == SIGKILL || end.code < 0 ||
                          end.code == exitCode(ErrorCode::stopped);
      QString sentence = tr("loom %1 %2").arg(describe(ProcessEnd{end.code, end.signal}), place);
      if (!end.sentence.isEmpty()) sentence += QStringLiteral(" (%1)").arg(end.sentence);
      if (!word.isEmpty()) sentence += tr("; its last words: %1").arg(word);
      if (killed)
        m_store.setState(id, RunState::stopped,
                         tr("Killed %1; what came after the last checkpoint is not kept.").arg(place));
      else if (run->state == RunState::stopping && byWish && neverBegan(id))
        m_store.setState(id, RunState::stopped,
                         run->step > 0 ? tr("Stopped before it went on from step %1.").arg(run->step)
                                       : tr("Stopped before it began."));
      else
        m_store.setState(id, RunState::failed, sentence);
    }
  }
  // An older log is read again where it was not saved: hundreds of them that come in do not hold the window up.
  if (!isForeign && (killed || !goesOnLater(id))) m_store.flush(id);
  startNext();
  Q_EMIT countsChanged();
}

// Wishes.

void Launcher::command(const RunRecord& run, const Json& command) {
  Json line = command;
  line["id"] = QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
  const JobOrder order = orderOf(run);
  const auto active = m_active.find(run.id);
  (active == m_active.end() ? executorOf(order.file.host) : *active->executor).command(order, line);
}

void Launcher::stop(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::stop);
  if (run.state == RunState::queued) {
    dequeue(id);
    saveJob(id, [](JobFile& job) { job.queued = job.gaveWay = false; });
    m_store.setState(id, RunState::stopped, tr("Taken from the queue before it began."));
    Q_EMIT countsChanged();
    return;
  }
  command(run, {{"command", "stop"}});
  // Before the first step nobody reads the control file: the signal says the same.
  if (run.state == RunState::starting && m_active.contains(id)) m_active[id].executor->interrupt(id);
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
  enqueue(id);
  startNext();
  Q_EMIT countsChanged();
}

void Launcher::kill(const QString& id) {
  const RunRecord& run = wanted(id, RunAction::kill);
  const auto active = m_active.find(id);
  if (active == m_active.end())
    throwError(ErrorCode::badArgument, "{} was not started here: end it where it was started", run.name.toStdString());
  active->executor->kill(id);
  active->killed = true;
}

}  // namespace loom
