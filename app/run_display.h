#pragma once
// How runs are written: states as shapes and words, dates. Values of metrics: run_metrics.h.
#include <QString>

#include "launcher/store/run_record.h"
#include "widgets/chart/chart_line.h"
#include "widgets/chart/format.h"
#include "widgets/theme/status.h"

namespace loom {

Status statusOf(RunState state);
QString titleOfMetric(const QString& metric);  // "Accuracy", "Top-5"
// "today 14:06", "Tue 09:12", "12 Mar 2026"
QString formatMoment(double secondsSince1970);
QString formatClock(double secondsSince1970);  // "14:06:03"
// "Running 14 %", "Finished"
QString stateWords(const RunRecord& run);
// Seconds still to go by the pace so far; NaN when that is not known.
double secondsLeft(const RunRecord& run);
// Time of training including the attempt that runs now.
double secondsSoFar(const RunRecord& run);

}  // namespace loom
