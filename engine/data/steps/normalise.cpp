#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

MultiplyAdd valuesOfNormalise(const Values& given, std::size_t channels) {
  if (!given.has("mean") || !given.has("deviation"))
    throwError(
        ErrorCode::badProject,
        "mean and deviation are not known yet: they are measured on the training set, which must be opened first");
  const auto means = given.reals("mean"), deviations = given.reals("deviation");
  const auto fits = [&](std::size_t count) { return count == 1 || count == channels; };
  if (!fits(means.size()) || !fits(deviations.size()))
    throwError(ErrorCode::badProject,
               "{} means and {} deviations are given, but there {} {} channel{}; give one number, or {}", means.size(),
               deviations.size(), channels == 1 ? "is" : "are", channels, channels == 1 ? "" : "s", channels);
  MultiplyAdd made;
  for (std::size_t c = 0; c < std::max(means.size(), deviations.size()); ++c) {
    const double mean = means[means.size() == 1 ? 0 : c], deviation = deviations[deviations.size() == 1 ? 0 : c];
    made.scale.push_back(1 / deviation);
    made.shift.push_back(-mean / deviation);
  }
  return made;
}

}  // namespace

const PrepareStep& defineNormaliseStep() {
  static const PrepareStep step{
      .entry =
          {.id = "Normalise",
           .label = "Normalise",
           .category = "values",
           .icon = "normalise",
           .aliases = {"Normalize"},
           .summary = "Brings values to mean 0 and deviation 1",
           .help =
               "y = (x − mean) / deviation, with one number for all or one a channel (an image's channels, a table's "
               "columns, a vector's elements). Left empty, both are measured on the training set when training starts.",
           .fields = {{.key = "mean",
                       .label = "Mean",
                       .help = "One number, or one a channel; empty = measured on the training set.",
                       .type = FieldType::reals,
                       .hard = Range{-1e30, 1e30},
                       .optional = true,
                       .important = true,
                       .absent = "measured"},
                      {.key = "deviation",
                       .label = "Deviation",
                       .help = "One number, or one a channel; empty = measured on the training set.",
                       .type = FieldType::reals,
                       .hard = Range{1e-30, 1e30},
                       .optional = true,
                       .important = true,
                       .absent = "measured"},
                      variableField()}},
      .measured = true,
      .values = valuesOfNormalise};
  return step;
}

}  // namespace loom
