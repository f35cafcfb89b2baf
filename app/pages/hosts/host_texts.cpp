#include "app/pages/hosts/host_texts.h"

#include <QCoreApplication>
#include <QProcess>
#include <QRegularExpression>
#include <algorithm>

#include "app/host_checks.h"
#include "app/run_display.h"

namespace loom {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("hosts", text);
}

// "a01 to a04" where they count up, else the first few.
QString namesOf(const QVector<RankPlace>& places) {
  if (places.size() == 1) return places[0].name;
  static const QRegularExpression numbered("^(.*?)(\\d+)$");
  bool counts = places.size() > 2;
  for (qsizetype i = 1; counts && i < places.size(); ++i) {
    const auto before = numbered.match(places[i - 1].name), now = numbered.match(places[i].name);
    counts = before.hasMatch() && now.hasMatch() && before.captured(1) == now.captured(1) &&
             before.captured(2).toInt() + 1 == now.captured(2).toInt();
  }
  if (counts) return tr("%1 to %2").arg(places.first().name, places.last().name);
  QStringList names;
  for (const RankPlace& each : places.mid(0, 4)) names << each.name;
  return names.join(", ") + (places.size() > 4 ? tr(" and %1 more").arg(places.size() - 4) : QString());
}

}  // namespace

QString ranksText(int ranks) {
  return ranks == 1 ? tr("1 rank") : tr("%1 ranks").arg(ranks);
}

QString kindText(const Host& host) {
  if (host.kind == HostKind::slurm)
    return host.slurm.partition.isEmpty() ? tr("Slurm") : tr("Slurm, partition %1").arg(host.slurm.partition);
  const qsizetype hosts = std::max<qsizetype>(1, host.places.size());
  return hosts == 1 ? tr("mpirun on 1 host") : tr("mpirun on %1 hosts").arg(hosts);
}

QString addressText(const Host& host) {
  return (host.user.isEmpty() ? QString() : host.user + '@') + host.address +
         (host.port ? QStringLiteral(":%1").arg(host.port) : QString());
}

QString placeText(const Host& host, const HostReport& report) {
  QString text = addressText(host);
  for (const CheckLine& each : report.lines)
    if (each.group == "Connection" && each.name == "Jump host")
      text += tr(" by way of %1").arg(each.finding.section(' ', 0, 0));
  if (host.kind == HostKind::slurm) {
    text += ", " + kindText(host) +
            tr(", %1 × %2")
                .arg(host.slurm.nodes == 1 ? tr("1 node") : tr("%1 nodes").arg(host.slurm.nodes),
                     ranksText(host.slurm.ranksPerNode));
    return text;
  }
  if (host.places.isEmpty()) return text + tr(", mpirun there, %1").arg(ranksText(host.ranks));
  const bool even = std::all_of(host.places.begin(), host.places.end(),
                                [&](const RankPlace& each) { return each.ranks == host.places[0].ranks; });
  text += tr(", mpirun on %1, ").arg(namesOf(host.places));
  return text + (even && host.places.size() > 1 ? tr("%1 each").arg(ranksText(host.places[0].ranks))
                                                : ranksText(host.totalRanks()));
}

QString checkedText(const HostReport& report) {
  if (report.checking) return tr("Checking; every line stands here as soon as it is known.");
  if (report.at == 0) return tr("Not checked yet.");
  QString text = tr("Checked %1, took %2.").arg(formatMoment(report.at), formatDuration(report.took));
  if (!report.engine.isEmpty())
    text += report.base.isEmpty() ? tr(" Engine %1.").arg(report.engine)
                                  : tr(" Engine %1 in %2.").arg(report.engine, report.base);
  return text;
}

QString countsText(const HostReport& report) {
  QStringList parts;
  if (const int failed = report.count(CheckLine::Status::failed)) parts << tr("%1 failed").arg(failed);
  if (const int doubtful = report.count(CheckLine::Status::doubtful))
    parts << (doubtful == 1 ? tr("1 warning") : tr("%1 warnings").arg(doubtful));
  if (const int well = report.count(CheckLine::Status::well)) parts << tr("%1 passed").arg(well);
  return parts.join(", ");
}

QString joinWords(const QStringList& words) {
  QStringList quoted;
  for (const QString& each : words) {
    // As QProcess::splitCommand reads it: three quotes are one.
    QString word = each;
    word.replace('"', QStringLiteral("\"\"\""));
    quoted << (word.isEmpty() || word.contains(' ') ? '"' + word + '"' : word);
  }
  return quoted.join(' ');
}

QStringList splitWords(const QString& text) {
  return QProcess::splitCommand(text);
}

QString joinPlaces(const QVector<RankPlace>& places) {
  QStringList lines;
  for (const RankPlace& each : places) lines << QStringLiteral("%1 %2").arg(each.name).arg(each.ranks);
  return lines.join('\n');
}

QVector<RankPlace> splitPlaces(const QString& text) {
  QVector<RankPlace> places;
  for (const QString& line : text.split('\n')) {
    const QStringList words = line.simplified().split(' ', Qt::SkipEmptyParts);
    if (words.isEmpty()) continue;
    bool number = words.size() < 2;
    const int ranks = words.size() < 2 ? 1 : words.last().toInt(&number);
    // What is no name with a number stays one name, which problems() then complains about.
    if (number)
      places.append({words.size() < 2 ? words[0] : words.mid(0, words.size() - 1).join(' '), ranks});
    else
      places.append({words.join(' '), 1});
  }
  return places;
}

}  // namespace loom
