#pragma once
// What both ways to multiply in halves (strassen.h, strassen_rows.h) are made of: the seven products, and sums of A's
// quarters in tiles.
#include <optional>

#include "engine/cpu/kernels/gemm_rows.h"
#include "engine/cpu/kernels/gemm_tile.h"
#include "engine/cpu/kernels/halves.h"

namespace loom::cpu {

struct Quarter {
  int row, column;
};
// A product: which of the seven, the quarter of A where that is its only one, where it goes, where else it goes or is
// subtracted, and whether it is the first or the last that these get.
struct Part {
  int number;  // from 0
  std::optional<Quarter> a;
  Quarter to;
  bool begins, ends;
  std::optional<Quarter> also;
  bool alsoLess, alsoBegins;
};
constexpr Quarter k11{0, 0}, k12{0, 1}, k21{1, 0}, k22{1, 1};
constexpr Part kParts[] = {
    {0, {}, k11, true, false, k22, false, true}, {2, k11, k12, true, false, k22, false, false},
    {1, {}, k21, true, false, k22, true, false}, {3, k22, k21, false, true, k11, false, false},
    {4, {}, k12, false, true, k11, true, false}, {5, {}, k22, false, true, {}, false, false},
    {6, {}, k11, false, true, {}, false, false},
};

// Four quarters of a matrix at one place: sixteen numbers of each.
template <class V>
struct Quarters {
  V q11, q12, q21, q22;
};

// A block of A: its first number in A11, how far down and right those of the other quarters stand, and how far apart
// its rows are, or its columns where it is transposed.
struct BlockOfA {
  const float* first;
  std::int64_t down, right, stride;
  std::int64_t rows, steps;
};

LOOM_INLINE void put(float* to, Vec8 value) {
  store8(to, value);
}
LOOM_INLINE void put(float* to, float value) {
  *to = value;
}
// M1's to M7's, `each` floats apart, or only those that are a sum of two.
template <bool kAll, class V>
LOOM_INLINE void putSumsOfA(const Quarters<V>& a, float* to, std::int64_t each) {
  put(to, a.q11 + a.q22);
  put(to + each, a.q21 + a.q22);
  if (kAll) put(to + 2 * each, a.q11);
  if (kAll) put(to + 3 * each, a.q22);
  put(to + 4 * each, a.q11 + a.q12);
  put(to + 5 * each, a.q21 - a.q11);
  put(to + 6 * each, a.q12 - a.q22);
}
LOOM_INLINE Quarters<Vec8> eightAt(const BlockOfA& a, const float* at) {
  return {load8(at), load8(at + a.right), load8(at + a.down), load8(at + a.down + a.right)};
}

template <int kPart>
LOOM_INLINE Quarters<Vec8> partOfSixRows(const BlockOfA& a, const float* at) {
  return {partOfSixRows<kPart>(at, a.stride), partOfSixRows<kPart>(at + a.right, a.stride),
          partOfSixRows<kPart>(at + a.down, a.stride), partOfSixRows<kPart>(at + a.down + a.right, a.stride)};
}

// Of contiguous columns: in tiles, from `step` on of `steps`, multiples of kStepsAtOnce. Here `a` has as many, with
// room for eight numbers behind the first of a row's last tile. Of a tile of fewer than six rows, eight numbers are
// moved: what is written too much is overwritten by the next step or lies between tiles.
LOOM_INLINE void sumStepsInTiles(const BlockOfA& a, const TileRows& rows, float* to, std::int64_t each,
                                 std::int64_t step, std::int64_t steps) {
  for (int t = 0; t < rows.tiles; ++t) {
    const std::int64_t height = rows.height(t);
    const float* const from = a.first + rows.firsts[t];
    float* const at = to + rows.at(t, steps) + step * height;
    if (height == kSixRows) {
      putSumsOfA<true>(partOfSixRows<0>(a, from), at, each);
      putSumsOfA<true>(partOfSixRows<1>(a, from), at + 8, each);
      putSumsOfA<true>(partOfSixRows<2>(a, from), at + 16, each);
    } else {
      for (std::int64_t k = 0; k < kStepsAtOnce; ++k)
        putSumsOfA<true>(eightAt(a, from + k * a.stride), at + k * height, each);
    }
  }
}
// The block's steps, all of them.
LOOM_INLINE void sumInTiles(const BlockOfA& a, const TileRows& rows, float* to, std::int64_t each) {
  Steps quarters[4];
  const BlockOfA here{quarters[0].numbers,
                      quarters[2].numbers - quarters[0].numbers,
                      quarters[1].numbers - quarters[0].numbers,
                      Steps::kStride,
                      a.rows,
                      kStepsAtOnce};
  for (std::int64_t k = 0; k < a.steps; k += kStepsAtOnce) {
    const float* const from = a.first + k * a.stride;
    const std::int64_t ahead = k + kAhead < a.steps ? kAhead * a.stride : 0;
    quarters[0].read(from, a.stride, a.rows, ahead);
    quarters[1].read(from + a.right, a.stride, a.rows, ahead);
    quarters[2].read(from + a.down, a.stride, a.rows, ahead);
    quarters[3].read(from + a.down + a.right, a.stride, a.rows, ahead);
    sumStepsInTiles(here, rows, to, each, k, a.steps);
  }
}

}  // namespace loom::cpu
