#include "app/run_outline.h"

#include <algorithm>

#include "app/store_series.h"

namespace loom {
namespace {

RunOutline outlineOf(const RunData& curves, const RunOutline::Asked& asked) {
  const Axis axis = toAxis(asked.unit);
  RunOutline outline;
  outline.names = curves.names();
  if (const SeriesView loss = curves.view(series::kLoss, axis, {}, 1); !loss.columns.empty()) {
    outline.loss = {loss.columns.front().xFirst, loss.columns.back().x};
    outline.lastStep = loss.columns.back().lastStep;
  }
  for (const std::int64_t step : asked.steps) outline.x[step] = curves.xOf(axis, step);
  return outline;
}

}  // namespace

bool RunOutline::has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::unique_ptr<OutlineQuestion> outlineQuestion(const RunStore& store, const QString& run,
                                                 std::function<void()> told) {
  return std::make_unique<OutlineQuestion>(store, run, outlineOf, std::move(told));
}

}  // namespace loom
