#include "launcher/store/run_data.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace loom {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 60;

const char* axisSeries(Axis axis) {
  switch (axis) {
    case Axis::step:
      return nullptr;
    case Axis::epoch:
      return series::kEpochAxis;
    case Axis::samples:
      return series::kSamplesAxis;
    case Axis::time:
    case Axis::relative:
      return series::kTimeAxis;
  }
  return nullptr;
}

}  // namespace

RunData::Taken RunData::take(const EventBatch& batch) {
  Taken taken;
  for (const EventBatch::Row& row : batch.rows) {
    AttemptData& attempt = attempts[row.attempt];
    // Validations and epochs stand among `others` too, which is where their number is noted.
    if (row.isStep ? !attempt.seen.insert(row.sequence) : attempt.seen.contains(row.sequence)) continue;
    attempt.dirty = true;
    for (std::uint32_t i = row.begin; i < row.end; ++i) {
      const auto& [name, value] = batch.cells[i];
      attempt.series[batch.names[name]].add(row.step, value);
    }
    attempt.lastTime = std::max(attempt.lastTime, row.time);
    if (attempt.startTime == 0) attempt.startTime = row.time;
    ++taken.rows;
    if (!row.isStep) {
      taken.measured = true;
      continue;
    }
    attempt.firstStep = attempt.hasSteps() ? std::min(attempt.firstStep, row.step) : row.step;
    attempt.lastStep = std::max(attempt.lastStep, row.step);
    taken.lastStep = &row;
  }
  for (const Event& event : batch.others) {
    AttemptData& attempt = attempts[event.attempt];
    if (!attempt.seen.insert(event.sequence)) continue;
    attempt.dirty = true;
    if (event.kind == "started" || attempt.startTime == 0) attempt.startTime = event.time;
    attempt.lastTime = std::max(attempt.lastTime, event.time);
    taken.events.push_back(&event);
  }
  if (taken.rows > 0) m_clock.reset();
  return taken;
}

const Series* RunData::find(std::int64_t attempt, const std::string& name) const {
  const auto owner = attempts.find(attempt);
  if (owner == attempts.end()) return nullptr;
  const auto found = owner->second.series.find(name);
  return found == owner->second.series.end() || found->second.count() == 0 ? nullptr : &found->second;
}

std::vector<std::string> RunData::names() const {
  std::set<std::string> names;
  for (const auto& [number, attempt] : attempts)
    for (const auto& [name, each] : attempt.series) names.insert(name);
  return {names.begin(), names.end()};
}

// From the newest attempt to the oldest: each shows what lies outside the steps that newer ones have been through.
std::vector<RunData::Segment> RunData::visible(const std::string& name) const {
  std::vector<Segment> segments;
  NumberSet covered;
  for (auto each = attempts.rbegin(); each != attempts.rend(); ++each) {
    const Series* const own = find(each->first, name);
    if (own)
      for (const auto& [from, to] : covered.missingFrom({-kFar, kFar})) {
        const std::int64_t begin = own->lowerBound(from);
        if (begin < own->count() && own->point(begin).step <= to)
          segments.push_back({each->first, own->point(begin).step, to});
      }
    if (each->second.hasSteps()) covered.insert(NumberSet::Interval{each->second.firstStep, each->second.lastStep});
    if (own) covered.insert(NumberSet::Interval{own->point(0).step, own->point(own->count() - 1).step});
  }
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.from < b.from; });
  return segments;
}

// Relative time: the clock of an attempt starts with it and goes on from where the run stood at the step before.
const std::vector<std::pair<RunData::Segment, double>>& RunData::clock() const {
  if (m_clock) return *m_clock;
  std::vector<std::pair<Segment, double>> clock;
  double passed = 0;
  for (Segment segment : visible(series::kTimeAxis)) {
    const Series& time = *find(segment.attempt, series::kTimeAxis);
    const std::int64_t begin = time.lowerBound(segment.from), end = time.lowerBound(segment.to + 1);
    if (begin == end) continue;
    const double start = begin == 0 ? attempts.at(segment.attempt).startTime : time.point(begin - 1).value;
    segment.from = time.point(begin).step;
    segment.to = time.point(end - 1).step;
    clock.emplace_back(segment, start - passed);
    passed = time.point(end - 1).value - clock.back().second;
  }
  m_clock = std::move(clock);
  return *m_clock;
}

