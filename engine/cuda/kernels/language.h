#pragma once
// What kernels are written in: the part of CUDA's own words that an emulator knows as well. nvcc compiles them for
// devices; any C++ compiler for the emulator that LOOM_DEVICE_LANGUAGE names (tests/engine/cuda/fake). So: index
// variables, shared memory through LOOM_SHARED, __syncthreads, __syncwarp, shuffles over whole warps, ballots,
// atomicAdd and atomicMax, 16-byte loads through Pack, products of small matrices by a warp; no cp.async, no tensor
// memory, no grids that wait for each other.
//
// A kernel is `template <class T> __global__ void name(NameArguments a)`: T is float, bf16 or f16, the type in which
// activations and their gradients stand; arithmetic is in float. At the end of its file LOOM_KERNELS lists the rows.
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// A static array of the block. `count` is known when compiling.
#define LOOM_SHARED(T, name, count) __shared__ T name[count]
#define LOOM_START(kernel, launch, arguments, stream)                                        \
  kernel<<<dim3((launch).grid.x, (launch).grid.y, (launch).grid.z),                          \
           dim3((launch).block.x, (launch).block.y, (launch).block.z), (launch).sharedBytes, \
           static_cast<cudaStream_t>(stream)>>>(arguments)
namespace loom::cuda {
using bf16 = __nv_bfloat16;
using f16 = __half;
__device__ __forceinline__ float toFloat(float x) {
  return x;
}
__device__ __forceinline__ float toFloat(bf16 x) {
  return __bfloat162float(x);
}
__device__ __forceinline__ float toFloat(f16 x) {
  return __half2float(x);
}
template <class T>
__device__ __forceinline__ T fromFloat(float x);
template <>
__device__ __forceinline__ float fromFloat<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ bf16 fromFloat<bf16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__device__ __forceinline__ f16 fromFloat<f16>(float x) {
  return __float2half_rn(x);
}

// Two neighbours in T, the first in the lower half.
template <class T>
__device__ __forceinline__ unsigned packed(float first, float second);
template <>
__device__ __forceinline__ unsigned packed<bf16>(float first, float second) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const unsigned*>(&both);
}
template <>
__device__ __forceinline__ unsigned packed<f16>(float first, float second) {
  const __half2 both = __floats2half2_rn(first, second);
  return *reinterpret_cast<const unsigned*>(&both);
}
// At a multiple of four bytes.
__device__ __forceinline__ unsigned pairAt(const std::uint16_t* from) {
  return *reinterpret_cast<const unsigned*>(from);
}
__device__ __forceinline__ void putPair(std::uint16_t* to, unsigned pair) {
  *reinterpret_cast<unsigned*>(to) = pair;
}

// d += a b by the whole warp, spread over its lanes as tiles.cuh says. Of compute capability 8.0.
template <class T>
__device__ __forceinline__ void multiplyTiles(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]);
#define LOOM_MULTIPLY_TILES(T, type)                                                                             \
  template <>                                                                                                    \
  __device__ __forceinline__ void multiplyTiles<T>(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2]) { \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                          \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                          \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                            \
  }
LOOM_MULTIPLY_TILES(bf16, "bf16")
LOOM_MULTIPLY_TILES(f16, "f16")
#undef LOOM_MULTIPLY_TILES
}  // namespace loom::cuda
// All of it, so that arrays that are indexed stay in registers.
#define LOOM_UNROLL _Pragma("unroll")
// Two rounds at once, where more would ask for too many registers.
#define LOOM_UNROLL_TWICE _Pragma("unroll 2")
#define LOOM_NO_UNROLL _Pragma("unroll 1")
#else
#include LOOM_DEVICE_LANGUAGE
#endif

#include "engine/cuda/kernels/kernel_row.h"

namespace loom::cuda {

// `n` elements that one thread loads and stores at once: 16 bytes.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T at[kCount];
};
// As many as are told, at a multiple of their bytes: a pack where rows are whole packs, else one.
template <class T, int kCount>
struct alignas(kCount * sizeof(T)) Few {
  T at[kCount];
};

// The first element of this thread and the stride to its next in a loop over a grid of one dimension.
__device__ __forceinline__ std::int64_t firstOfThread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t threadsOfGrid() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace loom::cuda

// LOOM_KERNELS(softmax, LOOM_KERNEL("softmax", softmax, SoftmaxArguments), ...) at the end of softmax.cuh, in
// namespace loom::cuda: LOOM_KERNEL gives the rows "softmax.f32", ".bf16" and ".f16"; LOOM_KERNEL_ONE one row of a
// kernel that is no template.
#define LOOM_KERNEL_ONE(rowName, kernel, Arguments)                                                           \
  ::loom::cuda::KernelRow {                                                                                   \
    rowName, sizeof(Arguments), [](const ::loom::cuda::Launch& launch, const void* arguments, void* stream) { \
      (void)stream;                                                                                           \
      LOOM_START(kernel, launch, *static_cast<const Arguments*>(arguments), stream);                          \
    }                                                                                                         \
  }
#define LOOM_KERNEL(rowName, kernel, Arguments)                  \
  LOOM_KERNEL_ONE(rowName ".f32", kernel<float>, Arguments),     \
      LOOM_KERNEL_ONE(rowName ".bf16", kernel<bf16>, Arguments), \
      LOOM_KERNEL_ONE(rowName ".f16", kernel<f16>, Arguments)
#define LOOM_KERNELS(family, ...)                  \
  KernelTable family##Kernels() {                  \
    static const KernelRow rows[] = {__VA_ARGS__}; \
    return {rows, sizeof(rows) / sizeof(rows[0])}; \
  }
