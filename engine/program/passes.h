#pragma once
// Changes of a program that keep its meaning on every machine. Each keeps tensor ids.
#include <span>

#include "engine/program/program.h"

namespace loom {

// Removes operations that lead to no result, no parameter gradient, no change of a state and nothing of `alsoKept`.
void eliminateDeadCode(Program& program, std::span<const TensorId> alsoKept = {});

// Evaluates operations on nothing but constants where the outcome is one number everywhere, drops factors of 1 and
// transposes that undo each other, and computes once what is written twice. Run before differentiate(), or after.
void simplify(Program& program);

}  // namespace loom
