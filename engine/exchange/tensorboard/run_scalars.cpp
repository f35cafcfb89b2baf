#include "engine/exchange/tensorboard/run_scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/tensorboard/event_file.h"
#include "engine/run/event_series.h"

namespace loom {
namespace {

constexpr std::size_t kAtOnce = 4096;  // events

struct Range {
  std::int64_t first = 0, last = -1;
  void add(std::int64_t step) {
    first = last < first ? step : std::min(first, step);
    last = std::max(last, step);
  }
  bool has(std::int64_t step) const { return first <= step && step <= last; }
};

// Where each attempt went, by kind of event.
using Ways = std::map<std::int64_t, std::map<std::string, Range>>;

void forEachEvent(const TensorBoardExport& wanted, const std::function<void(const Event&, std::int64_t step)>& visit) {
  EventReader reader(wanted.run.eventsFile());
  for (;;) {
    if (wanted.stop && *wanted.stop) throwError(ErrorCode::stopped, "stopped: nothing was exported");
    const std::vector<Event> events = reader.read(kAtOnce);
    for (const Event& event : events)
      if (const auto step = stepOfPoints(event)) visit(event, *step);
    if (events.size() < kAtOnce) return;
  }
}

// A newer attempt has been through the step: what this one said of it is past.
bool isPast(const Ways& ways, const Event& event, std::int64_t step) {
  for (auto newer = ways.upper_bound(event.attempt); newer != ways.end(); ++newer)
    for (const std::string& kind : {std::string("step"), event.kind})
      if (const auto way = newer->second.find(kind); way != newer->second.end() && way->second.has(step)) return true;
  return false;
}

std::string tagOf(std::string series) {
  if (const std::size_t dot = series.find('.'); dot != series.npos) series[dot] = '/';
  return series;
}

// A folder's name within one folder: no run leads out of it.
std::string folderName(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name.empty() || name == "." || name == ".." ? "run" : name;
}

}  // namespace

TensorBoardWritten exportTensorBoard(const TensorBoardExport& wanted) {
  if (!std::filesystem::exists(wanted.run.eventsFile()))
    throwError(ErrorCode::missingFile, "{} has no events.jsonl: name the folder of a run", wanted.run.path.string());
  Ways ways;
  std::optional<double> begin;
  forEachEvent(wanted, [&](const Event& event, std::int64_t step) {
    ways[event.attempt][event.kind].add(step);
    begin = std::min(begin.value_or(event.time), event.time);
  });
  const std::filesystem::path run = wanted.run.path.has_filename() ? wanted.run.path : wanted.run.path.parent_path();
  const std::filesystem::path folder =
      wanted.folder / folderName(wanted.name.empty() ? run.filename().string() : wanted.name);
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) throwErrno(code.value(), "make", folder);
  // The time in the name is the run's own, so that another export takes the place of this one.
  TensorBoardWritten written{
      folder / fmt::format("events.out.tfevents.{}.gradloom", static_cast<std::int64_t>(begin.value_or(0))), 0};
  EventFile file(written.file, begin.value_or(0));
  std::vector<std::pair<std::string, double>> scalars;
  forEachEvent(wanted, [&](const Event& event, std::int64_t step) {
    if (isPast(ways, event, step)) return;
    scalars.clear();
    forEachPoint(event, [&](const std::string& series, double value) {
      if (series != series::kTimeAxis) scalars.emplace_back(tagOf(series), value);
    });
    written.points += static_cast<std::int64_t>(scalars.size());
    file.add(event.time, step, scalars);
  });
  file.close();
  return written;
}

}  // namespace loom
