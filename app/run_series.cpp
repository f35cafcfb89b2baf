#include "app/run_series.h"

#include <QObject>
#include <map>

#include "app/run_display.h"
#include "app/run_metrics.h"
#include "engine/run/event_series.h"

namespace loom {
namespace {

QString metricOf(const QString& series) {
  return series.section('.', 1);
}

// Whose number a series is: "training", "validation", "epoch" of a metric or the loss, else "".
QString partOf(const QString& series) {
  const QString part = series.section('.', 0, 0);
  return part == "training" || part == "validation" || part == "epoch" ? part : QString();
}

}  // namespace

QString titleOfSeries(const QString& series) {
  static const std::map<QString, QString> known = {
      {series::kRate, QObject::tr("Learning rate")},
      {series::kMilliseconds, QObject::tr("Time per step")},
      {series::kDataMilliseconds, QObject::tr("Waiting for data")},
      {series::kExchangeMilliseconds, QObject::tr("Waiting for other ranks")},
      {series::kNoiseScale, QObject::tr("Noise scale")},
      {series::kSkipped, QObject::tr("Skipped steps")},
      {"step.gradient_norm", QObject::tr("Gradient norm")},
      {"step.trust_ratio_least", QObject::tr("Trust ratio, least")},
      {"step.trust_ratio_median", QObject::tr("Trust ratio, median")},
      {series::kLossScale, QObject::tr("Loss scale")},
  };
  if (const auto found = known.find(series); found != known.end()) return found->second;
  const QString part = partOf(series), name = titleOfMetric(metricOf(series));
  if (part == "training") return QObject::tr("Training %1").arg(name.toLower());
  if (part == "validation") return QObject::tr("Validation %1").arg(name.toLower());
  if (part == "epoch") return QObject::tr("%1, mean of an epoch").arg(name);
  return name.isEmpty() ? titleOfMetric(series) : name;
}

SeriesFace faceOfSeries(const std::string& series, const RunMetrics& metrics, const RunRecord& run) {
  const QString name = QString::fromStdString(series);
  SeriesFace face{.title = titleOfSeries(name)};
  const QString part = partOf(name), metric = metricOf(name);
  if (part == "validation" || part == "epoch") face.line = LineKind::plain;
  if (!part.isEmpty()) {
    face.value = metric == "loss" ? ValueKind::loss : metrics.kind(run, metric);
    face.better = metric == "loss" ? Better::lower : metrics.better(run, metric);
  } else if (series == series::kRate) {
    face.value = ValueKind::rate;
    face.line = LineKind::plain;
  } else if (metric == "ms" || metric.endsWith("_ms")) {
    face.value = ValueKind::milliseconds;
  } else if (metric == "memory" || metric.endsWith("_bytes")) {
    face.value = ValueKind::bytes;
  }
  return face;
}

bool isCurve(const std::string& series) {
  return series.rfind("axis.", 0) != 0;
}

}  // namespace loom
