#pragma once
// Which instructions the own kernels may use, chosen once at run time: the binary is baseline x86-64. A kernel is one
// always-inlined body that LOOM_CPU_KERNEL compiles three times. (Not target_clones: its resolvers run before
// sanitizers do.)
namespace loom::cpu {

enum class Isa { baseline, avx2, avx512 };

// The widest that this processor has; GRADLOOM_ISA=baseline|avx2|avx512 in the environment narrows it, and oneDNN with
// it (dnnl_layer.cpp); any of them leaves the tiles of AMX out (gemm_amx.h).
Isa isa();
const char* toString(Isa isa);
// Whether vectors of 256 bits reach the processor's peak: with AVX2 alone, and on AMD's Zen 4, whose AVX-512 computes
// 512 bits as twice 256.
bool peaksAt256Bits();

}  // namespace loom::cpu

#define LOOM_INLINE inline __attribute__((always_inline))
// With prfchw, __builtin_prefetch(p, 1) takes a line away from other cores at once, instead of copying it now and
// asking for it when it is written; whatever has AVX2 has that instruction, or ignores it.
#define LOOM_AVX2 "avx2,fma,bmi2,prfchw"
#define LOOM_AVX512 LOOM_AVX2 ",avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512"
#define LOOM_TARGET_AVX512 __attribute__((target(LOOM_AVX512)))
#define LOOM_TARGET_AVX2 __attribute__((target(LOOM_AVX2)))

// Defines `name` out of the always-inlined function `nameBody` with the same parameters.
#define LOOM_CPU_KERNEL(result, name, parameters, arguments) \
  static LOOM_TARGET_AVX512 result name##Avx512 parameters { \
    return name##Body arguments;                             \
  }                                                          \
  static LOOM_TARGET_AVX2 result name##Avx2 parameters {     \
    return name##Body arguments;                             \
  }                                                          \
  static result name##Baseline parameters {                  \
    return name##Body arguments;                             \
  }                                                          \
  result name parameters {                                   \
    switch (isa()) {                                         \
      case Isa::avx512:                                      \
        return name##Avx512 arguments;                       \
      case Isa::avx2:                                        \
        return name##Avx2 arguments;                         \
      default:                                               \
        return name##Baseline arguments;                     \
    }                                                        \
  }