double RunData::relativeOf(double time, std::int64_t step) const {
  const auto& segments = clock();
  if (segments.empty()) return 0;
  const auto after = std::upper_bound(segments.begin(), segments.end(), step,
                                      [](std::int64_t value, const auto& each) { return value < each.first.from; });
  return time - (after == segments.begin() ? after : std::prev(after))->second;
}

double RunData::xOf(Axis axis, std::int64_t step) const {
  if (axis == Axis::step) return static_cast<double>(step);
  const char* const name = axisSeries(axis);
  for (auto each = attempts.rbegin(); each != attempts.rend(); ++each) {
    const Series* const own = find(each->first, name);
    // The newest attempt that has the step, or that began before it.
    if (!own || own->point(0).step > step) continue;
    if (std::next(each) != attempts.rend() && own->point(own->count() - 1).step < step) {
      bool older = false;
      for (auto other = std::next(each); other != attempts.rend() && !older; ++other)
        older = other->second.hasSteps() && other->second.lastStep >= step;
      if (older) continue;
    }
    const double x = own->valueAt(step);
    return axis == Axis::relative ? relativeOf(x, step) : x;
  }
  // Before the first step: zero on the axes that count from there.
  return axis == Axis::time && !attempts.empty() ? attempts.begin()->second.startTime : 0;
}

std::int64_t RunData::stepOf(Axis axis, double x) const {
  if (axis == Axis::step) return std::llround(x);
  std::int64_t low = 0, high = 0;
  for (const auto& [number, attempt] : attempts) high = std::max(high, attempt.lastStep);
  while (low < high) {  // the axes never fall over the merged steps
    const std::int64_t middle = low + (high - low) / 2;
    if (xOf(axis, middle) < x)
      low = middle + 1;
    else
      high = middle;
  }
  if (low > 0 && x - xOf(axis, low - 1) < xOf(axis, low) - x) --low;
  return low;
}

