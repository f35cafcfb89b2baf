// Functions of two numbers, and what folds many into one by them.
#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/each.h"
#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

template <class V>
LOOM_INLINE V greater(V a, V b) {
  const V larger = a > b ? a : b;
  return isNan(a) ? a : larger;
}

template <class V>
LOOM_INLINE V lesser(V a, V b) {
  const V smaller = a < b ? a : b;
  return isNan(a) ? a : smaller;
}
template <class V>
LOOM_INLINE V powerOf(V a, V b) {
  for (int i = 0; i < lanes<V>; ++i) a[i] = std::pow(a[i], b[i]);
  return a;
}
template <class V>
LOOM_INLINE V remainderOf(V a, V b) {
  for (int i = 0; i < lanes<V>; ++i) a[i] = std::fmod(a[i], b[i]);
  return a;
}
template <class V>
LOOM_INLINE V moduloOf(V a, V b) {
  for (int i = 0; i < lanes<V>; ++i) {
    const float left = std::fmod(a[i], b[i]);
    a[i] = left != 0 && (left < 0) != (b[i] < 0) ? left + b[i] : left;
  }
  return a;
}
template <class Condition>
LOOM_INLINE auto oneWhere(Condition condition) {
  if constexpr (sizeof(Condition) == sizeof(Vec8))
    return where(condition, splatOf<Vec8>(1));
  else
    return where(condition, splat(1));
}

template <Level kNative>
LOOM_INLINE void binaryRangeBody(BinaryFunction function, const float* a, const float* b, float* y,
                                 std::int64_t count) {
  switch (function) {
    case BinaryFunction::add:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(a + b));
    case BinaryFunction::subtract:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(a - b));
    case BinaryFunction::multiply:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(a * b));
    case BinaryFunction::divide:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(a / b));
    case BinaryFunction::maximum:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(greater(a, b)));
    case BinaryFunction::minimum:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(lesser(a, b)));
    case BinaryFunction::power:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(powerOf(a, b)));
    case BinaryFunction::modulo:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(moduloOf(a, b)));
    case BinaryFunction::fmod:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(remainderOf(a, b)));
    case BinaryFunction::equal:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(oneWhere(a == b)));
    case BinaryFunction::notEqual:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(1.0f - oneWhere(a == b)));
    case BinaryFunction::greater:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(oneWhere(a > b)));
    case BinaryFunction::greaterEqual:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(oneWhere(a >= b)));
    case BinaryFunction::less:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(oneWhere(a < b)));
    case BinaryFunction::lessEqual:
      return map2<kNative>(a, b, y, count, LOOM_EACH2(oneWhere(a <= b)));
  }
}

template <Level kNative>
LOOM_INLINE void binaryScalarRangeBody(BinaryFunction function, const float* a, float b, float* y, std::int64_t count) {
  switch (function) {
    case BinaryFunction::add:
      return map1<kNative>(a, y, count, LOOM_EACH(x + b));
    case BinaryFunction::subtract:
      return map1<kNative>(a, y, count, LOOM_EACH(x - b));
    case BinaryFunction::multiply:
      return map1<kNative>(a, y, count, LOOM_EACH(x * b));
    case BinaryFunction::divide:
      return map1<kNative>(a, y, count, LOOM_EACH(x / b));
    case BinaryFunction::maximum:
      return map1<kNative>(a, y, count, LOOM_EACH(greater(x, splatOf<V>(b))));
    case BinaryFunction::minimum:
      return map1<kNative>(a, y, count, LOOM_EACH(lesser(x, splatOf<V>(b))));
    case BinaryFunction::power:
      return map1<kNative>(a, y, count, LOOM_EACH(powerOf(x, splatOf<V>(b))));
    case BinaryFunction::modulo:
      return map1<kNative>(a, y, count, LOOM_EACH(moduloOf(x, splatOf<V>(b))));
    case BinaryFunction::fmod:
      return map1<kNative>(a, y, count, LOOM_EACH(remainderOf(x, splatOf<V>(b))));
    case BinaryFunction::equal:
      return map1<kNative>(a, y, count, LOOM_EACH(oneWhere(x == b)));
    case BinaryFunction::notEqual:
      return map1<kNative>(a, y, count, LOOM_EACH(1.0f - oneWhere(x == b)));
    case BinaryFunction::greater:
      return map1<kNative>(a, y, count, LOOM_EACH(oneWhere(x > b)));
    case BinaryFunction::greaterEqual:
      return map1<kNative>(a, y, count, LOOM_EACH(oneWhere(x >= b)));
    case BinaryFunction::less:
      return map1<kNative>(a, y, count, LOOM_EACH(oneWhere(x < b)));
    case BinaryFunction::lessEqual:
      return map1<kNative>(a, y, count, LOOM_EACH(oneWhere(x <= b)));
  }
}

