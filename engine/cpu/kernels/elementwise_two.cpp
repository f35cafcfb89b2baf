// Functions of two numbers, and what folds many into one by them.
#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/each.h"
#include "engine/cpu/kernels/elementwise.h"

namespace loom::cpu {
namespace {

LOOM_INLINE Vec greater(Vec a, Vec b) {
  const Vec larger = a > b ? a : b;
  return isNan(a) ? a : larger;
}

LOOM_INLINE Vec lesser(Vec a, Vec b) {
  const Vec smaller = a < b ? a : b;
  return isNan(a) ? a : smaller;
}
LOOM_INLINE Vec powerOf(Vec a, Vec b) {
  for (int i = 0; i < kLanes; ++i) a[i] = std::pow(a[i], b[i]);
  return a;
}
LOOM_INLINE Vec remainderOf(Vec a, Vec b) {
  for (int i = 0; i < kLanes; ++i) a[i] = std::fmod(a[i], b[i]);
  return a;
}
LOOM_INLINE Vec moduloOf(Vec a, Vec b) {
  for (int i = 0; i < kLanes; ++i) {
    const float left = std::fmod(a[i], b[i]);
    a[i] = left != 0 && (left < 0) != (b[i] < 0) ? left + b[i] : left;
  }
  return a;
}
LOOM_INLINE Vec oneWhere(VecI condition) {
  return where(condition, splat(1));
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
    case BinaryFunction::minimum:
      return map2(a, b, y, count, LOOM_EACH2(lesser(a, b)));
    case BinaryFunction::power:
      return map2(a, b, y, count, LOOM_EACH2(powerOf(a, b)));
    case BinaryFunction::modulo:
      return map2(a, b, y, count, LOOM_EACH2(moduloOf(a, b)));
    case BinaryFunction::fmod:
      return map2(a, b, y, count, LOOM_EACH2(remainderOf(a, b)));
    case BinaryFunction::equal:
      return map2(a, b, y, count, LOOM_EACH2(oneWhere(a == b)));
    case BinaryFunction::notEqual:
      return map2(a, b, y, count, LOOM_EACH2(1.0f - oneWhere(a == b)));
    case BinaryFunction::greater:
      return map2(a, b, y, count, LOOM_EACH2(oneWhere(a > b)));
    case BinaryFunction::greaterEqual:
      return map2(a, b, y, count, LOOM_EACH2(oneWhere(a >= b)));
    case BinaryFunction::less:
      return map2(a, b, y, count, LOOM_EACH2(oneWhere(a < b)));
    case BinaryFunction::lessEqual:
      return map2(a, b, y, count, LOOM_EACH2(oneWhere(a <= b)));
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
    case BinaryFunction::minimum:
      return map1(a, y, count, LOOM_EACH(lesser(x, splat(b))));
    case BinaryFunction::power:
      return map1(a, y, count, LOOM_EACH(powerOf(x, splat(b))));
    case BinaryFunction::modulo:
      return map1(a, y, count, LOOM_EACH(moduloOf(x, splat(b))));
    case BinaryFunction::fmod:
      return map1(a, y, count, LOOM_EACH(remainderOf(x, splat(b))));
    case BinaryFunction::equal:
      return map1(a, y, count, LOOM_EACH(oneWhere(x == b)));
    case BinaryFunction::notEqual:
      return map1(a, y, count, LOOM_EACH(1.0f - oneWhere(x == b)));
    case BinaryFunction::greater:
      return map1(a, y, count, LOOM_EACH(oneWhere(x > b)));
    case BinaryFunction::greaterEqual:
      return map1(a, y, count, LOOM_EACH(oneWhere(x >= b)));
    case BinaryFunction::less:
      return map1(a, y, count, LOOM_EACH(oneWhere(x < b)));
    case BinaryFunction::lessEqual:
      return map1(a, y, count, LOOM_EACH(oneWhere(x <= b)));
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

template <class F>
LOOM_INLINE void foldRowsWith(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out, F f) {
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    const std::int64_t n = columns - c;
    Vec folded = loadSome(out + c, n);
    for (std::int64_t r = 0; r < rows; ++r) folded = f(loadSome(x, r * stride + c, n), folded);
    storeSome(out + c, folded, n);
  }
}

LOOM_INLINE void foldRowsRangeBody(ReduceFunction function, Stored x, std::int64_t rows, std::int64_t columns,
                                   std::int64_t stride, float* out) {
  if (function == ReduceFunction::maximum)
    foldRowsWith(x, rows, columns, stride, out, LOOM_EACH2(greater(a, b)));
  else if (function == ReduceFunction::minimum)
    foldRowsWith(x, rows, columns, stride, out, LOOM_EACH2(lesser(a, b)));
  else
    foldRowsWith(x, rows, columns, stride, out, LOOM_EACH2(a * b));
}

LOOM_INLINE void chooseRangeBody(const float* condition, const float* a, const float* b, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
}

LOOM_CPU_KERNEL(void, foldRowsRange,
                (ReduceFunction f, Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out),
                (f, x, rows, columns, stride, out))
LOOM_CPU_KERNEL(void, chooseRange,
                (const float* condition, const float* a, const float* b, float* y, std::int64_t count),
                (condition, a, b, y, count))
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

void foldRows(ReduceFunction function, Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
              float* out) {
  foldRowsRange(function, x, rows, columns, stride, out);
}
float foldAll(ReduceFunction function, Stored x, std::int64_t count, float first) {
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, beginningOf(function));
  const std::int64_t rows = count / kLanes;
  foldRowsRange(function, x, rows, kLanes, kLanes, lanes);
  for (float lane : lanes) foldRowsRange(function, inF32(&lane), 1, 1, 1, &first);
  for (std::int64_t i = rows * kLanes; i < count; ++i) foldRowsRange(function, x.from(i), 1, 1, 1, &first);
  return first;
}
void choose(const float* condition, const float* a, const float* b, float* y, std::int64_t count) {
  chooseRange(condition, a, b, y, count);
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
