#include "app/run_metrics.h"

#include <cmath>

namespace loom {

ValueKind RunMetrics::kind(const RunRecord& run, const QString& metric) const {
  return m_store.metrics().isShare(run, metric) ? ValueKind::accuracy : ValueKind::loss;
}

Better RunMetrics::better(const RunRecord& run, const QString& metric) const {
  return m_store.metrics().higherIsBetter(run, metric) ? Better::higher : Better::lower;
}

QString RunMetrics::text(const RunRecord& run, double value) const {
  return run.metric.isEmpty() && std::isnan(value) ? QStringLiteral("–") : formatValue(kind(run), value);
}

QString RunMetrics::number(const RunRecord& run, double value) const {
  return kind(run) == ValueKind::accuracy && std::isfinite(value) ? formatFixed(value * 100, 2) : text(run, value);
}

}  // namespace loom
