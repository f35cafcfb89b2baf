#pragma once
// The rule that Adam and AdamW share; they differ in where weight decay goes.
#include "engine/optimizers/rule.h"

namespace loom {

enum class DecayPlace { gradient, weight };

// Slots "m" and "v". With t counted from 1:
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g²
//   w -= learning_rate / (1 - beta1^t) · m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
std::unique_ptr<Optimizer> makeAdamRule(const Values& values, DecayPlace place);
std::vector<Field> adamFields(Field weightDecay);

}  // namespace loom
