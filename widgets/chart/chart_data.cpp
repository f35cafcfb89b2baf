#include "widgets/chart/chart_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/chart/smoothing.h"

namespace loom {
namespace {

constexpr double kBandBin = 6;          // pixels over which minimum and maximum are taken for the band
constexpr double kBandPoints = 2.5;     // points in such a bin from which a band says more than a faint line
constexpr double kDotSpacing = 2;       // pixels between points from which raw points are dots, zoomed in
constexpr double kDotSpacingWhole = 8;  // and with the whole axis in view, where they would only clutter
constexpr double kMarkSpacing = 12;     // pixels between marks at the edge
constexpr double kFar = 20000;          // a coordinate beyond which a painter gets into trouble

double middle(const ChartColumn& column) {
  // Minimum and maximum weigh alike: for a column of one or two points that is their mean.
  return (column.minimum + column.maximum) / 2;
}

bool isSmoothed(const ChartLine& line, double smoothing) {
  return line.kind == LineKind::curve && smoothing > 0;
}

}  // namespace

double YScale::toPixel(double value) const {
  double place = 0;
  if (logarithmic) {
    if (!(value > 0)) return kFar;
    place = std::log(value / range.low) / std::log(range.high / range.low);
  } else {
    place = (value - range.low) / range.span();
  }
  return std::clamp((1 - place) * height, -kFar, kFar);
}

double YScale::toValue(double pixel) const {
  const double place = 1 - pixel / height;
  if (logarithmic) return range.low * std::pow(range.high / range.low, place);
  return range.low + place * range.span();
}

LineData readLine(const ChartLine& line, const XAxisModel& axis, int width, double smoothing) {
  LineData data;
  if (!line.source) return data;
  const Interval seen = axis.visible();
  data.columns = line.source->columns(axis.unit(), seen.low, seen.high, width);
  const auto& columns = data.columns.columns;
  data.smoothed.assign(columns.size(), std::nan(""));
  if (line.isMean) data.low = data.high = data.smoothed;
  // Each stretch of finite columns is smoothed by itself: nothing flows over a gap.
  for (std::size_t first = 0; first < columns.size();) {
    std::size_t end = first;
    while (end < columns.size() && columns[end].finite()) ++end;
    if (end == first) {
      ++first;
      continue;
    }
    std::vector<double> x, weights;
    for (std::size_t i = first; i < end; ++i) {
      x.push_back((columns[i].x + columns[i].xFirst) / 2);
      weights.push_back(static_cast<double>(columns[i].count));
    }
    const auto take = [&](std::vector<double>& into, const auto& valueOf) {
      std::vector<double> y;
      for (std::size_t i = first; i < end; ++i) y.push_back(valueOf(columns[i]));
      if (isSmoothed(line, smoothing)) y = smooth(x, y, smoothing, axis.full().span(), weights);
      std::copy(y.begin(), y.end(), into.begin() + static_cast<std::ptrdiff_t>(first));
    };
    take(data.smoothed, [&](const ChartColumn& column) { return line.isMean ? column.last : middle(column); });
    if (line.isMean) {
      take(data.low, [](const ChartColumn& column) { return column.minimum; });
      take(data.high, [](const ChartColumn& column) { return column.maximum; });
    }
    first = end;
  }
  return data;
}

void collectValues(const ChartLine& line, const LineData& data, std::vector<double>& values, double most) {
  if (line.kind == LineKind::stacked) return;
  for (const ChartColumn& column : data.columns.columns) {
    if (!column.finite() || column.minimum > most) continue;
    values.push_back(column.minimum);
    if (column.maximum != column.minimum && column.maximum <= most) values.push_back(column.maximum);
  }
}

double divergesAbove(const ChartLine& line, const LineData& data) {
  constexpr double kDiverged = 10;
  if (line.value == ValueKind::loss)
    for (const ChartColumn& column : data.columns.columns)
      if (column.finite() && column.minimum > 0) return kDiverged * column.minimum;
  return std::numeric_limits<double>::infinity();
}

DrawnLine drawLine(const ChartLine& line, const LineData& data, const XAxisModel& axis, double width,
                   const YScale& scale, double smoothing) {
  DrawnLine drawn;
  const auto& columns = data.columns.columns;
  drawn.points = data.columns.points;
  drawn.columns = columns.size();
  drawn.exact = data.columns.exact;
  if (columns.empty()) return drawn;
  const auto px = [&](double x) { return std::clamp(axis.place(x) * width, -kFar, kFar); };
  const double spacing =
      columns.size() > 1 ? (px(columns.back().x) - px(columns.front().xFirst)) / static_cast<double>(columns.size() - 1)
                         : width;
  const double perBin =
      static_cast<double>(drawn.points) / std::max(1.0, (px(columns.back().x) - px(columns.front().xFirst)) / kBandBin);
  const bool smoothed = isSmoothed(line, smoothing);
  const bool band = smoothed && perBin >= kBandPoints;
  const bool dots = data.columns.exact && line.kind == LineKind::curve && !line.isMean &&
                    spacing > (axis.isFollowing() ? kDotSpacingWhole : kDotSpacing);

  bool wasInside = false;
  double lastMark[2] = {-kFar, -kFar};
  const auto mark = [&](double x, double at, bool top, bool finite, double value) {
    if (x - lastMark[top] < kMarkSpacing || x < -0.5 || x > width + 0.5) return;
    lastMark[top] = x;
    drawn.marks.push_back({x, top, finite, value, at});
  };

  LineSegment segment;
  double binEdge = -kFar, binLow = 0, binHigh = 0, binFrom = 0, binTo = 0;
  bool binOpen = false;
  const auto closeBin = [&] {
    if (!binOpen) return;
    const double x = (binFrom + binTo) / 2;
    const double at = segment.upper.isEmpty() ? binFrom : x;
    segment.upper << QPointF(at, scale.toPixel(binHigh));
    segment.lower << QPointF(at, scale.toPixel(binLow));
    binOpen = false;
  };
  const auto closeSegment = [&] {
    closeBin();
    if (segment.upper.size() == 1) {
      segment.upper.clear();
      segment.lower.clear();
    }
    if (!segment.upper.isEmpty() && !segment.line.isEmpty() && !line.isMean) {
      segment.upper << QPointF(segment.line.back().x(), segment.upper.back().y());
      segment.lower << QPointF(segment.line.back().x(), segment.lower.back().y());
    }
    if (!segment.line.isEmpty()) drawn.segments.push_back(segment);
    segment = {};
    binEdge = -kFar;
  };

  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ChartColumn& column = columns[i];
    const double x = px((column.x + column.xFirst) / 2);
    if (column.bad) {
      mark(px(column.badX), column.badX, !(std::isinf(*column.bad) && *column.bad < 0), false, *column.bad);
      // The line breaks at the value itself; what was finite in the same column before it still ends the line.
      if (column.finite()) segment.line << QPointF(px(column.xFirst), scale.toPixel(data.smoothed[i]));
      closeSegment();
      continue;
    }
    if (!column.finite()) {
      closeSegment();
      continue;
    }
    drawn.lastValue = column.last;
    const double y = scale.toPixel(data.smoothed[i]);
    if (smoothed || line.isMean || column.minimum == column.maximum) {
      segment.line << QPointF(x, y);
    } else {
      // Raw and folded: minimum and maximum, the end that is nearer to where the line is now first.
      const double low = scale.toPixel(column.minimum), high = scale.toPixel(column.maximum);
      const bool lowFirst =
          segment.line.isEmpty() || std::abs(segment.line.back().y() - low) < std::abs(segment.line.back().y() - high);
      segment.line << QPointF(x, lowFirst ? low : high) << QPointF(x, lowFirst ? high : low);
    }
    drawn.end = QPointF(px(column.x), y);
    if (line.isMean) {
      segment.upper << QPointF(x, scale.toPixel(data.high[i]));
      segment.lower << QPointF(x, scale.toPixel(data.low[i]));
    } else if (band) {
      if (x >= binEdge) {
        closeBin();
        binEdge = x + kBandBin;
        binLow = column.minimum;
        binHigh = column.maximum;
        binFrom = px(column.xFirst);
        binOpen = true;
      }
      binLow = std::min(binLow, column.minimum);
      binHigh = std::max(binHigh, column.maximum);
      binTo = px(column.x);
    } else if (smoothed) {
      segment.faint << QPointF(x, scale.toPixel(column.minimum));
      if (column.maximum != column.minimum) segment.faint << QPointF(x, scale.toPixel(column.maximum));
    }
    if (dots || line.kind == LineKind::validation) drawn.dots << QPointF(x, scale.toPixel(column.last));
    // An excursion beyond the axis is told once, where it begins; a line that only comes in from outside tells by
    // itself.
    const bool above = scale.toPixel(column.maximum) < -0.5;
    const bool below = scale.toPixel(column.minimum) > scale.height + 0.5;
    if (wasInside && above) mark(x, column.x, true, true, column.maximum);
    if (wasInside && below) mark(x, column.x, false, true, column.minimum);
    wasInside = !above && !below;
  }
  closeSegment();
  return drawn;
}

