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
  absolute
};

// gelu with `approximate` true is geluTanh. Throws Error(badProject) for an unknown name.
UnaryFunction unaryFunctionOf(const Attributes& attributes);
// leaky_relu: the slope below 0 (0.01 when absent); elu: the limit at minus infinity, negated (1).
double unaryAlphaOf(const Attributes& attributes);

// Klambauer et al., "Self-Normalizing Neural Networks", 2017.
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;

// What the derivative is computed from. Only that is given to `unary_gradient`, the other is kNoTensor.
enum class DerivativeFrom { nothing, input, output };
DerivativeFrom unaryDerivativeFrom(const Attributes& attributes);

double unaryValue(UnaryFunction function, double alpha, double x);
// `at` is x or y, as unaryDerivativeFrom() says. At a kink the derivative is that of the left side; absolute has 0.
double unaryDerivative(UnaryFunction function, double alpha, double at, DerivativeFrom from);

}  // namespace loom
