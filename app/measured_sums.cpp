#include "app/measured_sums.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <algorithm>
#include <cmath>

#include "app/preferences.h"
#include "engine/base/json.h"
#include "launcher/hosts/host.h"

namespace loom {
namespace {

constexpr int kMostRanks = 1 << 20, kMostCurves = 64, kMostSizes = 64;
constexpr qsizetype kLongestWay = 60;

double sumNumber(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

QString sumName(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()).left(kLongestWay)
                                                   : QString();
}

std::optional<MeasuredLink> sumLink(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return {};
  const MeasuredLink link{sumNumber(*found, "delay"), sumNumber(*found, "bandwidth")};
  return link.delay > 0 && link.bandwidth > 0 ? std::optional(link) : std::nullopt;
}

QJsonObject linkJson(const MeasuredLink& link) {
  return {{"delay", link.delay}, {"bandwidth", link.bandwidth}};
}

Json engineJson(const QJsonObject& json) {
  return Json::parse(QJsonDocument(json).toJson(QJsonDocument::Compact).toStdString(), nullptr, false);
}

// Where the lines of two ways meet between two sizes, both drawn on logarithmic axes.
double meeting(const SumCurve::Point& a0, const SumCurve::Point& a1, const SumCurve::Point& b0,
               const SumCurve::Point& b1) {
  const double x0 = std::log(a0.bytes), x1 = std::log(a1.bytes);
  const double before = std::log(a0.seconds / b0.seconds), after = std::log(a1.seconds / b1.seconds);
  const double share = before == after ? 0.5 : std::clamp(before / (before - after), 0.0, 1.0);
  return std::exp(x0 + share * (x1 - x0));
}

}  // namespace

void MeasuredSums::take(const Json& line) {
  if (!line.is_object()) return;
  if (line.contains("ranks")) {
    ranks = static_cast<int>(std::clamp(sumNumber(line, "ranks"), 0.0, double{kMostRanks}));
    perHost = static_cast<int>(std::clamp(sumNumber(line, "per_host"), 0.0, double{kMostRanks}));
    const auto all = line.find("sizes"), ways = line.find("reductions");
    sizes = all != line.end() && all->is_array() ? static_cast<int>(std::min<std::size_t>(all->size(), kMostSizes)) : 0;
    within = sumLink(line, "within");
    between = sumLink(line, "between");
    curves.clear();
    if (ways != line.end() && ways->is_array())
      for (const Json& each : *ways)
        if (const QString name = each.is_object() ? sumName(each, "name") : QString();
            !name.isEmpty() && curves.size() < kMostCurves)
          curves.push_back({name, sumName(each, "label"), {}});
    return;
  }
  const SumCurve::Point point{sumNumber(line, "bytes"), sumNumber(line, "seconds")};
  const QString name = sumName(line, "reduction");
  const auto curve =
      std::find_if(curves.begin(), curves.end(), [&](const SumCurve& each) { return each.name == name; });
  if (curve == curves.end() || !(point.bytes > 0) || !(point.seconds > 0) || curve->points.size() >= kMostSizes) return;
  if (!curve->points.empty() && curve->points.back().bytes >= point.bytes) return;
  curve->points.push_back(point);
}

int MeasuredSums::taken() const {
  int all = 0;
  for (const SumCurve& each : curves) all += static_cast<int>(each.points.size());
  return all;
}

int MeasuredSums::expected() const {
  return sizes * static_cast<int>(curves.size());
}

double MeasuredSums::busBandwidth(const SumCurve::Point& point) const {
  return ranks > 0 ? point.bytes / point.seconds * 2 * (ranks - 1) / ranks : 0;
}

std::vector<SumCrossing> MeasuredSums::crossings() const {
  std::vector<SumCrossing> all;
  std::size_t whole = curves.empty() ? 0 : curves.front().points.size();
  for (const SumCurve& each : curves) whole = std::min(whole, each.points.size());
  const auto fastest = [&](std::size_t at) {
    return std::min_element(curves.begin(), curves.end(), [at](const SumCurve& a, const SumCurve& b) {
      return a.points[at].seconds < b.points[at].seconds;
    });
  };
  for (std::size_t i = 1; i < whole; ++i) {
    const auto before = fastest(i - 1), now = fastest(i);
    if (before == now) continue;
    all.push_back({meeting(before->points[i - 1], before->points[i], now->points[i - 1], now->points[i]), before->label,
                   now->label});
  }
  return all;
}

QString machinesOf(const Host* host) {
  if (!host) return QStringLiteral("this machine");
  QStringList places{host->address};
  if (host->kind == HostKind::slurm)
    places << QStringLiteral("%1 of %2 x %3")
                  .arg(host->slurm.partition)
                  .arg(host->slurm.nodes)
                  .arg(host->slurm.ranksPerNode);
  for (const RankPlace& each : host->places) places << QStringLiteral("%1:%2").arg(each.name).arg(each.ranks);
  if (host->places.isEmpty()) places << QString::number(host->ranks);
  return places.join(' ');
}

MeasuredSums keptSums(const Preferences& preferences, const QString& host) {
  MeasuredSums sums;
  const QJsonObject kept = preferences.linksOf(host);
  sums.take(engineJson(kept["head"].toObject()));
  for (const QJsonValue& each : kept["lines"].toArray()) sums.take(engineJson(each.toObject()));
  sums.at = kept["at"].toDouble();
  sums.machines = kept["machines"].toString();
  return sums;
}

void keepSums(Preferences& preferences, const QString& host, const MeasuredSums& sums) {
  QJsonArray ways, sizes, lines;
  for (const SumCurve& each : sums.curves) {
    ways.append(QJsonObject{{"name", each.name}, {"label", each.label}});
    for (const SumCurve::Point& point : each.points)
      lines.append(QJsonObject{{"reduction", each.name}, {"bytes", point.bytes}, {"seconds", point.seconds}});
  }
  for (int i = 0; i < sums.sizes; ++i) sizes.append(i);
  QJsonObject head{{"ranks", sums.ranks}, {"per_host", sums.perHost}, {"sizes", sizes}, {"reductions", ways}};
  if (sums.within) head["within"] = linkJson(*sums.within);
  if (sums.between) head["between"] = linkJson(*sums.between);
  preferences.setLinksOf(host, {{"at", sums.at}, {"machines", sums.machines}, {"head", head}, {"lines", lines}});
}

QStringList linkArguments(const Preferences& preferences, const QString& id, const Host* host) {
  const MeasuredSums sums = keptSums(preferences, id);
  QStringList words;
  if (sums.machines != machinesOf(host)) return words;
  const auto add = [&](const char* name, const std::optional<MeasuredLink>& link) {
    if (link)
      words << QLatin1String(name) << QString::number(link->delay * 1e6, 'g', 6)
            << QString::number(link->bandwidth * 8e-6, 'g', 6);
  };
  add("--within", sums.within);
  add("--between", sums.between);
  return words;
}

}  // namespace loom
