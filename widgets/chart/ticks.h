#pragma once
// Where an axis has its numbers, and how wide it opens.
#include <QString>
#include <vector>

namespace loom {

struct Interval {
  double low = 0;
  double high = 1;
  double span() const { return high - low; }
  bool operator==(const Interval&) const = default;
};

struct Ticks {
  std::vector<double> values;
  int decimals = 0;  // that all labels share
};

// 4 to 8 ticks at 1-2-5 times a power of ten inside `range`; at most `most`, for axes that are short.
Ticks linearTicks(Interval range, int most = 8);
// 1-2-5 in each decade, decades only where there are more than four; the 1-2-5 of linearTicks below one decade.
Ticks logTicks(Interval range, int most = 8);
QString tickLabel(double value, const Ticks& ticks);

// The axis for values between low and high: zero is included unless the span is under 20 % of the value; ends on ticks.
// A single value gets room around it.
Interval niceRange(Interval values, int most = 8);
// The same on a log axis, from values above zero: whole 1-2-5 marks.
Interval niceLogRange(Interval values);

// What the y axis shows of these values: the first 1 % of the points and what lies beyond the 99.5th percentile is left
// out where it would widen the range by more than half. Values that are not finite are ignored.
Interval robustRange(std::vector<double> values);

}  // namespace loom
