#pragma once
// How the metrics of runs are written, by what their layers are. Window's thread.
#include "launcher/store/run_store.h"
#include "widgets/chart/chart_line.h"
#include "widgets/chart/format.h"

namespace loom {

class RunMetrics {
 public:
  explicit RunMetrics(const RunStore& store) : m_store(store) {}
  ValueKind kind(const RunRecord& run, const QString& metric) const;
  ValueKind kind(const RunRecord& run) const { return kind(run, run.metric); }
  Better better(const RunRecord& run, const QString& metric) const;
  // Of the metric by which the run is compared: "91.85 %", and where the column says percent, "91.85".
  QString text(const RunRecord& run, double value) const;
  QString number(const RunRecord& run, double value) const;

 private:
  const RunStore& m_store;
};

}  // namespace loom
