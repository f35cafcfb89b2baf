#include "app/pages/training/rank_shares.h"

#include <QObject>
#include <algorithm>
#include <cmath>

#include "engine/run/run_folder.h"
#include "widgets/chart/format.h"

namespace loom {
namespace {

constexpr std::size_t kMostRanks = 65536;
constexpr qsizetype kLongestHost = 200;

const Json* listAt(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_array() ? &*found : nullptr;
}

double numberAt(const Json& list, std::size_t index) {
  if (index >= list.size() || !list[index].is_number()) return 0;
  const double value = list[index].get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

void takeRanks(RankShares& shares, const Json& body) {
  const Json *computing = listAt(body, "computing_ms"), *exchanging = listAt(body, "exchanging_ms"),
             *waiting = listAt(body, "waiting_ms"), *data = listAt(body, "data_ms"), *hosts = listAt(body, "hosts");
  if (!computing || !exchanging || !waiting || !data) return;
  for (std::size_t i = 0; i < std::min(computing->size(), kMostRanks); ++i)
    shares.ranks.push_back({.host = {},
                            .computing = numberAt(*computing, i),
                            .exchanging = numberAt(*exchanging, i),
                            .waiting = numberAt(*waiting, i),
                            .data = numberAt(*data, i)});
  std::size_t rank = 0;
  for (std::size_t i = 0; hosts && i < hosts->size(); ++i) {
    const Json& place = (*hosts)[i];
    if (!place.is_array() || place.size() != 2 || !place[0].is_string()) return;
    const QString name = QString::fromStdString(place[0].get<std::string>()).left(kLongestHost);
    for (auto left = static_cast<std::size_t>(numberAt(place, 1)); left > 0 && rank < shares.ranks.size(); --left)
      shares.ranks[rank++].host = name;
  }
}

QString milliseconds(double value) {
  return value < 0.1 ? QObject::tr("under 0.1 ms") : formatDuration(value / 1e3);
}

}  // namespace

RankShares rankShares(const RunRecord* run, const std::vector<Event>& events) {
  RankShares shares;
  if (!run) return shares;
  shares.live = isLive(run->state);
  for (auto each = events.rbegin(); each != events.rend(); ++each) {
    if (each->kind == "ranks" && shares.ranks.empty()) {
      takeRanks(shares, each->body);
      const auto number = [&](const char* key) {
        const auto found = each->body.find(key);
        return found != each->body.end() && found->is_number() ? std::clamp(found->get<double>(), 0.0, 1e15) : 0;
      };
      shares.step = static_cast<qint64>(number("step"));
      shares.steps = static_cast<int>(std::min(number("steps"), 1e9));
    }
    if (each->kind != "started") continue;
    const auto ranks = each->body.find("ranks");
    if (ranks != each->body.end() && ranks->is_number())
      shares.told = static_cast<int>(std::clamp(ranks->get<double>(), 1.0, 1e6));
    break;  // an attempt before it may have had other ranks
  }
  if (!shares.ranks.empty()) shares.told = static_cast<int>(shares.ranks.size());
  return shares;
}

int RankShares::slowest() const {
  const auto most = std::max_element(ranks.begin(), ranks.end(),
                                     [](const RankShare& a, const RankShare& b) { return a.own() < b.own(); });
  return most == ranks.end() ? -1 : static_cast<int>(most - ranks.begin());
}

double RankShares::behind() const {
  const int last = slowest();
  if (last < 0 || ranks.size() < 2) return 0;
  const double own = ranks[static_cast<std::size_t>(last)].own();
  double others = 0;
  for (const RankShare& each : ranks) others += each.own();
  others = (others - own) / static_cast<double>(ranks.size() - 1);
  return others > 0 ? own / others - 1 : 0;
}

double RankShares::othersWait() const {
  const int last = slowest();
  if (last < 0 || ranks.size() < 2) return 0;
  double wait = -ranks[static_cast<std::size_t>(last)].waiting;
  for (const RankShare& each : ranks) wait += each.waiting;
  return std::max(0.0, wait / static_cast<double>(ranks.size() - 1));
}

QString RankShares::words() const {
  const int last = slowest();
  if (last < 0)
    return told <= 1 ? QObject::tr("One rank: it waits for nobody.")
           : live    ? QObject::tr("Told behind the eighth step.")
                     : QObject::tr("This run did not tell it.");
  const QString& host = ranks[static_cast<std::size_t>(last)].host;
  const QString name =
      host.isEmpty() ? QObject::tr("rank %1").arg(last) : QObject::tr("rank %1 on %2").arg(last).arg(host);
  if (!hasLaggard()) return QObject::tr("All keep step; the slowest is %1").arg(name);
  return QObject::tr("%1%2 is %3 behind").arg(name.left(1).toUpper(), name.mid(1), formatPercent(behind(), 0));
}

QString RankShares::consequence() const {
  if (slowest() < 0) return {};
  const QString wait = milliseconds(othersWait());
  return hasLaggard() ? QObject::tr("It sets the pace; the others wait %1 a step.").arg(wait)
                      : QObject::tr("The others wait %1 a step for one another.").arg(wait);
}

QString RankShares::wordsOf(int rank) const {
  if (rank < 0 || rank >= static_cast<int>(ranks.size())) return {};
  const RankShare& share = ranks[static_cast<std::size_t>(rank)];
  QStringList lines{share.host.isEmpty() ? QObject::tr("Rank %1").arg(rank)
                                         : QObject::tr("Rank %1 on %2").arg(rank).arg(share.host)};
  const auto line = [&](const QString& name, double ms) {
    lines << QObject::tr("%1 %2, %3")
                 .arg(name, milliseconds(ms), formatPercent(share.whole() > 0 ? ms / share.whole() : 0, 0));
  };
  line(QObject::tr("computing"), share.computing);
  line(QObject::tr("exchanging"), share.exchanging);
  line(QObject::tr("waiting"), share.waiting);
  line(QObject::tr("data"), share.data);
  return lines.join('\n');
}

}  // namespace loom
