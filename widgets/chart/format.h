#pragma once
// Numbers as the interface writes them: narrow no-break space before units and percent, true minus, groups of three.
// Not finite: "NaN", "inf", "−inf".
#include <QString>
#include <vector>

namespace loom {

// What a number is; decides how it is written.
enum class ValueKind {
  plain,         // 6 significant digits
  loss,          // 2.30, 0.199, 4.1e-5, 1.84e11
  accuracy,      // a fraction, written as percent with 2 decimals: 88.59 %
  training,      // a fraction, with 1 decimal: 96.2 %
  rate,          // learning rate: at most 3 significant, as short as exact
  count,         // 42,240; 40.8 M
  bytes,         // 4.00 MiB
  duration,      // seconds: 172 ms; 36 s; 3 m 58 s; 2 h 14 m
  milliseconds,  // the same from milliseconds
  throughput,    // 23,800 (unit written by the caller)
};

QString formatValue(ValueKind kind, double value);
// 0.88 is written 88 on an axis in percent.
double axisFactor(ValueKind kind);

QString formatLoss(double value);
QString formatPercent(double fraction, int decimals = 2);
QString formatRate(double value);
QString formatCount(double value);
QString formatBytes(double bytes);
// `padded`: both parts two digits wide where one follows another, for columns: "4 m 06 s".
QString formatDuration(double seconds, bool padded = false);
QString formatThroughput(double perSecond, const QString& unit = {});
QString formatMeanDeviation(double mean, double deviation);  // 90.71 ± 0.14
QString formatShape(const std::vector<std::int64_t>& extents);

// `value` with so many decimals, groups of three and a true minus.
QString formatFixed(double value, int decimals);
// With so many significant digits, never scientific.
QString formatSignificant(double value, int digits);
// Any number in a narrow column: 26,746; 0.0331; −12.3; 4.1e-5. Whole numbers as they are, others with three
// significant digits.
QString formatShort(double value);

extern const QString kNarrowSpace;  // U+202F

}  // namespace loom
