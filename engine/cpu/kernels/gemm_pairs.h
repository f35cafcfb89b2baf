#pragma once
// The inner loop of every product in bf16: gemm_tile.h's with two steps of K in one word.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/cpu/kernels/gemm_tile.h"

namespace loom::cpu {

using Word = std::uint32_t;  // two steps: the first in the lower half

struct TileNative : TileAvx512 {};  // with vdpbf16ps

template <class V>
struct WordsOf {
  typedef Word type __attribute__((vector_size(sizeof(V))));
  typedef Word unaligned __attribute__((vector_size(sizeof(V)), aligned(4), may_alias));
};

// sums[r][v] += sum over pairs of a[r * rowStride + pair * pairStride] . b[pair * panel + v * lanes ...]
template <class T, int kRows, int kVectors>
LOOM_INLINE void multiplyPairs(typename T::V (&sums)[kRows][kVectors], const Word* a, std::int64_t rowStride,
                               std::int64_t pairStride, const Word* b, std::int64_t panel, std::int64_t pairs) {
  typedef typename T::V V;
  typedef typename WordsOf<V>::type Words;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    Words row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      row[v] = *reinterpret_cast<const typename WordsOf<V>::unaligned*>(b + v * lanesOf<V>());
    if constexpr (std::is_same_v<T, TileNative>) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Words both = a[r * rowStride] + Words{};
        // In assembler, because the intrinsic cannot be inlined into a body that is compiled for several targets.
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          V sum = sums[r][v];  // an element of an array as the operand would pin the array to memory
          asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(row[v]), "v"(both));
          sums[r][v] = sum;
        }
      }
    } else {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const V first = (V)(row[v] << 16), second = (V)(row[v] & 0xffff0000u);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const Word both = a[r * rowStride];
          float low, high;
          const Word lowBits = both << 16, highBits = both & 0xffff0000u;
          std::memcpy(&low, &lowBits, sizeof low);
          std::memcpy(&high, &highBits, sizeof high);
          sums[r][v] += low * first;
          sums[r][v] += high * second;
        }
      }
    }
    a += pairStride;
    b += panel;
  }
}

}  // namespace loom::cpu
