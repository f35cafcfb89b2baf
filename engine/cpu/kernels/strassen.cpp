#include "engine/cpu/kernels/strassen.h"

#include <algorithm>
#include <optional>

#include "engine/cpu/kernels/halves.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kRows = 96;  // of each half at a time: their part of C stays in a cache for all seven

// Four quarters of a matrix at one place: sixteen numbers of each.
template <class V>
struct Quarters {
  V q11, q12, q21, q22;
};

template <class V>
LOOM_INLINE void storeSumsOfB(const Quarters<V>& b, float* to, std::int64_t each) {
  store(to, b.q11 + b.q22);
  store(to + each, b.q11);
  store(to + 2 * each, b.q12 - b.q22);
  store(to + 3 * each, b.q21 - b.q11);
  store(to + 4 * each, b.q22);
  store(to + 5 * each, b.q11 + b.q12);
  store(to + 6 * each, b.q21 + b.q22);
}
// A square of 16 x 16 of each quarter of a matrix whose columns are contiguous, with contiguous rows.
template <Level kNative>
struct Squares {
  alignas(64) float numbers[4][kLanes * kLanes];
  LOOM_INLINE void transpose(const float* at, std::int64_t stride, std::int64_t down, std::int64_t right) {
    transpose16As<kNative>(at, stride, numbers[0], kLanes);
    transpose16As<kNative>(at + right, stride, numbers[1], kLanes);
    transpose16As<kNative>(at + down, stride, numbers[2], kLanes);
    transpose16As<kNative>(at + down + right, stride, numbers[3], kLanes);
  }
  LOOM_INLINE Quarters<VecFor<kNative>> row(std::int64_t r) const {
    typedef VecFor<kNative> V;
    const std::int64_t at = r * kLanes;
    return {loadOf<V>(numbers[0] + at), loadOf<V>(numbers[1] + at), loadOf<V>(numbers[2] + at),
            loadOf<V>(numbers[3] + at)};
  }
};

template <class V>
LOOM_INLINE Quarters<V> quartersAt(const float* at, std::int64_t down, std::int64_t right) {
  return {loadOf<V>(at), loadOf<V>(at + right), loadOf<V>(at + down), loadOf<V>(at + down + right)};
}

template <Level kNative>
LOOM_INLINE void packHalvedOfBody(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                  std::int64_t first, std::int64_t last, std::int64_t width) {
  const std::int64_t half = k / 2, each = half * n / 2;
  const std::int64_t down = half * b.rowStride, right = n / 2 * b.columnStride;
  Squares<kNative> squares;
  for (std::int64_t panel = first; panel < last; ++panel) {
    float* const to = packed + panel * half * width;
    const float* const from = b.data + panel * width * b.columnStride;
    if (b.columnStride == 1) {
      for (std::int64_t i = 0; i < half; ++i) {
        for (std::int64_t j = 0; j < width; j += kLanes)
          storeSumsOfB(quartersAt<VecFor<kNative>>(from + i * b.rowStride + j, down, right), to + i * width + j, each);
      }
      continue;
    }
    for (std::int64_t i = 0; i < half; i += kLanes) {
      for (std::int64_t j = 0; j < width; j += kLanes) {
        squares.transpose(from + i * b.rowStride + j * b.columnStride, b.columnStride, down, right);
        for (std::int64_t r = 0; r < kLanes; ++r) storeSumsOfB(squares.row(r), to + (i + r) * width + j, each);
      }
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, packHalvedOf,
                       (float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                        std::int64_t last, std::int64_t width),
                       (packed, b, k, n, first, last, width))

struct Quarter {
  int row, column;
};
// A product: the quarter of A, what is added to it or subtracted, where it goes, where else it goes or is subtracted,
// and whether it is the first or the last that these get.
struct Part {
  int sum;  // of packHalved()'s
  Quarter a;
  std::optional<Quarter> plus;
  bool less;
  Quarter to;
  bool begins, ends;
  std::optional<Quarter> also;
  bool alsoLess, alsoBegins;
};
constexpr Quarter k11{0, 0}, k12{0, 1}, k21{1, 0}, k22{1, 1};
constexpr Part kParts[] = {
    {0, k11, k22, false, k11, true, false, k22, false, true}, {2, k11, {}, false, k12, true, false, k22, false, false},
    {1, k21, k22, false, k21, true, false, k22, true, false}, {3, k22, {}, false, k21, false, true, k11, false, false},
    {4, k11, k12, false, k12, false, true, k11, true, false}, {5, k21, k11, true, k22, false, true, {}, false, false},
    {6, k12, k22, true, k11, false, true, {}, false, false},
};

}  // namespace

bool canHalve(std::int64_t m, std::int64_t n, std::int64_t k) {
  return m % 2 == 0 && n % (2 * panelWidth()) == 0 && k % (2 * kLanes) == 0;
}

std::int64_t halvedFloats(std::int64_t k, std::int64_t n) {
  return 7 * (k / 2) * (n / 2);
}

void packHalved(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                std::int64_t last) {
  packHalvedOf(packed, b, k, n, first, last, panelWidth());
}

void multiplyHalved(const GemmProblem& p, const GemmShare& share, float* scratch) {
  const std::int64_t half = p.k / 2, each = half * p.n / 2;
  const auto inA = [&](Quarter q) {
    return p.a.data + q.row * p.m / 2 * p.a.rowStride + q.column * half * p.a.columnStride;
  };
  const auto inC = [&](Quarter q) { return p.c + q.row * p.m / 2 * p.ldc + q.column * p.n / 2; };
  // Blocks of nearly equal height, in whole tiles.
  constexpr std::int64_t kTile = 6;
  const std::int64_t tiles = (share.lastRow - share.firstRow + kTile - 1) / kTile;
  const std::int64_t blocks = (tiles * kTile + kRows - 1) / kRows;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto rowAt = [&](std::int64_t at) {
      return std::min(share.lastRow, share.firstRow + tiles * at / blocks * kTile);
    };
    for (const Part& part : kParts) {
      GemmProblem one{.m = p.m / 2,
                      .n = p.n / 2,
                      .k = half,
                      .a = {inA(part.a), p.a.rowStride, p.a.columnStride},
                      .packed = p.packed + part.sum * each,
                      .c = inC(part.to),
                      .ldc = p.ldc,
                      .accumulate = p.accumulate || !part.begins};
      if (part.plus) {
        one.plus = inA(*part.plus);
        one.less = part.less;
      }
      if (part.ends) {
        one.activation = p.activation;
        if (p.bias != nullptr) one.bias = p.bias + part.to.column * p.n / 2;
      }
      if (part.also) {
        one.also = inC(*part.also);
        one.alsoScale = part.alsoLess ? -1.0f : 1.0f;
        one.alsoAccumulate = p.accumulate || !part.alsoBegins;
      }
      gemm(one, rowAt(block), rowAt(block + 1), share.firstPanel, share.lastPanel, scratch);
    }
  }
}

}  // namespace loom::cpu
