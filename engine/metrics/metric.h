#pragma once
// Which way a result is better (what "best" means for a checkpoint, and how a table sorts), and how it is written: as
// the layer's entry says. By catalogue id or alias; of a layer that is not known: lower, and no share.
#include <string_view>

#include "engine/layers/layer.h"

namespace loom {

Goal goalOf(std::string_view layer);

// Whether its result is a share from 0 to 1, which is written in percent: accuracies and error rates; no loss is.
bool isShare(std::string_view layer);

// Measured and not trained.
bool isMetric(std::string_view layer);

}  // namespace loom