template <Level kNative>
LOOM_INLINE void addReluRangeBody(const float* a, const float* b, float* y, std::int64_t count) {
  map2<kNative>(
      a, b, y, count, [](auto a, auto b) __attribute__((always_inline)) {
        const auto s = a + b;
        return s < 0.0f ? decltype(s){} : s;
      });
}

template <Level kNative>
LOOM_INLINE void addMaskedRangeBody(const float* a, const float* b, const float* mask, float* y, std::int64_t count) {
  typedef VecFor<kNative> V;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(y + i, choose(loadOf<V>(mask + i) > 0.0f, loadOf<V>(a + i) + loadOf<V>(b + i), V{}));
  for (; i < count; ++i) y[i] = mask[i] > 0 ? a[i] + b[i] : 0;
}

template <Level kNative>
LOOM_INLINE void scaleRangeBody(const float* x, float factor, float offset, float* y, std::int64_t count) {
  map1<kNative>(x, y, count, LOOM_EACH(x * factor + offset));
}

constexpr std::int64_t kRowBlock = 512;
constexpr std::int64_t kColumns = 1024;  // of a row at a time: their sums stay in the level-1 cache

// Columns [0, kVectors * 16): sums in registers.
template <int kVectors, Level kNative>
LOOM_INLINE void sumNarrow(Stored x, std::int64_t rows, std::int64_t stride, std::int64_t count, float* out) {
  VecFor<kNative> sums[kVectors] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[v] += loadFor<kNative>(x, r * stride + v * kLanes, count - v * kLanes);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t n = count - v * kLanes;
    storeSome(out + v * kLanes, loadSomeOf<VecFor<kNative>>(out + v * kLanes, n) + sums[v], n);
  }
}
// Whole vectors of long rows, four rows after one another: a few columns of each would lie on another page.
template <Level kNative>
LOOM_INLINE void sumWide(Stored x, std::int64_t rows, std::int64_t stride, std::int64_t columns, float* out) {
  typedef VecFor<kNative> V;
  alignas(64) float sums[kColumns];
  std::fill_n(sums, columns, 0.0f);
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      const std::int64_t at = r * stride + c;
      const V first = loadFor<kNative>(x, at, kLanes) + loadFor<kNative>(x, at + stride, kLanes),
              second = loadFor<kNative>(x, at + 2 * stride, kLanes) + loadFor<kNative>(x, at + 3 * stride, kLanes);
      store(sums + c, loadOf<V>(sums + c) + (first + second));
    }
  }
  for (; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; c += kLanes)
      store(sums + c, loadOf<V>(sums + c) + loadFor<kNative>(x, r * stride + c, kLanes));
  for (std::int64_t c = 0; c < columns; c += kLanes) store(out + c, loadOf<V>(out + c) + loadOf<V>(sums + c));
}