void drawStacked(DrawnLine& drawn, const LineData& data, const XAxisModel& axis, double width, const YScale& scale,
                 std::vector<double>& below) {
  const auto& columns = data.columns.columns;
  drawn.points = data.columns.points;
  drawn.columns = columns.size();
  drawn.exact = data.columns.exact;
  if (columns.empty() || below.empty()) return;
  const double bin = width / static_cast<double>(below.size());
  std::vector<double> sum(below.size(), 0), count(below.size(), 0);
  for (const ChartColumn& column : columns) {
    if (!column.finite()) continue;
    const double place = axis.place(column.x) * width / bin;
    if (place < 0 || place >= static_cast<double>(below.size())) continue;
    const auto at = static_cast<std::size_t>(place);
    sum[at] += middle(column) * static_cast<double>(column.count);
    count[at] += static_cast<double>(column.count);
    drawn.lastValue = column.last;
  }
  const double gap = bin >= 4 ? 1 : 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    if (count[i] == 0) continue;
    const double from = scale.toPixel(below[i]);
    below[i] += sum[i] / count[i];
    const double to = scale.toPixel(below[i]);
    drawn.bars << QRectF(static_cast<double>(i) * bin, to, bin - gap, from - to);
  }
}

std::optional<ValueAt> valueAt(const ChartLine& line, const LineData& data, double x) {
  const auto& columns = data.columns.columns;
  if (columns.empty()) return std::nullopt;
  auto after = std::lower_bound(columns.begin(), columns.end(), x,
                                [](const ChartColumn& column, double at) { return column.x < at; });
  if (after == columns.end()) --after;
  if (after != columns.begin() && std::abs((after - 1)->x - x) <= std::abs(after->x - x)) --after;
  const double spacing =
      columns.size() > 1 ? (columns.back().x - columns.front().xFirst) / static_cast<double>(columns.size() - 1) : 1;
  if (x > columns.back().x + spacing / 2 + 1e-9 || x < columns.front().xFirst - spacing / 2 - 1e-9) return std::nullopt;
  const auto i = static_cast<std::size_t>(after - columns.begin());
  if (!after->finite()) return ValueAt{after->badX, after->bad.value_or(std::nan("")), std::nan("")};
  const double drawn = data.smoothed[i];
  return ValueAt{after->x, line.kind == LineKind::curve ? drawn : after->last, drawn};
}

