#pragma once
// From a source's columns to what is drawn, in pixels of the plot: at most two points a pixel column and line, gaps
// where a value is not finite, marks for what cannot be on the line. Pure functions, no widget.
#include <QPointF>
#include <QRectF>
#include <QVector>
#include <limits>
#include <vector>

#include "widgets/chart/chart_line.h"
#include "widgets/chart/ticks.h"
#include "widgets/chart/x_axis_model.h"

namespace loom {

struct YScale {
  Interval range{0, 1};
  bool logarithmic = false;
  double height = 1;  // pixels; y grows downwards

  double toPixel(double value) const;
  double toValue(double pixel) const;
};

struct LineSegment {
  QVector<QPointF> line;          // smoothed, or the raw values
  QVector<QPointF> upper, lower;  // the band; empty = none
  QVector<QPointF> faint;         // the raw line where points are too sparse for a band
};

struct EdgeMark {
  double x = 0;         // pixel
  bool top = true;      // at the upper edge of the frame
  bool finite = false;  // an outlier beyond the axis, not a NaN or infinity
  double value = 0;
  double at = 0;  // x in the axis' unit
};

struct DrawnLine {
  std::vector<LineSegment> segments;
  QVector<QPointF> dots;  // raw points, where there is room for them
  std::vector<EdgeMark> marks;
  QVector<QRectF> bars;             // stacked: from below to above in pixels
  std::optional<QPointF> end;       // pixel of the last finite value that is drawn
  std::optional<double> lastValue;  // raw, of the whole visible part
  std::int64_t points = 0;
  std::size_t columns = 0;
  bool exact = true;
};

struct LineData {
  ChartColumns columns;
  std::vector<double> smoothed;   // one a column; NaN where the column has no finite value
  std::vector<double> low, high;  // of a mean: the ends of its band, smoothed as it is
};

// The line's columns and their smoothing over the whole axis' span.
LineData readLine(const ChartLine& line, const XAxisModel& axis, int width, double smoothing);

// Values that the y axis is opened for; for stacked lines their sum is, which the caller forms. What is above `most` is
// left to the marks at the edge.
void collectValues(const ChartLine& line, const LineData& data, std::vector<double>& values,
                   double most = std::numeric_limits<double>::infinity());
// A loss that has grown to many times of where it began diverges, and would squeeze all others: the most that an axis
// is opened for. Infinite for what is no loss.
double divergesAbove(const ChartLine& line, const LineData& data);

DrawnLine drawLine(const ChartLine& line, const LineData& data, const XAxisModel& axis, double width,
                   const YScale& scale, double smoothing);

// Bars on top of each other: `below` holds, for each pixel bin, the height reached so far in values, and is raised.
void drawStacked(DrawnLine& drawn, const LineData& data, const XAxisModel& axis, double width, const YScale& scale,
                 std::vector<double>& below);

// The value that stands for a line at x: the nearest column's smoothed value, or the raw one for lines that are not
// smoothed. Nothing when x lies outside the line by more than half a column's distance.
struct ValueAt {
  double x = 0;
  double value = 0;  // as it is, may be NaN
  double drawn = 0;  // where the dot stands on the line
};
std::optional<ValueAt> valueAt(const ChartLine& line, const LineData& data, double x);

// Places for labels of the given height, as near as can be to where they belong, without touching, within 0 and
// `height`.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double height);

}  // namespace loom
