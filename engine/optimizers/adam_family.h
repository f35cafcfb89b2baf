#pragma once
// What Adam and its relatives share: fields, and where weight decay goes.
#include "engine/optimizers/fields.h"
#include "engine/optimizers/rules/adam.h"

namespace loom {

std::unique_ptr<Optimizer> makeAdam(const Values& values, DecayPlace place);
std::vector<Field> adamFields(Field weightDecay, double learningRate = 0.001);

// Of those that leave the place of weight decay to a field, `decoupled`.
inline constexpr const char* kDecayByPlace =
    "Added to the gradient as weight_decay · w before the rule; or, decoupled, each step multiplies the weights by "
    "1 − learning_rate · weight_decay.";
Field decoupledField();
DecayPlace decayPlaceOf(const Values& values);

}  // namespace loom
