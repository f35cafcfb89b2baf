#pragma once
// The curves of one run: a set of series an attempt, and the view over the attempts in which every step stands once,
// from the newest attempt that has it.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/store/event_batch.h"
#include "launcher/store/number_set.h"
#include "launcher/store/series.h"

namespace loom {

enum class Axis {
  step,
  epoch,
  samples,
  time,
  relative
};  // time: seconds since 1970; relative: of training, pauses left out

// Consecutive points that fall on one pixel column; one point where there is room. NaN and infinities stand in `last`,
// `badStep`, `badValue`; `min` and `max` leave them out.
struct SeriesColumn : SeriesSummary {
  double x = 0;       // of the last point
  double xFirst = 0;  // of the first point
};

struct SeriesView {
  std::vector<SeriesColumn> columns;
  std::int64_t points = 0;  // in the range
  bool exact = true;        // a column a point: nothing folded
};

struct AttemptData {
  NumberSet seen;                             // sequence numbers that were taken
  std::int64_t firstStep = 0, lastStep = -1;  // of its step events; last < first: none yet
  double startTime = 0, lastTime = 0;
  std::map<std::string, Series> series;
  bool dirty = false;
  bool hasSteps() const { return lastStep >= firstStep; }
};

struct SeriesRange {
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
};

class RunData {
 public:
  std::map<std::int64_t, AttemptData> attempts;

  // Takes what is new of the batch; answers the numbers of new rows and the new events among `others`.
  struct Taken {
    std::int64_t rows = 0;
    std::vector<const Event*> events;
    const EventBatch::Row* lastStep = nullptr;
    bool measured = false;  // a validation or an epoch was among them
  };
  Taken take(const EventBatch& batch);

  std::vector<std::string> names() const;
  SeriesView view(const std::string& name, Axis axis, SeriesRange range, int width) const;
  std::vector<SeriesPoint> points(const std::string& name) const;  // all, merged; for short series
  std::optional<SeriesPoint> pointNear(const std::string& name, std::int64_t step) const;
  std::optional<double> lastValue(const std::string& name) const;
  // Where a step lies on an axis, and back.
  double xOf(Axis axis, std::int64_t step) const;
  std::int64_t stepOf(Axis axis, double x) const;
  double duration() const;

  std::size_t bytes() const;
  void dropClean();
  void dropIdle();
  void touch();  // all that is in memory counts as changed

 private:
  struct Segment {
    std::int64_t attempt, from, to;  // steps, both inside
  };
  std::vector<Segment> visible(const std::string& name) const;
  const Series* find(std::int64_t attempt, const std::string& name) const;
  double relativeOf(double time, std::int64_t step) const;
  const std::vector<std::pair<Segment, double>>& clock() const;  // time segments and what is taken from their times

  mutable std::optional<std::vector<std::pair<Segment, double>>> m_clock;
};

}  // namespace loom
