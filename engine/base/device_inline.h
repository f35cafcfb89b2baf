#pragma once
// What is compiled for the host and, by a compiler for devices, for these as well.
#if defined(__CUDACC__)
#define LOOM_DEVICE_INLINE __host__ __device__ __forceinline__
#else
#define LOOM_DEVICE_INLINE inline __attribute__((always_inline))
#endif
