#include "engine/cpu/kernels/elementwise.h"

#include <cmath>

#include "engine/cpu/kernels/each.h"
#include "engine/cpu/kernels/gelu.h"

namespace loom::cpu {
namespace {

constexpr float kTwoOverRootPi = 1.12837916709551257f;
constexpr float kGeluRoot = 0.79788456080286536f, kGeluCubic = 0.044715f;

template <class V>
LOOM_INLINE V rootOf(V x) {
  for (int i = 0; i < lanes<V>; ++i) x[i] = std::sqrt(x[i]);
  return x;
}
template <class V>
LOOM_INLINE V logOf(V x) {
  for (int i = 0; i < lanes<V>; ++i) x[i] = std::log(x[i]);
  return x;
}
// Relative precision near 0, where e^x - 1 would cancel.
template <class V>
LOOM_INLINE V expm1(V x) {
  const V small = x * (1.0f + x * (0.5f + x * (1.0f / 6 + x * (1.0f / 24 + x * (1.0f / 120)))));
  return absolute(x) < 0.1f ? small : exp(x) - 1.0f;
}
template <class V>
LOOM_INLINE V geluTanhInner(V x) {
  return tanh(kGeluRoot * (x + kGeluCubic * x * x * x));
}

// Between 0 and 1; a NaN stays one.
template <class V>
LOOM_INLINE V clipped(V x) {
  return x < 0.0f ? V{} : (x > 1.0f ? splatOf<V>(1) : x);
}
// log(1 + e^-a) for a >= 0: with z = e^-a / (2 + e^-a) it is 2 artanh(z), and z is at most 1/3.
template <class V>
LOOM_INLINE V logOnePlusExp(V a) {
  const V e = exp(-a), z = e / (2.0f + e), s = z * z;
  return 2.0f * z *
         (1.0f + s * (1.0f / 3 + s * (1.0f / 5 + s * (1.0f / 7 + s * (1.0f / 9 + s * (1.0f / 11 + s * (1.0f / 13)))))));
}
// One at a time, by the library's function.
template <class F>
LOOM_INLINE void mapOne(const float* x, float* y, std::int64_t count, F f) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
}
#define LOOM_EACH_ONE(expression) [](float x) { return expression; }

// Those that no network computes often.
void rareUnary(UnaryFunction function, const float* x, float* y, std::int64_t count) {
  switch (function) {
    case UnaryFunction::sin:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::sin(x)));
    case UnaryFunction::cos:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::cos(x)));
    case UnaryFunction::tan:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::tan(x)));
    case UnaryFunction::asin:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::asin(x)));
    case UnaryFunction::acos:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::acos(x)));
    case UnaryFunction::atan:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::atan(x)));
    case UnaryFunction::sinh:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::sinh(x)));
    case UnaryFunction::cosh:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::cosh(x)));
    case UnaryFunction::asinh:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::asinh(x)));
    case UnaryFunction::acosh:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::acosh(x)));
    case UnaryFunction::atanh:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::atanh(x)));
    case UnaryFunction::floor:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::floor(x)));
    case UnaryFunction::ceil:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::ceil(x)));
    default:
      return mapOne(x, y, count, LOOM_EACH_ONE(std::nearbyint(x)));
  }
}

template <Level kNative>
LOOM_INLINE void unaryRangeBody(UnaryFunction function, float alpha, float beta, const float* x, float* y,
                                std::int64_t count) {
  constexpr float scale = static_cast<float>(kSeluScale), seluAlpha = static_cast<float>(kSeluAlpha);
  switch (function) {
    case UnaryFunction::relu:
      return map1<kNative>(x, y, count, LOOM_EACH(x < 0.0f ? V{} : x));
    case UnaryFunction::leakyRelu:
      return map1<kNative>(x, y, count, LOOM_EACH(x > 0.0f ? x : alpha * x));
    case UnaryFunction::elu:
      return map1<kNative>(x, y, count, LOOM_EACH(x > 0.0f ? x : alpha * expm1(x)));
    case UnaryFunction::selu:
      return map1<kNative>(x, y, count, LOOM_EACH(scale * (x > 0.0f ? x : seluAlpha * expm1(x))));
    case UnaryFunction::geluTanh:
      return map1<kNative>(x, y, count, LOOM_EACH(0.5f * x * (1.0f + geluTanhInner(x))));
    case UnaryFunction::silu:
      return map1<kNative>(x, y, count, LOOM_EACH(x * sigmoid(x)));
    case UnaryFunction::sigmoid:
      return map1<kNative>(x, y, count, LOOM_EACH(sigmoid(x)));
    case UnaryFunction::tanh:
      return map1<kNative>(x, y, count, LOOM_EACH(tanh(x)));
    case UnaryFunction::exp:
      return map1<kNative>(x, y, count, LOOM_EACH(exp(x)));
    case UnaryFunction::log:
      return map1<kNative>(x, y, count, LOOM_EACH(logOf(x)));
    case UnaryFunction::square:
      return map1<kNative>(x, y, count, LOOM_EACH(x * x));
    case UnaryFunction::sqrt:
      return map1<kNative>(x, y, count, LOOM_EACH(rootOf(x)));
    case UnaryFunction::negative:
      return map1<kNative>(x, y, count, LOOM_EACH(-x));
    case UnaryFunction::absolute:
      return map1<kNative>(x, y, count, LOOM_EACH(absolute(x)));
    case UnaryFunction::reciprocal:
      return map1<kNative>(x, y, count, LOOM_EACH(1.0f / x));
    case UnaryFunction::reciprocalSqrt:
      return map1<kNative>(x, y, count, LOOM_EACH(1.0f / rootOf(x)));
    case UnaryFunction::clamp:
      return map1<kNative>(x, y, count, LOOM_EACH(x < alpha ? splatOf<V>(alpha) : (x > beta ? splatOf<V>(beta) : x)));
    case UnaryFunction::hardSigmoid:
      return map1<kNative>(x, y, count, LOOM_EACH(clipped(alpha * x + beta)));
    case UnaryFunction::hardSwish:
      return map1<kNative>(x, y, count, LOOM_EACH(x * clipped(alpha * x + beta)));
    case UnaryFunction::softplus:
      return map1<kNative>(x, y, count, LOOM_EACH((x < 0.0f ? V{} : x) + logOnePlusExp(absolute(alpha * x)) / alpha));
    case UnaryFunction::softsign:
      return map1<kNative>(x, y, count, LOOM_EACH(x / (1.0f + absolute(x))));
    case UnaryFunction::erf:
      return map1<kNative>(x, y, count, LOOM_EACH(erf(x)));
    case UnaryFunction::sign:
      return map1<kNative>(x, y, count, LOOM_EACH(x > 0.0f ? splatOf<V>(1) : (x < 0.0f ? splatOf<V>(-1) : x)));
    default:
      return rareUnary(function, x, y, count);
  }
}

