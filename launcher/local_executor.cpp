#include "launcher/local_executor.h"

#include <csignal>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

constexpr int kWatchMs = 100;

RunFolder runIn(const QString& folder) {
  return RunFolder{folder.toStdString()};
}

}  // namespace

LocalExecutor::LocalExecutor(QString program, int atOnce, QObject* parent)
    : Executor(parent), m_program(std::move(program)), m_atOnce(atOnce) {
  m_watch.setInterval(kWatchMs);
  connect(&m_watch, &QTimer::timeout, this, &LocalExecutor::watch);
}

void LocalExecutor::add(const QString& id, const Watched& watched) {
  m_watched.insert(id, watched);
  m_watch.start();
}

void LocalExecutor::start(const JobOrder& order) {
  if (m_program.isEmpty()) m_program = findLoom();
  if (m_program.isEmpty())
    throwError(ErrorCode::missingFile,
               "the program loom was not found beside Gradloom nor in PATH: build or install it");
  QStringList arguments{"train", order.folder + "/project.loom", "--run", order.folder};
  for (const QString& each : order.file.overrides) arguments << "--set" << each;
  if (order.file.resume) arguments << "--resume" << order.folder;
  const ProcessIdentity process = startDetached(order.folder, m_program, arguments);
  add(order.id, {process, order.folder});
  JobFile file = order.file;
  file.process = process.id;
  file.processStart = process.start;
  file.bootId = process.bootId;
  Q_EMIT started(order.id, file);
}

bool LocalExecutor::follow(const JobOrder& order) {
  const ProcessIdentity process{order.file.process, order.file.processStart, order.file.bootId};
  if (isAlive(process))
    add(order.id, {process, order.folder});
  else if (runIn(order.folder).running())
    add(order.id, {{}, order.folder});
  else
    return false;
  return true;
}

void LocalExecutor::command(const JobOrder& order, const Json& command) {
  appendControl(runIn(order.folder), command);
}

void LocalExecutor::interrupt(const QString& id) {
  if (const auto found = m_watched.find(id); found != m_watched.end()) sendSignal(found->process, SIGTERM);
}

void LocalExecutor::kill(const QString& id) {
  const auto found = m_watched.find(id);
  if (found == m_watched.end() || found->process.id == 0)
    throwError(ErrorCode::badArgument, "it was not started here: end it where it was started");
  sendSignal(found->process, SIGKILL);
}

void LocalExecutor::watch() {
  const QHash<QString, Watched> all = m_watched;  // whoever hears of an end may start another
  for (auto each = all.begin(); each != all.end(); ++each) {
    std::optional<ProcessEnd> end;
    if (each->process.id == 0) {
      if (!runIn(each->folder).running()) end = ProcessEnd{-1, 0};
    } else {
      end = processEnd(each->process, each->folder);
    }
    if (!end) continue;
    m_watched.remove(each.key());
    Q_EMIT ended(each.key(), {end->code, end->signal});
  }
  if (m_watched.isEmpty()) m_watch.stop();
}

}  // namespace loom
