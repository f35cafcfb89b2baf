#include "engine/cpu/kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {
namespace {

constexpr float kInverseSqrt2 = 0.70710678118654752f, kInverseSqrt2Pi = 0.39894228040143268f;
constexpr float kGeluRoot = 0.79788456080286536f, kGeluCubic = 0.044715f;

template <class F>
LOOM_INLINE void map1(const float* x, float* y, std::int64_t count, F f) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, f(load(x + i)));
  if (i < count) storePart(y + i, f(loadPart(x + i, count - i, 1)), count - i);
}

template <class F>
LOOM_INLINE void map2(const float* a, const float* b, float* y, std::int64_t count, F f) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, f(load(a + i), load(b + i)));
  if (i < count) storePart(y + i, f(loadPart(a + i, count - i, 1), loadPart(b + i, count - i, 1)), count - i);
}

#define LOOM_EACH(expression)                 \
  [=](Vec x) __attribute__((always_inline)) { \
    return expression;                        \
  }
#define LOOM_EACH2(expression)                       \
  [=](Vec a, Vec b) __attribute__((always_inline)) { \
    return expression;                               \
  }

LOOM_INLINE Vec rootOf(Vec x) {
  for (int i = 0; i < kLanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
}
LOOM_INLINE Vec logOf(Vec x) {
  for (int i = 0; i < kLanes; ++i) x[i] = std::log(x[i]);
  return x;
}
// Relative precision near 0, where e^x - 1 would cancel.
LOOM_INLINE Vec expm1(Vec x) {
  const Vec small = x * (1.0f + x * (0.5f + x * (1.0f / 6 + x * (1.0f / 24 + x * (1.0f / 120)))));
  return absolute(x) < 0.1f ? small : exp(x) - 1.0f;
}
LOOM_INLINE Vec geluTanhInner(Vec x) {
  return tanh(kGeluRoot * (x + kGeluCubic * x * x * x));
}

LOOM_INLINE void unaryRangeBody(UnaryFunction function, float alpha, const float* x, float* y, std::int64_t count) {
  constexpr float scale = static_cast<float>(kSeluScale), seluAlpha = static_cast<float>(kSeluAlpha);
  switch (function) {
    case UnaryFunction::relu:
      return map1(x, y, count, LOOM_EACH(x < 0.0f ? Vec{} : x));
    case UnaryFunction::leakyRelu:
      return map1(x, y, count, LOOM_EACH(x > 0.0f ? x : alpha * x));
    case UnaryFunction::elu:
      return map1(x, y, count, LOOM_EACH(x > 0.0f ? x : alpha * expm1(x)));
    case UnaryFunction::selu:
      return map1(x, y, count, LOOM_EACH(scale * (x > 0.0f ? x : seluAlpha * expm1(x))));
    case UnaryFunction::gelu:
      return map1(x, y, count, LOOM_EACH(0.5f * x * (1.0f + erf(x * kInverseSqrt2))));
    case UnaryFunction::geluTanh:
      return map1(x, y, count, LOOM_EACH(0.5f * x * (1.0f + geluTanhInner(x))));
    case UnaryFunction::silu:
      return map1(x, y, count, LOOM_EACH(x * sigmoid(x)));
    case UnaryFunction::sigmoid:
      return map1(x, y, count, LOOM_EACH(sigmoid(x)));
    case UnaryFunction::tanh:
      return map1(x, y, count, LOOM_EACH(tanh(x)));
    case UnaryFunction::exp:
      return map1(x, y, count, LOOM_EACH(exp(x)));
    case UnaryFunction::log:
      return map1(x, y, count, LOOM_EACH(logOf(x)));
    case UnaryFunction::square:
      return map1(x, y, count, LOOM_EACH(x * x));
    case UnaryFunction::sqrt:
      return map1(x, y, count, LOOM_EACH(rootOf(x)));
    case UnaryFunction::negative:
      return map1(x, y, count, LOOM_EACH(-x));
    case UnaryFunction::absolute:
      return map1(x, y, count, LOOM_EACH(absolute(x)));
  }
}

LOOM_INLINE Vec geluTanhSlope(Vec x) {
  const Vec t = geluTanhInner(x);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kGeluRoot * (1.0f + 3 * kGeluCubic * x * x);
}

// a = what the derivative is computed from, b = dy.
LOOM_INLINE void unaryGradientRangeBody(UnaryFunction function, float alpha, bool fromOutput, const float* at,
                                        const float* dy, float* dx, std::int64_t count) {
  constexpr float scale = static_cast<float>(kSeluScale), limit = static_cast<float>(kSeluScale * kSeluAlpha);
  switch (function) {
    case UnaryFunction::relu:
      return map2(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : Vec{}));
    case UnaryFunction::leakyRelu:
      return map2(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : alpha * b));
    case UnaryFunction::elu:
      if (fromOutput) return map2(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : b * (a + alpha)));
      return map2(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : b * alpha * exp(a)));
    case UnaryFunction::selu:
      return map2(at, dy, dx, count, LOOM_EACH2(b * (a > 0.0f ? splat(scale) : a + limit)));
    case UnaryFunction::gelu:
      return map2(at, dy, dx, count,
                  LOOM_EACH2(b * (0.5f * (1.0f + erf(a * kInverseSqrt2)) + a * exp(-0.5f * a * a) * kInverseSqrt2Pi)));
    case UnaryFunction::geluTanh:
      return map2(at, dy, dx, count, LOOM_EACH2(b * geluTanhSlope(a)));
    case UnaryFunction::silu:
      return map2(
          at, dy, dx, count, [](Vec a, Vec b) __attribute__((always_inline)) {
            const Vec s = sigmoid(a);
            return b * s * (1.0f + a * (1.0f - s));
          });
    case UnaryFunction::sigmoid:
      return map2(at, dy, dx, count, LOOM_EACH2(b * a * (1.0f - a)));
    case UnaryFunction::tanh:
      return map2(at, dy, dx, count, LOOM_EACH2(b * (1.0f - a * a)));
    case UnaryFunction::exp:
      return map2(at, dy, dx, count, LOOM_EACH2(b * a));
    case UnaryFunction::log:
      return map2(at, dy, dx, count, LOOM_EACH2(b / a));
    case UnaryFunction::square:
      return map2(at, dy, dx, count, LOOM_EACH2(2.0f * a * b));
    case UnaryFunction::sqrt:
      return map2(at, dy, dx, count, LOOM_EACH2(0.5f * b / a));
    case UnaryFunction::negative:
      return map1(dy, dx, count, LOOM_EACH(-x));
    case UnaryFunction::absolute:
      return map2(at, dy, dx, count, LOOM_EACH2(a > 0.0f ? b : (a < 0.0f ? -b : Vec{})));
  }
}

