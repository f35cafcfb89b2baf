#pragma once
// Batches that change by stages: `batch_at` and `batch_then` of the settings.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/base/error.h"
#include "engine/catalogue/entry.h"

namespace loom {

// Another batch from an epoch on.
struct BatchStage {
  double epoch = 0;  // whole
  std::int64_t batch = 0;
};

// In the order of epochs; before the first it is `batch`. Throws Error(badProject) for stages that cannot be.
inline std::vector<BatchStage> batchStages(const Values& settings) {
  const std::vector<double> at = settings.reals("batch_at"), then = settings.reals("batch_then");
  const std::int64_t passes = settings.integer("accumulate");
  if (at.size() != then.size())
    throwError(ErrorCode::badProject,
               "the batch changes at {} epochs (batch_at), but to {} values (batch_then); give one for each", at.size(),
               then.size());
  std::vector<BatchStage> stages;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] != std::floor(at[i]) || (i > 0 && at[i] <= at[i - 1]))
      throwError(ErrorCode::badProject,
                 "batch_at has {:g}, but the batch changes at whole epochs, each behind the one before", at[i]);
    if (then[i] != std::floor(then[i]) || then[i] < static_cast<double>(passes) || then[i] > (1 << 30))
      throwError(ErrorCode::badProject,
                 "batch_then has {:g}, but a batch is a whole number of samples, at least {} for as many accumulation "
                 "passes",
                 then[i], passes);
    stages.push_back({.epoch = at[i], .batch = static_cast<std::int64_t>(then[i])});
  }
  return stages;
}

// Of the stage that has most: it decides whether a run fits into memory. Of settings that batchStages() takes.
inline std::int64_t largestBatch(const Values& settings) {
  std::int64_t largest = settings.integer("batch");
  for (const double batch : settings.reals("batch_then")) largest = std::max(largest, static_cast<std::int64_t>(batch));
  return largest;
}

}  // namespace loom
