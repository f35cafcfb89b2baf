#pragma once
// How weights begin. Every rule is a distribution whose width follows from the layer's fan: fan_in numbers are summed
// into one output, fan_out outputs take one input.
#include "engine/catalogue/entry.h"
#include "engine/program/program.h"

namespace loom {

struct Fan {
  double in = 1;
  double out = 1;
};

// The fields `initializer` and `deviation` (of normal). `defaultRule` is a choice's id.
std::vector<Field> initializerFields(const char* defaultRule);
// Of the weights, from these fields.
Initializer weightInitializer(const Values& values, const Fan& fan);
// Of the bias beside them: zeros, but U(-1/sqrt(fan_in), 1/sqrt(fan_in)) under pytorch_uniform, as PyTorch does.
Initializer biasInitializer(const Values& values, const Fan& fan);

}  // namespace loom