LOOM_INLINE Vec greater(Vec a, Vec b) {
  const Vec larger = a > b ? a : b;
  return isNan(a) ? a : larger;
}

LOOM_INLINE void binaryRangeBody(BinaryFunction function, const float* a, const float* b, float* y,
                                 std::int64_t count) {
  switch (function) {
    case BinaryFunction::add:
      return map2(a, b, y, count, LOOM_EACH2(a + b));
    case BinaryFunction::subtract:
      return map2(a, b, y, count, LOOM_EACH2(a - b));
    case BinaryFunction::multiply:
      return map2(a, b, y, count, LOOM_EACH2(a * b));
    case BinaryFunction::divide:
      return map2(a, b, y, count, LOOM_EACH2(a / b));
    case BinaryFunction::maximum:
      return map2(a, b, y, count, LOOM_EACH2(greater(a, b)));
  }
}

LOOM_INLINE void binaryScalarRangeBody(BinaryFunction function, const float* a, float b, float* y, std::int64_t count) {
  switch (function) {
    case BinaryFunction::add:
      return map1(a, y, count, LOOM_EACH(x + b));
    case BinaryFunction::subtract:
      return map1(a, y, count, LOOM_EACH(x - b));
    case BinaryFunction::multiply:
      return map1(a, y, count, LOOM_EACH(x * b));
    case BinaryFunction::divide:
      return map1(a, y, count, LOOM_EACH(x / b));
    case BinaryFunction::maximum:
      return map1(a, y, count, LOOM_EACH(greater(x, splat(b))));
  }
}

LOOM_INLINE void addReluRangeBody(const float* a, const float* b, float* y, std::int64_t count) {
  map2(
      a, b, y, count, [](Vec a, Vec b) __attribute__((always_inline)) {
        const Vec s = a + b;
        return s < 0.0f ? Vec{} : s;
      });
}

LOOM_INLINE void addMaskedRangeBody(const float* a, const float* b, const float* mask, float* y, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, load(mask + i) > 0.0f ? load(a + i) + load(b + i) : Vec{});
  for (; i < count; ++i) y[i] = mask[i] > 0 ? a[i] + b[i] : 0;
}

LOOM_INLINE void scaleRangeBody(const float* x, float factor, float offset, float* y, std::int64_t count) {
  map1(x, y, count, LOOM_EACH(x * factor + offset));
}

constexpr std::int64_t kRowBlock = 512;

