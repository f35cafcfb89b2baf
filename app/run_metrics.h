#pragma once
// What the metrics of runs are: a node of the run's network by its id, so its layer's entry knows the kind, read once from the run's
// folder. How their values are written follows from it. Window's thread.
#include <QHash>

#include "launcher/store/run_record.h"
#include "widgets/chart/format.h"

namespace loom {

class RunMetrics {
 public:
  ValueKind kind(const RunRecord& run, const QString& metric) const;
  ValueKind kind(const RunRecord& run) const { return kind(run, run.metric); }
  // Of the metric by which the run is compared: "91.85 %", and where the column says percent, "91.85".
  QString text(const RunRecord& run, double value) const;
  QString number(const RunRecord& run, double value) const;

 private:
  mutable QHash<QString, QHash<QString, QString>> m_layers;  // by run and node
};

}  // namespace loom
