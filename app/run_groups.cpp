#include "app/run_groups.h"

#include <QObject>
#include <QRegularExpression>
#include <QSet>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace loom {
namespace {

// What only the run by itself says: it has to be whole.
QString ownReason(const RunRecord& run) {
  switch (run.state) {
    case RunState::queued:
      return QObject::tr("queued");
    case RunState::starting:
    case RunState::running:
    case RunState::stopping:
      return QObject::tr("running");
    case RunState::stopped:
      return QObject::tr("stopped");
    case RunState::failed:
      return QObject::tr("failed");
    case RunState::finished:
      break;
  }
  if (run.metric.isEmpty()) return QObject::tr("nothing measured");
  if (!std::isfinite(run.loss) || !std::isfinite(run.last) || run.bestStep < 0) return QObject::tr("NaN");
  return {};
}

using Measured = std::tuple<QString, bool>;  // metric, of validation

template <class Key>
Key mostFrequent(const std::map<Key, int>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

SeedSpread seedSpreadOf(const std::vector<double>& values, Spread spread) {
  SeedSpread sample;
  const auto count = static_cast<double>(values.size());
  for (const double each : values) sample.mean += each / count;
  sample.low = sample.high = sample.mean;
  if (values.size() < 2) return sample;
  if (spread == Spread::range) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    sample.low = *low;
    sample.high = *high;
    sample.spread = *high - *low;
    return sample;
  }
  double squares = 0;
  for (const double each : values) squares += (each - sample.mean) * (each - sample.mean);
  sample.spread = std::sqrt(squares / (count - 1));
  if (spread == Spread::error) sample.spread /= std::sqrt(count);
  sample.low = sample.mean - sample.spread;
  sample.high = sample.mean + sample.spread;
  return sample;
}

std::vector<QString> whyNotAveraged(const std::vector<const RunRecord*>& runs) {
  std::vector<QString> reasons;
  std::map<Measured, int> metrics;
  for (const RunRecord* run : runs) {
    reasons.push_back(ownReason(*run));
    if (reasons.back().isEmpty()) ++metrics[{run->metric, run->metricOfValidation}];
  }
  if (metrics.empty()) return reasons;
  const Measured metric = mostFrequent(metrics);
  std::map<std::int64_t, int> steps;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!reasons[i].isEmpty()) continue;
    if (Measured{runs[i]->metric, runs[i]->metricOfValidation} != metric)
      reasons[i] =
          runs[i]->metric == std::get<0>(metric) ? QObject::tr("other validation") : QObject::tr("other metric");
    else
      ++steps[runs[i]->step];
  }
  const std::int64_t step = mostFrequent(steps);
  QSet<QString> seeds;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!reasons[i].isEmpty()) continue;
    const QString seed = seedOf(*runs[i]);
    if (runs[i]->step != step)
      reasons[i] = QObject::tr("other length");
    else if (!seed.isEmpty() && seeds.contains(seed))
      reasons[i] = QObject::tr("same seed");
    else
      seeds.insert(seed);
  }
  return reasons;
}

bool isSeedSetting(const QString& key) {
  return key == "seed" || key.endsWith(".seed");
}

QString seedOf(const RunRecord& run) {
  const auto seed = run.settings.find("seed");
  return seed == run.settings.end() ? QString() : QString::fromStdString(seed->dump());
}

QString nameWithoutSeed(const QString& name) {
  static const QRegularExpression kSeed(R"(-(?:seed|s)\d+(-\d+)?$)");
  return QString(name).remove(kSeed);
}

}  // namespace loom