LOOM_INLINE void sumRowsRangeBody(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += kRowBlock) {
    const std::int64_t r1 = std::min(rows, r0 + kRowBlock);
    std::int64_t c = 0;
    for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
      Vec s0{}, s1{}, s2{}, s3{};
      for (std::int64_t r = r0; r < r1; ++r) {
        const std::int64_t row = r * stride + c;
        s0 += loadSome(x, row, kLanes);
        s1 += loadSome(x, row + 16, kLanes);
        s2 += loadSome(x, row + 32, kLanes);
        s3 += loadSome(x, row + 48, kLanes);
      }
      store(out + c, load(out + c) + s0);
      store(out + c + 16, load(out + c + 16) + s1);
      store(out + c + 32, load(out + c + 32) + s2);
      store(out + c + 48, load(out + c + 48) + s3);
    }
    for (; c + kLanes <= columns; c += kLanes) {
      Vec s{};
      for (std::int64_t r = r0; r < r1; ++r) s += loadSome(x, r * stride + c, kLanes);
      store(out + c, load(out + c) + s);
    }
    if (c < columns) {
      const std::int64_t n = columns - c;
      Vec s{};
      for (std::int64_t r = r0; r < r1; ++r) s += loadSome(x, r * stride + c, n);
      storePart(out + c, loadPart(out + c, n) + s, n);
    }
  }
}

LOOM_INLINE double sumAllRangeBody(Stored x, std::int64_t count) {
  double total = 0;
  std::int64_t i = 0;
  for (; i + 1024 <= count; i += 1024) {
    Vec s{};
    for (std::int64_t j = 0; j < 1024; j += kLanes) s += loadSome(x, i + j, kLanes);
    total += sum(s);
  }
  for (; i < count; ++i) total += numberAt(x, i);
  return total;
}

LOOM_CPU_KERNEL(void, unaryRange, (UnaryFunction f, float alpha, const float* x, float* y, std::int64_t count),
                (f, alpha, x, y, count))
LOOM_CPU_KERNEL(void, unaryGradientRange,
                (UnaryFunction f, float alpha, bool fromOutput, const float* at, const float* dy, float* dx,
                 std::int64_t count),
                (f, alpha, fromOutput, at, dy, dx, count))
LOOM_CPU_KERNEL(void, binaryRange, (BinaryFunction f, const float* a, const float* b, float* y, std::int64_t count),
                (f, a, b, y, count))
LOOM_CPU_KERNEL(void, binaryScalarRange, (BinaryFunction f, const float* a, float b, float* y, std::int64_t count),
                (f, a, b, y, count))
LOOM_CPU_KERNEL(void, addReluRange, (const float* a, const float* b, float* y, std::int64_t count), (a, b, y, count))
LOOM_CPU_KERNEL(void, addMaskedRange, (const float* a, const float* b, const float* mask, float* y, std::int64_t count),
                (a, b, mask, y, count))
LOOM_CPU_KERNEL(void, scaleRange, (const float* x, float factor, float offset, float* y, std::int64_t count),
                (x, factor, offset, y, count))
LOOM_CPU_KERNEL(void, sumRowsRange,
                (Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out),
                (x, rows, columns, stride, out))
LOOM_CPU_KERNEL(double, sumAllRange, (Stored x, std::int64_t count), (x, count))

}  // namespace

void unary(UnaryFunction function, float alpha, const float* x, float* y, std::int64_t count) {
  unaryRange(function, alpha, x, y, count);
}
void unaryGradient(UnaryFunction function, float alpha, bool fromOutput, const float* at, const float* dy, float* dx,
                   std::int64_t count) {
  unaryGradientRange(function, alpha, fromOutput, at, dy, dx, count);
}
BinaryFunction binaryFunctionOf(const Attributes& attributes) {
  const std::string& name = attributes.text("function");
  return name == "add"        ? BinaryFunction::add
         : name == "subtract" ? BinaryFunction::subtract
         : name == "multiply" ? BinaryFunction::multiply
         : name == "divide"   ? BinaryFunction::divide
                              : BinaryFunction::maximum;
}
void binary(BinaryFunction function, const float* a, const float* b, float* y, std::int64_t count) {
  binaryRange(function, a, b, y, count);
}
void binaryScalar(BinaryFunction function, const float* a, float b, float* y, std::int64_t count) {
  binaryScalarRange(function, a, b, y, count);
}
void addRelu(const float* a, const float* b, float* y, std::int64_t count) {
  addReluRange(a, b, y, count);
}
void addMasked(const float* a, const float* b, const float* mask, float* y, std::int64_t count) {
  addMaskedRange(a, b, mask, y, count);
}
void scale(const float* x, float factor, float offset, float* y, std::int64_t count) {
  scaleRange(x, factor, offset, y, count);
}
void sumRows(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out) {
  sumRowsRange(x, rows, columns, stride, out);
}
double sumAll(Stored x, std::int64_t count) {
  return sumAllRange(x, count);
}

}  // namespace loom::cpu
