#pragma once
// One list of cases over the op table: odd shapes, strides, dilation, groups, broadcasting, ... Every op's gradient is
// checked on it by finite differences, and every backend runs it against the references (runCase on both, then
// compare).
#include <map>
#include <string>
#include <vector>

#include "engine/program/backend.h"
#include "engine/program/evaluator.h"

namespace loom::cases {

enum class InputKind {
  values,   // f32, a parameter of the program, so that its gradient is compared too
  state,    // f32, a state: no gradient; updated in place where the op does so
  given,    // f32, an input of the program
  labels,   // i32 in [0, high)
  bytes,    // u8 in [0, 256), an input of the program
  samples,  // i64 in [0, high), an input of the program: rows and epochs
  squares,  // f64, an input of the program: sums of squares
  step,
  firstSample,
  learningRate,
  updateCount,
  clipNorm,
  absent,
};

struct InputCase {
  Shape shape;
  InputKind kind = InputKind::values;
  double low = -1, high = 1;  // uniform; labels: 0 to high - 1
};

struct OpCase {
  std::string name;  // letters, digits and '_', unique: "convolution_groups"
  std::string op;
  std::vector<InputCase> inputs;
  Attributes attributes;
  // Floating inputs come through a scale by 1/2 and y goes through one by 2, so that the op is between tensors of the
  // program's own: those that a backend may keep in 16 bits.
  bool inside = false;
};

// Programs of one of two ranks: no process runs them by itself (tests/engine/ranks does, with others).
std::vector<OpCase> partnerCases();

inline constexpr std::int64_t kStep = 3, kFirstSample = 5, kUpdateCount = 2;
inline constexpr double kLearningRate = 0.0625, kClipNorm = 0.75;

// Each again between tensors that may be kept in 16 bits, unless it works on what the store holds alone.
std::vector<OpCase> insideOf(const std::vector<OpCase>& cases);

// Every op of the table stands in the program of at least one of these (gradient ops through the op that emits them).
const std::vector<OpCase>& opCases();

// Results: "y" (the op's first output), "loss" (rank 0: its projection on the input "projection"; the projection's own
// sum where y is no f32, so that nothing flows back through it). With `backward`, the
// gradients of all `values` inputs, which are the parameters "in0", "in1", ...; other inputs have the same names.
Program programOf(const OpCase& opCase, bool backward);
// The value of input k, or of the projection: a function of the case alone. Sized as asked for.
std::vector<double> valuesOf(const OpCase& opCase, std::size_t input, std::int64_t elements);
std::vector<double> projectionOf(const OpCase& opCase, std::int64_t elements);
// Sets all of them in an evaluator of programOf().
void prepare(const OpCase& opCase, Evaluator& evaluator);

// By name: "y", "loss", "gradient of in0", "state in3".
using Outcome = std::map<std::string, std::vector<float>>;
Outcome runCase(const OpCase& opCase, Backend& backend, const CompileOptions& options = {}, bool backward = true);
// The same for a program that was made of the case's.
Outcome runProgram(const OpCase& opCase, const Program& program, Backend& backend, const CompileOptions& options = {});
// Of y's projection, which may cancel: the sum of its magnitudes.
double magnitudeOf(const OpCase& opCase, const std::vector<float>& y);
// |a - b|_2 / max(|b|_2, 1e-6 sqrt(n)); infinite where sizes differ or only one is finite.
double relativeDistance(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace loom::cases