SeriesView RunData::view(const std::string& name, Axis axis, SeriesRange range, int width) const {
  SeriesView view;
  width = std::max(width, 1);
  struct Part {
    const Series* series;
    const Series* axis;
    std::int64_t begin, end;
    bool aligned;
  };
  std::vector<Part> parts;
  const bool bounded = std::isfinite(range.from) || std::isfinite(range.to);
  const std::int64_t fromStep = bounded && std::isfinite(range.from) ? stepOf(axis, range.from) : -kFar;
  const std::int64_t toStep = bounded && std::isfinite(range.to) ? stepOf(axis, range.to) : kFar;
  for (const Segment& segment : visible(name)) {
    Part part{find(segment.attempt, name), nullptr, 0, 0, false};
    const std::int64_t begin = part.series->lowerBound(segment.from), end = part.series->lowerBound(segment.to + 1);
    // One point beyond each edge, so that the line reaches the frame.
    part.begin = std::max(begin, part.series->lowerBound(fromStep) - 1);
    part.end = std::min(end, part.series->lowerBound(toStep + 1) + 1);
    if (part.begin >= part.end) continue;
    if (axis != Axis::step) part.axis = find(segment.attempt, axisSeries(axis));
    part.aligned = part.axis && part.axis->count() == part.series->count() &&
                   part.axis->point(0).step == part.series->point(0).step;
    view.points += part.end - part.begin;
    parts.push_back(part);
  }
  int level = 0;
  while ((view.points >> (Series::kFanBits * (level + 1))) >= 4 * static_cast<std::int64_t>(width)) ++level;
  view.exact = view.points <= 2 * static_cast<std::int64_t>(width);

  const auto place = [&](const Part& part, std::int64_t step, int at, std::int64_t index) {
    if (axis == Axis::step) return static_cast<double>(step);
    if (!part.axis) return xOf(axis, step);
    const double x = part.aligned ? part.axis->summary(at, index).last : part.axis->valueAt(step);
    return axis == Axis::relative ? relativeOf(x, step) : x;
  };
  double low = 0, pixel = 0;
  if (!parts.empty() && !view.exact) {
    const Part &first = parts.front(), &last = parts.back();
    low = place(first, first.series->point(first.begin).step, 0, first.begin);
    const double high = place(last, last.series->point(last.end - 1).step, 0, last.end - 1);
    pixel = (high - low) / width;
  }
  std::int64_t column = -1;
  for (const Part& part : parts)
    part.series->cover(part.begin, part.end, level, [&](const SeriesSummary& sum, int at, std::int64_t index) {
      const double x = place(part, sum.lastStep, at, index);
      const std::int64_t wanted =
          view.exact || pixel <= 0 ? column + 1 : std::clamp<std::int64_t>((x - low) / pixel, 0, width - 1);
      if (wanted != column || view.columns.empty()) {
        column = wanted;
        SeriesColumn fresh;
        static_cast<SeriesSummary&>(fresh) = sum;
        fresh.xFirst = sum.count == 1 ? x : view.columns.empty() ? x : view.columns.back().x;
        fresh.x = x;
        view.columns.push_back(fresh);
      } else {
        view.columns.back().add(sum);
        view.columns.back().x = x;
      }
    });
  return view;
}

std::vector<SeriesPoint> RunData::points(const std::string& name) const {
  std::vector<SeriesPoint> points;
  for (const Segment& segment : visible(name)) {
    const Series& own = *find(segment.attempt, name);
    for (std::int64_t i = own.lowerBound(segment.from), end = own.lowerBound(segment.to + 1); i < end; ++i)
      points.push_back(own.point(i));
  }
  return points;
}

std::optional<SeriesPoint> RunData::pointNear(const std::string& name, std::int64_t step) const {
  std::optional<SeriesPoint> best;
  for (const Segment& segment : visible(name)) {
    const Series& own = *find(segment.attempt, name);
    const std::int64_t begin = own.lowerBound(segment.from), end = own.lowerBound(segment.to + 1);
    for (std::int64_t i = std::max(begin, own.lowerBound(step) - 1); i < std::min(end, own.lowerBound(step) + 1); ++i) {
      const SeriesPoint each = own.point(i);
      if (!best || std::abs(each.step - step) < std::abs(best->step - step)) best = each;
    }
  }
  return best;
}

std::optional<double> RunData::lastValue(const std::string& name) const {
  for (auto each = attempts.rbegin(); each != attempts.rend(); ++each)
    if (const Series* own = find(each->first, name)) return own->point(own->count() - 1).value;
  return {};
}

double RunData::duration() const {
  double sum = 0;
  for (const auto& [number, attempt] : attempts) sum += std::max(0.0, attempt.lastTime - attempt.startTime);
  return sum;
}

std::size_t RunData::bytes() const {
  std::size_t sum = 0;
  for (const auto& [number, attempt] : attempts)
    for (const auto& [name, each] : attempt.series) sum += each.bytes();
  return sum;
}

void RunData::dropClean() {
  for (auto& [number, attempt] : attempts)
    for (auto& [name, each] : attempt.series) each.dropClean();
}

void RunData::dropIdle() {
  for (auto& [number, attempt] : attempts)
    for (auto& [name, each] : attempt.series) each.dropIdle();
}

void RunData::touch() {
  for (auto& [number, attempt] : attempts) {
    attempt.dirty = true;
    for (auto& [name, each] : attempt.series) each.touch();
  }
}

}  // namespace loom