template <Level kNative>
LOOM_INLINE void sumRowsOf(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out) {
  const std::int64_t whole = columns / kLanes * kLanes, wide = columns > 4 * kLanes ? whole : 0;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kRowBlock) {
    const std::int64_t count = std::min(rows - r0, kRowBlock);
    const Stored block = x.from(r0 * stride);
    for (std::int64_t c = 0; c < wide; c += kColumns)
      sumWide<kNative>(block.from(c), count, stride, std::min(kColumns, wide - c), out + c);
    std::int64_t c = wide;
    for (; c + 4 * kLanes <= columns; c += 4 * kLanes)
      sumNarrow<4, kNative>(block.from(c), count, stride, 4 * kLanes, out + c);
    for (; c < columns; c += kLanes)
      sumNarrow<1, kNative>(block.from(c), count, stride, std::min(kLanes, columns - c), out + c);
  }
}
template <Level kNative>
LOOM_INLINE void sumRowsRangeBody(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out) {
  if (x.bf16)
    sumRowsOf<kNative>(knownBf16(x), rows, columns, stride, out);
  else
    sumRowsOf<kNative>(knownF32(x), rows, columns, stride, out);
}

template <Level kNative>
LOOM_INLINE double sumAllRangeBody(Stored x, std::int64_t count) {
  double total = 0;
  std::int64_t i = 0;
  for (; i + 1024 <= count; i += 1024) {
    VecFor<kNative> s{};
    for (std::int64_t j = 0; j < 1024; j += kLanes) s += loadFor<kNative>(x, i + j, kLanes);
    total += sum(s);
  }
  for (; i < count; ++i) total += numberAt(x, i);
  return total;
}

template <Level kNative, class F>
LOOM_INLINE void foldRowsWith(Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out, F f) {
  for (std::int64_t c = 0; c < columns; c += kLanes) {
    const std::int64_t n = columns - c;
    auto folded = loadSomeOf<VecFor<kNative>>(out + c, n);
    for (std::int64_t r = 0; r < rows; ++r) folded = inParts(loadFor<kNative>(x, r * stride + c, n), folded, f);
    storeSome(out + c, folded, n);
  }
}

template <Level kNative>
LOOM_INLINE void foldRowsRangeBody(ReduceFunction function, Stored x, std::int64_t rows, std::int64_t columns,
                                   std::int64_t stride, float* out) {
  if (function == ReduceFunction::maximum)
    foldRowsWith<kNative>(x, rows, columns, stride, out, LOOM_EACH2(greater(a, b)));
  else if (function == ReduceFunction::minimum)
    foldRowsWith<kNative>(x, rows, columns, stride, out, LOOM_EACH2(lesser(a, b)));
  else
    foldRowsWith<kNative>(x, rows, columns, stride, out, LOOM_EACH2(a * b));
}

LOOM_INLINE void chooseRangeBody(const float* condition, const float* a, const float* b, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
}

LOOM_CPU_KERNEL_HALVES(void, foldRowsRange,
                       (ReduceFunction f, Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                        float* out),
                       (f, x, rows, columns, stride, out))
LOOM_CPU_KERNEL(void, chooseRange,
                (const float* condition, const float* a, const float* b, float* y, std::int64_t count),
                (condition, a, b, y, count))
LOOM_CPU_KERNEL_HALVES(void, binaryRange,
                       (BinaryFunction f, const float* a, const float* b, float* y, std::int64_t count),
                       (f, a, b, y, count))
LOOM_CPU_KERNEL_HALVES(void, binaryScalarRange,
                       (BinaryFunction f, const float* a, float b, float* y, std::int64_t count), (f, a, b, y, count))
LOOM_CPU_KERNEL_HALVES(void, addReluRange, (const float* a, const float* b, float* y, std::int64_t count),
                       (a, b, y, count))
LOOM_CPU_KERNEL_HALVES(void, addMaskedRange,
                       (const float* a, const float* b, const float* mask, float* y, std::int64_t count),
                       (a, b, mask, y, count))
LOOM_CPU_KERNEL_HALVES(void, scaleRange, (const float* x, float factor, float offset, float* y, std::int64_t count),
                       (x, factor, offset, y, count))
LOOM_CPU_KERNEL_NATIVE(void, sumRowsRange,
                       (Stored x, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* out),
                       (x, rows, columns, stride, out))
LOOM_CPU_KERNEL_HALVES(double, sumAllRange, (Stored x, std::int64_t count), (x, count))

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
