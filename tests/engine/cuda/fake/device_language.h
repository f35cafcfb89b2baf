#pragma once
// CUDA's words for kernels (engine/cuda/kernels/language.h), for an ordinary compiler: what the emulator knows of them,
// and nothing else, so that a kernel that says more is not compiled here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/base/bf16.h"
#include "tests/engine/cuda/fake/emulator.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#ifndef __restrict__
#define __restrict__ __restrict
#endif
#define __align__(bytes) alignas(bytes)

#define LOOM_SHARED(T, name, count)                                        \
  static ::loom::cuda::emulator::SharedArray<T, (count)> name##OfTheBlock; \
  T(&name)[count] = name##OfTheBlock.enter()
#define LOOM_UNROLL
#define LOOM_UNROLL_TWICE
#define LOOM_NO_UNROLL
#define LOOM_START(kernel, launch, arguments, stream)                                                  \
  do {                                                                                                 \
    const auto run = [values = (arguments)] { (kernel)(values); };                                     \
    ::loom::cuda::emulator::run(                                                                       \
        launch, stream, [](const void* closure) { (*static_cast<decltype(run)*>(closure))(); }, &run); \
  } while (false)

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
// Of the thread that runs.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline int2 make_int2(int x, int y) {
  return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

namespace loom::cuda::emulator {

template <class T, auto kCount>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);

 public:
  using Array = T[kCount];
  // New, and of any content, in every block.
  Array& enter() {
    if (m_block != blockNumber()) {
      m_block = blockNumber();
      std::memset(static_cast<void*>(m_data), 0xff, sizeof(m_data));
    }
    return m_data;
  }

 private:
  alignas(16) Array m_data;
  std::uint64_t m_block = 0;
};

template <class T>
std::uint64_t wordOf(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(value));
  return word;
}
template <class T>
T valueOf(std::uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}
inline Place here(const char* file, int line) {
  return {file, line};
}

template <class T>
T shuffle(unsigned mask, T value, unsigned (*source)(unsigned lane, unsigned by, unsigned width), unsigned by,
          int width, Place where) {
  if (width < 1 || width > 32 || !std::has_single_bit(static_cast<unsigned>(width)))
    fail("a shuffle has a width of " + std::to_string(width) + ", but must have a power of two up to 32");
  const std::uint64_t* words = exchange(wordOf(value), mask, where);
  return valueOf<T>(words[source(lane(), by, static_cast<unsigned>(width))]);
}

}  // namespace loom::cuda::emulator

