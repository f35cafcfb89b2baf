#pragma once
// The inner loop of every matrix product: a few rows of A times one panel of packed B, sums in registers.
#include <cstdint>

#include "engine/base/bf16.h"
#include "engine/cpu/kernels/gemm.h"
#include "engine/cpu/kernels/halves.h"

namespace loom::cpu {

template <class V>
struct UnalignedOf {
  typedef V type __attribute__((aligned(4), may_alias));
};

typedef float Vec4 __attribute__((vector_size(16)));

// Registers of one instruction set: vectors, rows and vectors a row of the tile. A panel of B is kVectors * lanes wide.
struct TileAvx512 {
  typedef Vec V;
  static constexpr int kRows = 6, kVectors = 4;
};
struct TileAvx2 {
  typedef Vec8 V;
  static constexpr int kRows = 6, kVectors = 2;
};
struct TileBaseline {
  typedef Vec4 V;
  static constexpr int kRows = 3, kVectors = 4;
};

// A few numbers of each row of a wide matrix are copied: its rows lie on other pages, where the processor does not look
// ahead by itself. Into the level-2 cache: rows that lie a multiple of 4 KiB apart share eight places of the first.
constexpr std::int64_t kAhead = 24;  // rows
template <class Number>
LOOM_INLINE void prefetchRow(const Number* numbers, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 64 / static_cast<std::int64_t>(sizeof(Number)))
    __builtin_prefetch(numbers + i, 0, 2);
}

template <class V>
constexpr int lanesOf() {
  return static_cast<int>(sizeof(V) / sizeof(float));
}

// sums[r][v] += sum over k of a[r * rowStride + k * stepStride] * b[k * panel + v * lanes ...]
template <class V, int kRows, int kVectors>
LOOM_INLINE void multiplyTile(V (&sums)[kRows][kVectors], const float* a, std::int64_t rowStride,
                              std::int64_t stepStride, const float* b, std::int64_t panel, std::int64_t steps) {
  typedef typename UnalignedOf<V>::type U;
  for (std::int64_t k = 0; k < steps; ++k) {
    V row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = *reinterpret_cast<const U*>(b + v * lanesOf<V>());
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float factor = a[r * rowStride];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] += factor * row[v];
    }
    a += stepStride;
    b += panel;
  }
}

// Where a tile of C stands, and what is done to its sums on their way there.
struct TilePlace {
  float* c;
  std::int64_t ldc;
  std::int64_t columns;  // valid ones
  const float* bias;     // null, or at the tile's first column
  bool add, last;
  Activation activation;
  float scale;
  std::uint16_t* half = nullptr;  // instead of c
  // A second place for the same sums: GemmProblem::also.
  float* also = nullptr;
  bool alsoLess = false, alsoAdd = false;
};

// What a tile is to be added to, or written over, on its way into the cache while the sums are made.
template <int kRows, int kWidth>
LOOM_INLINE void prefetchTile(const TilePlace& place) {
  const std::int64_t bytes = place.half != nullptr ? 2 : 4;
  const char* to =
      place.half != nullptr ? reinterpret_cast<const char*>(place.half) : reinterpret_cast<const char*>(place.c);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    for (std::int64_t at = 0; at < kWidth * bytes; at += 64) __builtin_prefetch(to + r * place.ldc * bytes + at, 1);
  }
  if (place.also == nullptr) return;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    for (std::int64_t at = 0; at < kWidth; at += 16) __builtin_prefetch(place.also + r * place.ldc + at, 1);
  }
}

// A tile of one size: LOOM_TILE below.
template <class T, int kRows, int kVectors>
struct Tile;

// The tile of as many rows as are left.
template <class T, int kVectors, int kRows = T::kRows, class Number>
LOOM_INLINE void computeRows(int rows, const Number* a, std::int64_t rowStride, std::int64_t stepStride,
                             const Number* b, std::int64_t panel, std::int64_t steps, const TilePlace& place) {
  if (rows == kRows) return Tile<T, kRows, kVectors>::compute(a, rowStride, stepStride, b, panel, steps, place);
  if constexpr (kRows > 1) computeRows<T, kVectors, kRows - 1>(rows, a, rowStride, stepStride, b, panel, steps, place);
}

template <class V>
LOOM_INLINE V rectified(V value) {
  return value < 0.0f ? V{} : value;  // a NaN stays one
}

