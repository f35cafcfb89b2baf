#pragma once
// What a page asks of a run's curves before it draws them: which there are, and from where to where they go.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/store_question.h"
#include "widgets/chart/series_source.h"

namespace loom {

struct RunOutline {
  struct Asked {
    XUnit unit = XUnit::step;
    std::vector<std::int64_t> steps;  // whose place on the axis is wanted
    bool operator==(const Asked&) const = default;
  };
  std::vector<std::string> names;                 // of the series
  std::optional<std::pair<double, double>> loss;  // x of its first and last point
  std::int64_t lastStep = -1;                     // of the loss
  std::map<std::int64_t, double> x;               // of the steps asked for

  bool has(const std::string& name) const;
};

using OutlineQuestion = StoreQuestion<RunOutline::Asked, RunOutline>;
// `told`: on the window's thread, when there is more than the last ask() said.
std::unique_ptr<OutlineQuestion> outlineQuestion(const RunStore& store, const QString& run, std::function<void()> told);

}  // namespace loom
