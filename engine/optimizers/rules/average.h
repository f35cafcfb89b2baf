#pragma once
#include <cstdint>

#include "engine/base/device_inline.h"

namespace loom {

// The share of an exponential average of the weights that is kept at update `number`, from 1: the decay, or less while
// the average is young, so that it does not keep the first weights for long (TensorFlow's ramp, (1 + t) / (10 + t) with
// t updates before). Before the first update the average is the weights as they are.
LOOM_DEVICE_INLINE double keptOfAverage(double decay, std::int64_t number) {
  const double ramp = static_cast<double>(number) / static_cast<double>(number + 9);
  return ramp < decay ? ramp : decay;
}

}  // namespace loom