// How sums get to C, decided once for a tile: what lies between the sums of two tiles costs as much as ten steps of K.
enum class Put { over, add, subtract };
template <Put kPut, bool kRelu = false, class V, int kRows, int kVectors>
LOOM_INLINE void putSums(const V (&sums)[kRows][kVectors], float* c, std::int64_t ldc) {
  typedef typename UnalignedOf<V>::type U;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      U* to = reinterpret_cast<U*>(c + r * ldc + v * lanesOf<V>());
      V value = kPut == Put::over ? sums[r][v] : kPut == Put::add ? *to + sums[r][v] : *to - sums[r][v];
      *to = kRelu ? rectified(value) : value;
    }
  }
}

template <class V, int kRows, int kVectors>
LOOM_INLINE void storeTile(V (&sums)[kRows][kVectors], const TilePlace& place) {
  typedef typename UnalignedOf<V>::type U;
  constexpr int kWidth = kVectors * lanesOf<V>();
  if (place.scale != 1) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] *= place.scale;
    }
  }
  const bool relu = place.last && place.activation == Activation::relu;
  if (place.columns == kWidth) {
    if (place.last && place.bias != nullptr) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const V bias = *reinterpret_cast<const U*>(place.bias + v * lanesOf<V>());
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) sums[r][v] += bias;
      }
    }
    if (place.add && relu) return putSums<Put::add, true>(sums, place.c, place.ldc);
    if (place.add) return putSums<Put::add>(sums, place.c, place.ldc);
    if (relu) return putSums<Put::over, true>(sums, place.c, place.ldc);
    return putSums<Put::over>(sums, place.c, place.ldc);
  }
  alignas(64) float buffer[kRows * kWidth];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) *reinterpret_cast<U*>(buffer + r * kWidth + v * lanesOf<V>()) = sums[r][v];
  }
  for (int r = 0; r < kRows; ++r) {
    for (std::int64_t i = 0; i < place.columns; ++i) {
      float value = buffer[r * kWidth + i];
      if (place.add) value += place.c[r * place.ldc + i];
      if (place.last && place.bias != nullptr) value += place.bias[i];
      if (relu && value < 0) value = 0;
      place.c[r * place.ldc + i] = value;
    }
  }
}

// The same sums into TilePlace::also; storeTile() may change them.
template <class V, int kRows, int kVectors>
LOOM_INLINE void storeAlso(const V (&sums)[kRows][kVectors], const TilePlace& place) {
  if (!place.alsoAdd) return putSums<Put::over>(sums, place.also, place.ldc);
  if (place.alsoLess) return putSums<Put::subtract>(sums, place.also, place.ldc);
  putSums<Put::add>(sums, place.also, place.ldc);
}

// Into `place.half`, rounded once: all of K is in the sums. (They are stored with constant indices first: a variable
// one would pin them to memory in the loop before, too.)
template <class V, int kRows, int kVectors>
LOOM_INLINE void storeTileHalf(V (&sums)[kRows][kVectors], const TilePlace& place) {
  typedef typename UnalignedOf<V>::type U;
  constexpr int kWidth = kVectors * lanesOf<V>();
  alignas(64) float buffer[kRows * kWidth];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) *reinterpret_cast<U*>(buffer + r * kWidth + v * lanesOf<V>()) = sums[r][v];
  }
  for (int r = 0; r < kRows; ++r) {
    const float* row = buffer + r * kWidth;
    std::uint16_t* to = place.half + r * place.ldc;
    for (std::int64_t i = 0; i < place.columns; ++i) {
      float value = row[i] * place.scale;
      if (place.bias != nullptr) value += place.bias[i];
      if (place.activation == Activation::relu && value < 0) value = 0;
      to[i] = toBf16(value);
    }
  }
}

}  // namespace loom::cpu

// Defines Tile<T, kRows, kVectors>::compute() out of the always-inlined computeTile(): a function for each size,
// compiled for the instruction set of T. With all sizes inlined into one function, the compiler takes three times as
// long or more. The place is copied, so that no number written to C could be one of its own.
#define LOOM_TILE(T, target, Number)                                                                                   \
  template <int kRows, int kVectors>                                                                                   \
  struct Tile<T, kRows, kVectors> {                                                                                    \
    static target __attribute__((noinline)) void compute(const Number* a, std::int64_t rowStride,                      \
                                                         std::int64_t stepStride, const Number* b, std::int64_t panel, \
                                                         std::int64_t steps, const TilePlace& place) {                 \
      const TilePlace here = place;                                                                                    \
      computeTile<T, kRows, kVectors>(a, rowStride, stepStride, b, panel, steps, here);                                \
    }                                                                                                                  \
  };
