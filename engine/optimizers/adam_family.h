#pragma once
// What Adam and AdamW share; they differ in where weight decay goes.
#include "engine/optimizers/fields.h"
#include "engine/optimizers/rules/adam.h"

namespace loom {

std::unique_ptr<Optimizer> makeAdam(const Values& values, DecayPlace place);
std::vector<Field> adamFields(Field weightDecay);

}  // namespace loom
