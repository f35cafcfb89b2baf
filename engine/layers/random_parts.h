#pragma once
#include <string_view>

#include "engine/layers/layer.h"

namespace loom {

// Random numbers ("normal", "uniform") of this shape of a sample, a function of the run's seed, the layer's name, the
// step and the sample; `what` keeps several of one layer apart.
TensorId randomNumbers(const LowerArguments& arguments, const char* distribution, const Shape& sample,
                       std::string_view what = {});

}  // namespace loom