template <class V>
LOOM_INLINE V geluTanhSlope(V x) {
  const V t = geluTanhInner(x);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kGeluRoot * (1.0f + 3 * kGeluCubic * x * x);
}

void rareUnaryGradient(UnaryFunction function, const float* at, const float* dy, float* dx, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    dx[i] = dy[i] * static_cast<float>(unaryDerivative(function, {}, at[i], DerivativeFrom::input));
}

template <class V>
LOOM_INLINE V hardSwishSlope(V x, float alpha, float beta) {
  const V share = alpha * x + beta;
  return clipped(share) + (share > 0.0f ? (share < 1.0f ? alpha * x : V{}) : V{});
}

// a = what the derivative is computed from, b = dy.
template <Level kNative>
LOOM_INLINE void unaryGradientRangeBody(UnaryFunction function, float alpha, float beta, bool fromOutput,
                                        const float* at, const float* dy, float* dx, std::int64_t count) {
  constexpr float scale = static_cast<float>(kSeluScale), limit = static_cast<float>(kSeluScale * kSeluAlpha);
  switch (function) {
    case UnaryFunction::relu:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : V{}));
    case UnaryFunction::leakyRelu:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : alpha * b));
    case UnaryFunction::elu:
      if (fromOutput) return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : b * (a + alpha)));
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : b * alpha * exp(a)));
    case UnaryFunction::selu:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * (a > 0.0f ? splatOf<V>(scale) : a + limit)));
    case UnaryFunction::geluTanh:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * geluTanhSlope(a)));
    case UnaryFunction::silu:
      return map2<kNative>(
          at, dy, dx, count, [](auto a, auto b) __attribute__((always_inline)) {
            const auto s = sigmoid(a);
            return b * s * (1.0f + a * (1.0f - s));
          });
    case UnaryFunction::sigmoid:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * a * (1.0f - a)));
    case UnaryFunction::tanh:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * (1.0f - a * a)));
    case UnaryFunction::exp:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * a));
    case UnaryFunction::log:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b / a));
    case UnaryFunction::square:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(2.0f * a * b));
    case UnaryFunction::sqrt:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(0.5f * b / a));
    case UnaryFunction::negative:
      return map1<kNative>(dy, dx, count, LOOM_EACH(-x));
    case UnaryFunction::absolute:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : (a < 0.0f ? -b : V{})));
    case UnaryFunction::reciprocal:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(-b * a * a));
    case UnaryFunction::reciprocalSqrt:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(-0.5f * b * a * a * a));
    case UnaryFunction::clamp:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > alpha ? (a < beta ? b : V{}) : V{}));
    case UnaryFunction::hardSigmoid:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? (a < 1.0f ? alpha * b : V{}) : V{}));
    case UnaryFunction::hardSwish:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * hardSwishSlope(a, alpha, beta)));
    case UnaryFunction::softplus:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * sigmoid(alpha * a)));
    case UnaryFunction::softsign:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b / ((1.0f + absolute(a)) * (1.0f + absolute(a)))));
    case UnaryFunction::erf:
      return map2<kNative>(at, dy, dx, count, LOOM_EACH2(b * exp(-a * a) * kTwoOverRootPi));
    default:
      return rareUnaryGradient(function, at, dy, dx, count);
  }
}

LOOM_CPU_KERNEL_HALVES(void, unaryRange,
                       (UnaryFunction f, float alpha, float beta, const float* x, float* y, std::int64_t count),
                       (f, alpha, beta, x, y, count))
LOOM_CPU_KERNEL_HALVES(void, unaryGradientRange,
                       (UnaryFunction f, float alpha, float beta, bool fromOutput, const float* at, const float* dy,
                        float* dx, std::int64_t count),
                       (f, alpha, beta, fromOutput, at, dy, dx, count))

}  // namespace

void unary(UnaryFunction function, const UnaryNumbers& numbers, const float* x, float* y, std::int64_t count) {
  if (function == UnaryFunction::gelu) return gelu(inF32(x), inF32(y), count);
  unaryRange(function, static_cast<float>(numbers.alpha), static_cast<float>(numbers.beta), x, y, count);
}
void unaryGradient(UnaryFunction function, const UnaryNumbers& numbers, bool fromOutput, const float* at,
                   const float* dy, float* dx, std::int64_t count) {
  if (function == UnaryFunction::gelu) return geluGradient(inF32(at), inF32(dy), inF32(dx), count);
  unaryGradientRange(function, static_cast<float>(numbers.alpha), static_cast<float>(numbers.beta), fromOutput, at, dy,
                     dx, count);
}

}  // namespace loom::cpu
