#pragma once
// Where a chart takes a curve from, and what it gets: consecutive points folded to pixel columns, so that a million
// points cost as much as a thousand. The launcher's run store answers this directly; VectorSource serves everything
// small.
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace loom {

enum class XUnit {
  step,
  epoch,
  samples,
  time,
  relative
};  // time: seconds since 1970; relative: seconds since the start

// One or more consecutive points that fall on one pixel column. Minimum and maximum are over the finite values alone
// (minimum > maximum when there is none); `last` is the last value as it is. What is not finite is never swallowed: the
// first such value of the column stands in `bad` at `badX`.
struct ChartColumn {
  double x = 0;       // of the last point
  double xFirst = 0;  // of the first point
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double last = 0;
  std::int64_t count = 0;
  std::optional<double> bad;  // NaN, +inf or -inf
  double badX = 0;

  bool finite() const { return minimum <= maximum; }
  void add(double pointX, double value);
};

struct ChartColumns {
  std::vector<ChartColumn> columns;  // x rising
  std::int64_t points = 0;           // in the range
  bool exact = true;                 // a column a point: nothing was folded
};

class SeriesSource {
 public:
  virtual ~SeriesSource() = default;
  // At most `width` columns (exact points where there are no more) with from <= x <= to, and the neighbour on either
  // side where there is one, so that a line runs out of the frame rather than ending in it.
  virtual ChartColumns columns(XUnit unit, double from, double to, int width) const = 0;
  // A function that gives all points, never folded, on the thread that calls it: for what would hold the window up. It
  // outlives the source and may throw.
  virtual std::function<ChartColumns()> reader(XUnit unit) const;
  // `told` is called, by the window's thread, when columns() has more to say than it last did; one is told, the last
  // that asked.
  virtual void whenMore(std::function<void()> told) const { m_told = std::move(told); }

 protected:
  void tellMore() const {
    if (m_told) m_told();
  }

 private:
  mutable std::function<void()> m_told;
};

// Points in memory; x is what the caller means by it, whatever the unit.
class VectorSource : public SeriesSource {
 public:
  VectorSource() = default;
  explicit VectorSource(std::vector<std::pair<double, double>> points) : m_points(std::move(points)) {}

  void append(double x, double y) { m_points.emplace_back(x, y); }
  void clear() { m_points.clear(); }
  std::size_t size() const { return m_points.size(); }
  const std::vector<std::pair<double, double>>& points() const { return m_points; }

  ChartColumns columns(XUnit unit, double from, double to, int width) const override;

 private:
  std::vector<std::pair<double, double>> m_points;  // x rising
};

}  // namespace loom
