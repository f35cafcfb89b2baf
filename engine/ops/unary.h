#pragma once
// The functions of the op `unary`, by name, with their derivatives.
#include "engine/program/attributes.h"

namespace loom {

enum class UnaryFunction {
  relu,
  leakyRelu,
  elu,
  selu,
  gelu,
  geluTanh,
  silu,
  sigmoid,
  tanh,
  exp,
  log,
  square,
  sqrt,
  negative,
  absolute,
  reciprocal,
  reciprocalSqrt,
  clamp,
  hardSigmoid,
  hardSwish,
  softplus,
  softsign,
  erf,
  sign,
  floor,
  ceil,
  round,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh
};

// gelu with `approximate` true is geluTanh. Throws Error(badProject) for an unknown name.
UnaryFunction unaryFunctionOf(const Attributes& attributes);

// alpha and beta, for functions that have them. leaky_relu: the slope below 0 (0.01 when absent); elu: the limit at
// minus infinity, negated (1); softplus: log(1 + e^(alpha x)) / alpha (1); clamp: the least and the largest value
// (minus and plus infinity); hard_sigmoid and hard_swish: clip(alpha x + beta, 0, 1) (1/6 and 1/2), the latter times x.
struct UnaryNumbers {
  double alpha = 1, beta = 0;
  UnaryNumbers() = default;
  UnaryNumbers(double first, double second = 0) : alpha(first), beta(second) {}
};
UnaryNumbers unaryNumbersOf(const Attributes& attributes);

// Klambauer et al., "Self-Normalizing Neural Networks", 2017.
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;

// What the derivative is computed from. Only that is given to `unary_gradient`, the other is kNoTensor.
enum class DerivativeFrom { nothing, input, output };
DerivativeFrom unaryDerivativeFrom(const Attributes& attributes);

// What is never computed in 16 bits, gradients too: what spreads numbers over many powers of ten (a square, an
// exponential; as in the automatic mixed precision of other frameworks), and steps, which rounding would move.
bool unaryNeedsAllBits(const Attributes& attributes);

double unaryValue(UnaryFunction function, const UnaryNumbers& numbers, double x);
// `at` is x or y, as unaryDerivativeFrom() says. At a kink the derivative is that of the left side; absolute has 0.
double unaryDerivative(UnaryFunction function, const UnaryNumbers& numbers, double at, DerivativeFrom from);

}  // namespace loom
