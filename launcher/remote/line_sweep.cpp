// The links of a host, measured over its line: `loom bench allreduce` on its ranks, a job like any other but for what
// it computes, whose lines are told as they come.
#include <QDateTime>
#include <QRandomGenerator>

#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/base/json.h"
#include "launcher/remote/launch_order.h"
#include "launcher/remote/line_worker.h"

namespace loom {
namespace {

constexpr qsizetype kMostOfSweep = 4 << 20, kLongestSweepWords = 600;

}  // namespace

void LineWorker::measureLinks(int ranks, double seconds) {
  // The one before is on its way out.
  if (m_sweep && m_sweep->stopped) m_sweepAgain = {ranks, seconds};
  if (m_sweep) return;
  m_sweep = std::make_unique<Sweep>();
  m_sweep->ranks = ranks;
  m_sweep->seconds = seconds;
  if (!m_agent || m_facts.engine.isEmpty()) return open(Questions::Mode::mayAsk);
  startSweep();
}

void LineWorker::startSweep() {
  if (!m_sweep || !m_sweep->id.empty()) return;
  m_sweep->id =
      fmt::format("links-{}-{:04x}", QDateTime::currentSecsSinceEpoch(), QRandomGenerator::global()->bounded(0x10000));
  const std::string id = m_sweep->id;
  const QString name = QString::fromStdString(id);
  try {
    Host host = m_host;
    // This machine says nothing of ranks.
    if (host.kind == HostKind::mpirun && host.places.isEmpty()) host.ranks = std::max(host.ranks, m_sweep->ranks);
    JobFile job;
    job.start = 1;
    job.ranks = m_sweep->ranks;
    Json launch = launchOrder(host, job);
    launch["probe"] = true;
    launch["sweep"] = m_sweep->seconds;
    Json request = {{"verb", "start"}, {"job", id}, {"launch", launch}};
    if (host.kind == HostKind::slurm)
      request["script"] = slurmScript(host, name, job, m_program, m_facts.base + "/runs/" + name).toStdString();
    m_agent->ask(request, [this, id](const Json& header, const QByteArray&) {
      if (!m_sweep || m_sweep->id != id) return;
      if (!header.value("ok", false))
        return endSweep(QString::fromStdString(header.value("message", std::string("the host does not say why"))));
      m_agent->ask({{"verb", "tail"}, {"job", id}, {"events", 0}, {"log", 0}}, [](const Json&, const QByteArray&) {});
    });
  } catch (const Error& error) {
    endSweep(QString::fromStdString(error.message()));
  }
}

// The job goes by itself; nothing of it is told any more.
void LineWorker::stopMeasuring() {
  m_sweepAgain.reset();
  if (!m_sweep) return;
  if (m_agent && !m_sweep->id.empty())
    m_agent->ask({{"verb", "cancel"}, {"job", m_sweep->id}, {"how", "kill"}}, [](const Json&, const QByteArray&) {});
  m_sweep->stopped = true;
  if (!m_agent || m_sweep->id.empty()) endSweep({});
}

bool LineWorker::takeSweep(const Json& header, const QByteArray& bytes) {
  if (!m_sweep || m_sweep->id.empty() || header.value("job", std::string()) != m_sweep->id) return false;
  if (header.contains("log") && !m_sweep->stopped && m_sweep->taken < kMostOfSweep) {
    m_sweep->rest += bytes;
    m_sweep->taken += bytes.size();
    for (qsizetype end; (end = m_sweep->rest.indexOf('\n')) >= 0;) {
      const QByteArray line = m_sweep->rest.left(end);
      m_sweep->rest.remove(0, end + 1);
      if (line.startsWith('{'))
        toLine([line](HostLine& there) { Q_EMIT there.linkLine(line); });
      else if (m_sweep->words.size() < kLongestSweepWords)
        m_sweep->words += line + '\n';
    }
  }
  if (!header.value("end", false)) return true;
  const int code = header.contains("state") ? header["state"].value("code", -1) : -1;
  QString fault;
  if (code != 0 && !m_sweep->stopped) {
    const std::string said = (m_sweep->words + m_sweep->rest).trimmed().toStdString();
    fault = said.empty() ? QStringLiteral("the ranks ended with code %1 and said nothing").arg(code)
                         : QString::fromStdString(shownText(said, static_cast<std::size_t>(kLongestSweepWords)));
  }
  try {
    if (m_transport) tidyHost(*m_transport, m_host.folder, QString::fromStdString(m_sweep->id));
  } catch (const Error&) {
    // The next check removes it.
  }
  endSweep(fault);
  return true;
}

void LineWorker::endSweep(const QString& fault) {
  const auto ended = std::exchange(m_sweep, nullptr);
  if (!ended) return;
  if (!ended->stopped) toLine([fault](HostLine& there) { Q_EMIT there.linksDone(fault); });
  if (const auto again = std::exchange(m_sweepAgain, std::nullopt)) measureLinks(again->first, again->second);
}

}  // namespace loom
