#include "launcher/door/errand.h"

#include <fmt/core.h>

#include <QDir>
#include <QEventLoop>
#include <QTimer>

#include "engine/base/error.h"
#include "launcher/door/terminal.h"
#include "launcher/found_run.h"
#include "launcher/local_process.h"
#include "launcher/orders.h"
#include "launcher/remote/engine_installer.h"

namespace loom {
namespace {

constexpr int kSilenceMs = 20000, kYieldMs = 5000;

}  // namespace

struct Errand::Desk {
  RunStore store;
  HostStore hosts;
  HostLines lines;
  Models models;
  Launcher launcher;
  OrderDesk orders;

  explicit Desk(const DoorOptions& options)
      : store(options.dataFolder),
        hosts(options.dataFolder),
        lines(hosts, doorLine(options)),
        models(store, &lines),
        launcher(store, {.program = options.program, .hosts = &lines}),
        orders(options.dataFolder, launcher, store, hosts, lines, models) {}
};

LineOptions doorLine(const DoorOptions& options) {
  LineOptions line = options.line;
  if (line.bundle.isEmpty() && line.program.isEmpty())
    line.bundle = findBundle(options.program.isEmpty() ? findLoom() : options.program);
  return line;
}

Errand::Errand(const DoorOptions& options)
    : m_options(options), m_lock((QDir().mkpath(options.dataFolder), options.dataFolder)) {
  becomeKeeper();
}

Errand::~Errand() = default;

bool Errand::becomeKeeper() {
  if (m_desk) return true;
  if (m_yielded.isValid() && !m_yielded.hasExpired(kYieldMs))
    return false;  // whoever asked for the folder takes it now
  if (!m_lock.take()) return false;
  m_desk = std::make_unique<Desk>(m_options);
  QObject::connect(&m_desk->lines, &HostLines::question, &m_desk->lines,
                   [this](const QString& host, int id, const SshQuestion& question) {
                     HostLine* const line = m_desk->lines.line(host);
                     if (!line) return;
                     std::optional<QString> answer;
                     try {
                       answer = askOnTerminal(question);
                     } catch (const Error& error) {
                       m_fault = QString::fromStdString(error.what());
                     }
                     line->answer(id, answer);
                   });
  m_desk->orders.yield = [this] { m_yields = true; };
  tellNotice(m_desk->store);
  QObject::connect(&m_desk->store, &RunStore::noticeRaised, &m_desk->store,
                   [this, told = QString()](const QString& sentence) mutable {
                     if (std::exchange(told, sentence) != sentence) tellNotice(m_desk->store);
                   });
  m_desk->launcher.attach();
  return true;
}

void Errand::wait(int ms) {
  QEventLoop loop;
  QTimer::singleShot(ms, &loop, &QEventLoop::quit);
  loop.exec();
  if (std::exchange(m_yields, false)) {
    wait(kDoorLookMs);  // the answer is written
    m_desk.reset();
    m_lock.give();
    m_yielded.start();
  }
  if (m_fault) throw Error(ErrorCode::badArgument, std::exchange(m_fault, std::nullopt)->toStdString());
}

Json Errand::ask(const Json& order) {
  if (becomeKeeper()) return m_desk->orders.carryOut(order);
  OrderSlip slip(m_options.dataFolder, order);
  QElapsedTimer silence;
  silence.start();
  for (;;) {
    if (const auto answer = slip.answer()) return *answer;
    if (becomeKeeper()) {  // it ended meanwhile; perhaps with an answer
      if (const auto answer = slip.answer()) return *answer;
      return m_desk->orders.carryOut(order);
    }
    if (Interrupts::came()) throw Error(ErrorCode::stopped, "given up before it was answered");
    if (silence.hasExpired(kSilenceMs))
      throwError(ErrorCode::communication,
                 "another Gradloom keeps the runs in {} and does not answer; close it, or look whether it hangs",
                 m_options.dataFolder.toStdString());
    wait(kDoorLookMs);
  }
}

void tellNotice(const RunStore& store) {
  if (!store.notice().isEmpty()) fmt::print(stderr, "gradloom: {}\n", store.notice().toStdString());
}

RunRecord meantRun(const DoorOptions& options, const QString& text) {
  const RunStore store(options.dataFolder);
  tellNotice(store);
  if (const RunRecord* const run = store.find(text)) return *run;
  QList<RunRecord> all = store.runs();
  for (const FoundRun& lost : lostRuns(store)) {  // whoever keeps the list reads them again
    if (lost.record.id == text) return lost.record;
    all << lost.record;
  }
  QList<RunRecord> begins;
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (each->name == text) return *each;
    if (each->id.startsWith(text)) begins << *each;
  }
  if (begins.size() == 1) return begins.front();
  if (begins.isEmpty())
    throwError(ErrorCode::badArgument, "there is no run '{}': `gradloom runs` lists their names and ids",
               text.toStdString());
  throwError(ErrorCode::badArgument, "'{}' may be {} runs, {} and {} among them: give more of the id",
             text.toStdString(), begins.size(), begins[0].id.toStdString(), begins[1].id.toStdString());
}

}  // namespace loom