std::vector<double> spread(const std::vector<double>& wanted, double gap, double height) {
  const std::size_t count = wanted.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  // Blocks of touching labels, each centred on the mean of where its labels belong; overlapping blocks merge.
  struct Block {
    double sum;  // of (wanted - offset in the block)
    std::size_t size;
    double top;
  };
  std::vector<Block> blocks;
  const auto place = [&](Block& block) {
    const double most = height - static_cast<double>(block.size) * gap;
    block.top = std::max(0.0, std::min(block.sum / static_cast<double>(block.size), most));
  };
  for (const std::size_t i : order) {
    blocks.push_back({wanted[i] - gap / 2, 1, 0});
    place(blocks.back());
    while (blocks.size() > 1) {
      Block& last = blocks[blocks.size() - 1];
      Block& previous = blocks[blocks.size() - 2];
      if (previous.top + static_cast<double>(previous.size) * gap <= last.top) break;
      previous.sum += last.sum - static_cast<double>(previous.size * last.size) * gap;
      previous.size += last.size;
      blocks.pop_back();
      place(blocks.back());
    }
  }
  std::vector<double> result(count);
  std::size_t at = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.size; ++i, ++at)
      result[order[at]] = block.top + (static_cast<double>(i) + 0.5) * gap;
  }
  return result;
}

}  // namespace loom