#define LOOM_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(LOOM_HERE) {
  loom::cuda::emulator::meet(loom::cuda::emulator::Meeting::block, ~0u, {file, line});
}
inline int __syncthreads_count(int yes, LOOM_HERE) {
  return loom::cuda::emulator::count(yes != 0, {file, line});
}
inline int __syncthreads_or(int yes, LOOM_HERE) {
  return loom::cuda::emulator::count(yes != 0, {file, line}) > 0;
}
inline int __syncthreads_and(int yes, LOOM_HERE) {
  return loom::cuda::emulator::count(yes == 0, {file, line}) == 0;
}
inline void __syncwarp(unsigned mask = ~0u, LOOM_HERE) {
  loom::cuda::emulator::meet(loom::cuda::emulator::Meeting::warp, mask, {file, line});
}
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32, LOOM_HERE) {
  return loom::cuda::emulator::shuffle(
      mask, value, [](unsigned lane, unsigned by, unsigned w) { return (lane & ~(w - 1)) | (by & (w - 1)); },
      static_cast<unsigned>(from), width, {file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32, LOOM_HERE) {
  return loom::cuda::emulator::shuffle(
      mask, value,
      [](unsigned lane, unsigned b, unsigned w) { return (lane ^ b) < (lane & ~(w - 1)) + w ? (lane ^ b) : lane; },
      static_cast<unsigned>(by), width, {file, line});
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, LOOM_HERE) {
  return loom::cuda::emulator::shuffle(
      mask, value, [](unsigned lane, unsigned b, unsigned w) { return (lane & (w - 1)) + b < w ? lane + b : lane; }, by,
      width, {file, line});
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, LOOM_HERE) {
  return loom::cuda::emulator::shuffle(
      mask, value, [](unsigned lane, unsigned b, unsigned w) { return (lane & (w - 1)) >= b ? lane - b : lane; }, by,
      width, {file, line});
}
inline unsigned __ballot_sync(unsigned mask, int yes, LOOM_HERE) {
  const std::uint64_t* words = loom::cuda::emulator::exchange(yes != 0, mask, {file, line});
  unsigned ballot = 0;
  for (unsigned k = 0; k < 32; ++k) ballot |= static_cast<unsigned>(words[k]) << k;
  return ballot;
}
inline int __any_sync(unsigned mask, int yes, LOOM_HERE) {
  return __ballot_sync(mask, yes, file, line) != 0;
}
inline int __all_sync(unsigned mask, int yes, LOOM_HERE) {
  return __ballot_sync(mask, yes, file, line) == ~0u;
}

// Of integers alone: a sum of floats would depend on the order.
#define LOOM_ATOMICS(T)                \
  inline T atomicAdd(T* at, T value) { \
    const T was = *at;                 \
    *at = static_cast<T>(was + value); \
    return was;                        \
  }                                    \
  inline T atomicMax(T* at, T value) { \
    const T was = *at;                 \
    *at = was < value ? value : was;   \
    return was;                        \
  }
LOOM_ATOMICS(unsigned)
LOOM_ATOMICS(unsigned long long)
#undef LOOM_ATOMICS
inline int atomicAdd(int* at, int value) {
  const int was = *at;
  *at = static_cast<int>(static_cast<unsigned>(was) + static_cast<unsigned>(value));
  return was;
}
inline int atomicMax(int* at, int value) {
  const int was = *at;
  *at = std::max(was, value);
  return was;
}
template <class T>
void atomicAdd(T*, T) = delete;

// --- Mathematics, with the rounding of an f32 each.
using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
inline float __expf(float x) {
  return expf(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __powf(float x, float y) {
  return powf(x, y);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1 / x;
}
inline float __fsqrt_rn(float x) {
  return sqrtf(x);
}
inline float __fmul_rn(float x, float y) {
  volatile float product = x * y;  // never a part of an FMA
  return product;
}
inline float __fadd_rn(float x, float y) {
  volatile float sum = x + y;
  return sum;
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float rsqrtf(float x) {
  return 1 / sqrtf(x);
}
inline double sinpi(double x) {
  return sin(3.14159265358979323846 * x);
}
inline double cospi(double x) {
  return cos(3.14159265358979323846 * x);
}
inline double rsqrt(double x) {
  return 1 / sqrt(x);
}
inline float __saturatef(float x) {
  return x > 0 ? (x < 1 ? x : 1) : 0;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __clz(int x) {
  return std::countl_zero(static_cast<unsigned>(x));
}
inline int __ffs(int x) {
  return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1;
}
inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
template <class T>
T __ldg(const T* from) {
  return *from;
}

namespace loom::cuda {

// No arithmetic of their own: kernels compute in float.
struct bf16 {
  std::uint16_t bits;
};
struct f16 {
  std::uint16_t bits;
};
inline float toFloat(float x) {
  return x;
}
inline float toFloat(bf16 x) {
  return fromBf16(x.bits);
}
inline float toFloat(f16 x) {
  return static_cast<float>(std::bit_cast<_Float16>(x.bits));
}
template <class T>
inline T fromFloat(float x);
template <>
inline float fromFloat<float>(float x) {
  return x;
}
template <>
inline bf16 fromFloat<bf16>(float x) {
  return {toBf16(x)};
}
template <>
inline f16 fromFloat<f16>(float x) {
  return {std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))};
}

template <class T>
inline unsigned packed(float first, float second) {
  return static_cast<unsigned>(fromFloat<T>(first).bits) | static_cast<unsigned>(fromFloat<T>(second).bits) << 16;
}
inline void expectPair(const std::uint16_t* at) {
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(unsigned) != 0)
    emulator::fail("a pair of numbers stands at an address that is no multiple of 4 bytes");
}
inline unsigned pairAt(const std::uint16_t* from) {
  expectPair(from);
  return static_cast<unsigned>(from[0]) | static_cast<unsigned>(from[1]) << 16;
}
inline void putPair(std::uint16_t* to, unsigned pair) {
  expectPair(to);
  to[0] = static_cast<std::uint16_t>(pair);
  to[1] = static_cast<std::uint16_t>(pair >> 16);
}

// What each lane holds is shown to the others, and each adds up its four products in double: a device's own order and
// rounding of the sum are not told.
template <class T>
inline void multiplyTiles(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], LOOM_HERE) {
  constexpr unsigned kWhole = ~0u;
  const unsigned group = emulator::lane() / 4, place = emulator::lane() % 4;
  const auto halves = [](unsigned pair, double* to) {
    to[0] = static_cast<double>(toFloat(T{static_cast<std::uint16_t>(pair)}));
    to[1] = static_cast<double>(toFloat(T{static_cast<std::uint16_t>(pair >> 16)}));
  };
  double rows[2][16], columns[2][16];  // group and group + 8 of a; 2 place and the next of b
  for (unsigned half = 0; half < 2; ++half) {
    const std::uint64_t both = a[2 * half] | static_cast<std::uint64_t>(a[2 * half + 1]) << 32;
    const std::uint64_t* const words = emulator::exchange(both, kWhole, {file, line});
    for (unsigned p = 0; p < 4; ++p)
      for (unsigned row = 0; row < 2; ++row)
        halves(static_cast<unsigned>(words[4 * group + p] >> 32 * row), rows[row] + 8 * half + 2 * p);
  }
  const std::uint64_t* const words =
      emulator::exchange(b[0] | static_cast<std::uint64_t>(b[1]) << 32, kWhole, {file, line});
  for (unsigned column = 0; column < 2; ++column)
    for (unsigned p = 0; p < 4; ++p)
      for (unsigned half = 0; half < 2; ++half)
        halves(static_cast<unsigned>(words[4 * (2 * place + column) + p] >> 32 * half),
               columns[column] + 8 * half + 2 * p);
  for (unsigned row = 0; row < 2; ++row)
    for (unsigned column = 0; column < 2; ++column) {
      double sum = static_cast<double>(d[2 * row + column]);
      for (unsigned k = 0; k < 16; ++k) sum += rows[row][k] * columns[column][k];
      d[2 * row + column] = static_cast<float>(sum);
    }
}
#undef LOOM_HERE

}  // namespace loom::cuda
