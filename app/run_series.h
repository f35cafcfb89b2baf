#pragma once
// The curves of runs as a person reads them: "step.gradient_norm" is the gradient norm.
#include <QString>
#include <string>

#include "launcher/store/run_record.h"
#include "widgets/chart/chart_line.h"

namespace loom {

class RunMetrics;

struct SeriesFace {
  QString title;                       // "Validation accuracy"
  ValueKind value = ValueKind::plain;  // how its values are written
  LineKind line = LineKind::curve;     // measured now and then: a plain line, never smoothed
  Better better = Better::lower;
};

// `run`: one that has the series; it tells how a metric is read.
SeriesFace faceOfSeries(const std::string& series, const RunMetrics& metrics, const RunRecord& run);
QString titleOfSeries(const QString& series);
// Axes (epoch, samples, time of each step) are no curves of their own.
bool isCurve(const std::string& series);

}  // namespace loom
