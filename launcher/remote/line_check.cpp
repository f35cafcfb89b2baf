// The check of a host, over its line: connection, programs, limits and room, and a real start of all ranks.
#include <QDateTime>
#include <QRandomGenerator>

#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/base/json.h"
#include "launcher/remote/launch_order.h"
#include "launcher/remote/line_worker.h"

namespace loom {
namespace {

constexpr qsizetype kMostOutput = 4 << 20;

}  // namespace

void LineWorker::say(const CheckLine& line) {
  toLine([line](HostLine& there) { Q_EMIT there.checkLine(line); });
}

CheckWish LineWorker::wish() const {
  return {.host = m_host,
          .bytesNeeded = m_bytesNeeded,
          .program = m_program,
          .base = m_facts.base,
          .clockAhead = m_facts.clockAhead};
}

// What the check waits for next; a host may be busy, but not for ever.
void LineWorker::await(const QString& what) {
  m_awaited = what;
  m_patience.start(m_options.times.checkMs);
}

void LineWorker::giveUpCheck() {
  say({.group = "Programs",
       .name = "Answer",
       .status = CheckLine::Status::failed,
       .finding = QStringLiteral("no answer within %1 s: %2").arg(m_options.times.checkMs / 1000).arg(m_awaited),
       .why = QStringLiteral("It says that it is busy. Often a file server hangs, or a program that it asks."),
       .remedy = QStringLiteral("uptime; ps -eo pid,stat,wchan:20,args | awk '$2 ~ /D/'; df -h %1").arg(m_facts.base)});
  finishCheck();
}

void LineWorker::check(qint64 bytesNeeded) {
  m_bytesNeeded = bytesNeeded;
  m_checking = true;
  m_installed = false;  // what is found damaged now is brought anew, once
  if (!m_agent) return open(Questions::Mode::mayAsk);
  checkConnection();
  if (!m_facts.engine.isEmpty()) checkMachine();  // else it greets just now, and goes on from there
}

void LineWorker::checkConnection() {
  say({.group = "Connection",
       .name = "SSH",
       .finding = QStringLiteral("connected ") + m_facts.method,
       .milliseconds = m_facts.connectMs});
  if (!m_facts.fingerprint.isEmpty())
    say({.group = "Connection",
         .name = "Host key",
         .finding = QStringLiteral("matches known_hosts, ") + m_facts.fingerprint});
  if (!m_facts.jumps.isEmpty())
    say({.group = "Connection", .name = "Jump host", .finding = m_facts.jumps + QStringLiteral(" answers")});
  if (!m_facts.warning.isEmpty())
    say({.group = "Connection",
         .name = "Configuration",
         .status = CheckLine::Status::doubtful,
         .finding = m_facts.warning,
         .why = QStringLiteral("The connection may go another way than with ssh itself."),
         .remedy = QStringLiteral("ssh -G ") + m_host.address});
}

void LineWorker::checkMachine() {
  await(QStringLiteral("what it is and has"));
  m_agent->ask(
      {{"verb", "facts"}, {"need", m_bytesNeeded}, {"libraries", m_host.libraries.toStdString()}},
      [this](const Json& facts, const QByteArray&) {
        if (!m_checking) return;
        m_patience.stop();
        const QString damaged = QString::fromStdString(textIn(facts, "damaged"));
        if (!damaged.isEmpty() && mayInstall()) return mend();
        CheckLine engine{.group = "Programs", .name = "Engine", .finding = m_facts.engine};
        engine.finding += m_options.program.isEmpty() ? QStringLiteral(", verified by hash in %1").arg(m_facts.base)
                                                      : QStringLiteral(", ") + m_program;
        if (!damaged.isEmpty()) {
          engine.status = CheckLine::Status::failed;
          engine.finding = damaged;
          engine.why = QStringLiteral("It was brought anew, and is damaged again: the disk there does not keep it.");
          engine.remedy = QStringLiteral("df -h %1; dmesg | tail").arg(m_facts.base);
        }
        if (facts.value("ok", false)) say(engine);
        if (!facts.value("ok", false)) {
          say({.group = "Programs",
               .name = "Engine",
               .status = CheckLine::Status::failed,
               .finding = QString::fromStdString(facts.value("message", std::string()))});
          return finishCheck();
        }
        bool possible = true;
        for (const CheckLine& each : judgeFacts(facts, wish())) {
          say(each);
          possible &= each.status != CheckLine::Status::failed || each.group != "Programs";
        }
        if (possible)
          probe();
        else
          finishCheck();
      });
}

void LineWorker::probe() {
  m_probe = std::make_unique<Probe>();
  m_probe->id =
      fmt::format("check-{}-{:04x}", QDateTime::currentSecsSinceEpoch(), QRandomGenerator::global()->bounded(0x10000));
  m_probe->clock.start();
  const QString id = QString::fromStdString(m_probe->id);
  JobFile job;
  job.start = 1;
  Json launch = launchOrder(m_host, job);
  launch["probe"] = true;
  Json request = {{"verb", "start"}, {"job", m_probe->id}, {"launch", launch}};
  if (m_host.kind == HostKind::slurm)
    request["script"] = slurmScript(m_host, id, job, m_program, m_facts.base + "/runs/" + id).toStdString();
  await(QStringLiteral("a real start of its ranks"));
  m_agent->ask(request, [this, id = m_probe->id](const Json& header, const QByteArray&) {
    if (!m_probe || m_probe->id != id) return;
    if (m_host.kind == HostKind::slurm) m_patience.stop();  // its queue may take its time
    if (!header.value("ok", false)) {
      m_probe->output = QByteArray::fromStdString(header.value("message", std::string()));
      takeProbe({{"job", id}, {"end", true}, {"state", {{"code", -1}}}}, {});
      return;
    }
    m_agent->ask({{"verb", "tail"}, {"job", id}, {"events", 0}, {"log", 0}}, [](const Json&, const QByteArray&) {});
  });
}

bool LineWorker::takeProbe(const Json& header, const QByteArray& bytes) {
  if (!m_probe || header.value("job", std::string()) != m_probe->id) return false;
  if (header.contains("log") && m_probe->output.size() < kMostOutput) m_probe->output += bytes;
  if (!header.value("end", false)) return true;
  const int code = header["state"].value("code", -1);
  for (const CheckLine& each : judgeProbe(QString::fromStdString(shownText(m_probe->output.toStdString(), kMostOutput)),
                                          code, static_cast<double>(m_probe->clock.elapsed()), wish()))
    say(each);
  try {
    if (m_transport) tidyHost(*m_transport, m_host.folder, QString::fromStdString(m_probe->id));
  } catch (const Error&) {
    // The next check removes it.
  }
  finishCheck();
  return true;
}

void LineWorker::tidy(const QStringList& remove) {
  QVector<HostRemain> remains;
  QString fault;
  try {
    if (!m_agent || m_facts.engine.isEmpty()) throw SshError(SshFault::unreachable, "there is no connection now");
    removeFromHost(*m_transport, m_host.folder, remove);
    remains = tidyHost(*m_transport, m_host.folder);
    for (HostRemain& each : remains) each.isUsed = !m_bundle.file.isEmpty() && each.path == "engine/" + m_bundle.id();
  } catch (const Error& error) {
    fault = QString::fromStdString(error.what());
  }
  toLine([remains, fault](HostLine& line) { Q_EMIT line.remains(remains, fault); });
}

void LineWorker::finishCheck() {
  m_patience.stop();
  m_probe.reset();
  if (!std::exchange(m_checking, false)) return;
  toLine([](HostLine& there) { Q_EMIT there.checkDone(); });
}

}  // namespace loom
