#include "app/host_checks.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonObject>
#include <algorithm>

#include "app/preferences.h"

namespace loom {
namespace {

using Line = CheckLine::Status;
constexpr int kSecondMs = 1000;

double now() {
  return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
}

QJsonObject toJson(const CheckLine& line) {
  return {{"group", line.group},     {"name", line.name}, {"status", static_cast<int>(line.status)},
          {"finding", line.finding}, {"why", line.why},   {"remedy", line.remedy},
          {"ms", line.milliseconds}};
}

CheckLine fromJson(const QJsonObject& json) {
  return {.group = json["group"].toString(),
          .name = json["name"].toString(),
          .status = static_cast<Line>(std::clamp(json["status"].toInt(), 0, 2)),
          .finding = json["finding"].toString(),
          .why = json["why"].toString(),
          .remedy = json["remedy"].toString(),
          .milliseconds = json["ms"].toDouble(-1)};
}

Host thisMachine() {
  Host host;
  host.name = host.address = QStringLiteral("this machine");
  return host;
}

}  // namespace

int HostReport::count(Line status) const {
  return static_cast<int>(
      std::count_if(lines.begin(), lines.end(), [&](const CheckLine& each) { return each.status == status; }));
}

bool HostReport::reached() const {
  return std::any_of(lines.begin(), lines.end(), [](const CheckLine& each) { return each.group != "Connection"; });
}

HostChecks::HostChecks(HostLines& lines, LineOptions here, Preferences& preferences, QObject* parent)
    : QObject(parent), m_lines(lines), m_hereOptions(std::move(here)), m_preferences(preferences) {
  load({});
  for (const Host& each : lines.store().hosts()) load(each.id);
  connect(&lines, &HostLines::stateChanged, this, [this](const QString& host) {
    m_touched.insert(host);
    m_second.start();
    Q_EMIT changed(host);
  });
  connect(&lines.store(), &HostStore::hostRemoved, this, [this](const QString& host) {
    m_touched.remove(host);
    HostReport& report = m_reports[host];
    if (report.checking) report = {};
  });
  // The seconds until the next try are counted down where they are shown.
  m_second.setInterval(kSecondMs);
  connect(&m_second, &QTimer::timeout, this, [this] {
    bool waits = false;
    for (const QString& host : std::as_const(m_touched))
      if (HostLine* const line = touched(host); line && line->state() == LineState::waiting) {
        waits = true;
        Q_EMIT changed(host);
      }
    if (!waits) m_second.stop();
  });
}

HostChecks::~HostChecks() = default;

HostLine* HostChecks::touched(const QString& host) const {
  if (host.isEmpty()) return m_here.get();
  return m_touched.contains(host) ? m_lines.line(host) : nullptr;
}

HostLine* HostChecks::line(const QString& host) {
  HostLine* line = nullptr;
  if (host.isEmpty()) {
    if (!m_here) m_here = std::make_unique<HostLine>(thisMachine(), m_hereOptions);
    line = m_here.get();
  } else {
    line = m_lines.line(host);
    m_touched.insert(host);
  }
  if (!line) return nullptr;
  line->disconnect(this);
  connect(line, &HostLine::checkLine, this, [this, host](const CheckLine& each) { take(host, each); });
  connect(line, &HostLine::checkDone, this, [this, host] { finish(host); });
  return line;
}

const HostReport& HostChecks::report(const QString& host) const {
  static const HostReport none;
  const auto found = m_reports.find(host);
  return found == m_reports.end() ? none : *found;
}

void HostChecks::check(const QString& host, const std::function<qint64()>& bytesNeeded) {
  HostReport& report = m_reports[host];
  HostLine* const line = this->line(host);
  if (!line || report.checking) return;
  // A check that got no further than the connection does not push out the last one that did.
  if (report.reached()) {
    report.before = report.lines;
    report.beforeAt = report.at;
  }
  report.lines.clear();
  report.checking = true;
  report.connected = line->state() == LineState::online;
  m_clocks[host].start();
  if (!bytesNeeded)
    line->check(0);
  else
    m_counts[host].ask([this, host, bytesNeeded](const std::atomic<bool>&) -> NewestTask::Answer {
      return [this, host, bytes = bytesNeeded()] {
        // Its host may have been taken from the list meanwhile.
        if (HostLine* const there = touched(host); there && this->report(host).checking) there->check(bytes);
      };
    });
  Q_EMIT changed(host);
}

void HostChecks::take(const QString& host, const CheckLine& line) {
  HostReport& report = m_reports[host];
  if (!report.checking) return;
  // How this machine talks to itself is nobody's worry, unless it fails.
  if (host.isEmpty() && line.group == "Connection" && line.status == Line::well) return;
  const auto same = std::find_if(report.lines.begin(), report.lines.end(), [&](const CheckLine& each) {
    return each.group == line.group && each.name == line.name;
  });
  if (same == report.lines.end())
    report.lines << line;
  else if (line.status >= same->status)
    *same = line;
  Q_EMIT changed(host);
}

void HostChecks::finish(const QString& host) {
  HostReport& report = m_reports[host];
  if (!report.checking) return;
  report.checking = false;
  report.at = now();
  report.took = static_cast<double>(m_clocks[host].elapsed()) / 1000;
  if (HostLine* const line = touched(host); line && report.reached()) {
    if (!report.connected) report.took -= line->facts().answerMs / 1000;  // a person looked for a password
    report.engine = line->facts().engine;
    report.base = line->facts().base;
  }
  keep(host);
  Q_EMIT changed(host);
}

void HostChecks::load(const QString& host) {
  const QJsonObject json = m_preferences.checkOf(host);
  HostReport& report = m_reports[host];
  report.at = json["at"].toDouble();
  report.beforeAt = json["before_at"].toDouble();
  report.took = json["took"].toDouble();
  report.engine = json["engine"].toString();
  report.base = json["base"].toString();
  for (const QJsonValue& each : json["lines"].toArray()) report.lines << fromJson(each.toObject());
  for (const QJsonValue& each : json["before"].toArray()) report.before << fromJson(each.toObject());
}

void HostChecks::keep(const QString& host) const {
  const HostReport& report = this->report(host);
  QJsonArray lines, before;
  for (const CheckLine& each : report.lines) lines.append(toJson(each));
  for (const CheckLine& each : report.before) before.append(toJson(each));
  m_preferences.setCheckOf(host, {{"at", report.at},
                                  {"before_at", report.beforeAt},
                                  {"took", report.took},
                                  {"engine", report.engine},
                                  {"base", report.base},
                                  {"lines", lines},
                                  {"before", before}});
}

QString HostChecks::sentence(const QString& host) const {
  const HostLine* const line = touched(host);
  return line && (line->state() == LineState::waiting || line->state() == LineState::needsPerson) ? line->sentence()
                                                                                                  : QString();
}

HostSign HostChecks::sign(const QString& host) const {
  const HostReport& report = this->report(host);
  if (const HostLine* const line = touched(host)) {
    const qint64 wait = std::max<qint64>(0, (line->nextTry() - QDateTime::currentMSecsSinceEpoch() + 999) / 1000);
    switch (line->state()) {
      case LineState::connecting:
        return {Status::running, tr("Connecting")};
      case LineState::asking:
        return {Status::running, tr("Waits for your answer")};
      case LineState::installing:
        return {Status::running, line->sentence()};
      case LineState::waiting:
        // Only what was connected once can be connected again.
        if (line->facts().engine.isEmpty())
          return {Status::reconnecting, wait > 0 ? tr("Not reached, next try in %1 s").arg(wait) : tr("Not reached")};
        return {Status::reconnecting, wait > 0 ? tr("Reconnecting in %1 s").arg(wait) : tr("Reconnecting")};
      case LineState::needsPerson:
        return {Status::failed, tr("Not connected, needs you")};
      case LineState::offline:
      case LineState::online:
        break;
    }
  }
  if (report.checking) return {Status::running, tr("Checking")};
  if (report.lines.isEmpty())
    return host.isEmpty() ? HostSign{Status::ok, tr("Ready")} : HostSign{Status::queued, tr("Not checked yet")};
  if (const int failed = report.count(Line::failed))
    return {Status::failed, failed == 1 ? tr("1 check failed") : tr("%1 checks failed").arg(failed)};
  if (const int doubtful = report.count(Line::doubtful))
    return {Status::warning, doubtful == 1 ? tr("Ready, 1 warning") : tr("Ready, %1 warnings").arg(doubtful)};
  return {Status::ok, tr("Ready")};
}

QVector<CheckLine> HostChecks::expected(const Host* host) {
  QVector<CheckLine> lines;
  const auto add = [&](const char* group, const char* name) {
    lines << CheckLine{.group = QLatin1String(group), .name = QLatin1String(name)};
  };
  const bool slurm = host && host->kind == HostKind::slurm;
  if (host) add("Connection", "SSH"), add("Connection", "Host key");
  for (const char* name : {"Engine", "Open MPI"}) add("Programs", name);
  if (slurm) add("Programs", "Slurm");
  for (const char* name : {"Accelerators", slurm ? "Compute nodes" : "Real start"}) add("Programs", name);
  for (const char* name : {"Open files", "Disk", "Quota", "Shared memory", "Clocks"}) add("Limits and room", name);
  if (host && host->totalRanks() > 1) {
    add("Network, measured", host->places.size() > 1 || slurm ? "Between hosts" : "Between ranks");
    add("Network, measured", "All-reduce");
  }
  return lines;
}

}  // namespace loom
