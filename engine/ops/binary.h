#pragma once
// The functions of the op `binary`, by name.
#include "engine/program/attributes.h"

namespace loom {

// Arithmetic, then comparisons, which answer 1 where they hold and 0 elsewhere (of a NaN only notEqual holds).
enum class BinaryFunction {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  power,
  modulo,  // a - b floor(a / b): the sign of b, as Python's %
  fmod,    // a - b trunc(a / b): the sign of a, as C's
  equal,
  notEqual,
  greater,
  greaterEqual,
  less,
  lessEqual
};

// Throws Error(badProject) for an unknown name.
BinaryFunction binaryFunctionOf(const Attributes& attributes);
// What is never computed in 16 bits: numbers that rounding would make equal or carry over a step, and powers.
inline bool needsAllBits(BinaryFunction function) {
  return function >= BinaryFunction::power;
}

double binaryValue(BinaryFunction function, double a, double b);

}  // namespace loom
