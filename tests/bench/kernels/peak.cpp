#include "tests/bench/kernels/peak.h"

#include <time.h>

#include <algorithm>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/isa.h"

namespace {
using namespace loom::cpu;

constexpr int kRounds = 20000, kSums = 20;

// Twenty independent sums hide any latency.
#define LOOM_TWENTY(instruction, kind)                                                                                 \
  instruction " %%" kind "31, %%" kind "30, %%" kind "0\n" instruction " %%" kind "31, %%" kind "30, %%" kind          \
              "1\n" instruction " %%" kind "31, %%" kind "30, %%" kind "2\n" instruction " %%" kind "31, %%" kind      \
              "30, %%" kind "3\n" instruction " %%" kind "31, %%" kind "30, %%" kind "4\n" instruction " %%" kind      \
              "31, %%" kind "30, %%" kind "5\n" instruction " %%" kind "31, %%" kind "30, %%" kind "6\n" instruction   \
              " %%" kind "31, %%" kind "30, %%" kind "7\n" instruction " %%" kind "31, %%" kind "30, %%" kind          \
              "8\n" instruction " %%" kind "31, %%" kind "30, %%" kind "9\n" instruction " %%" kind "31, %%" kind      \
              "30, %%" kind "10\n" instruction " %%" kind "31, %%" kind "30, %%" kind "11\n" instruction " %%" kind    \
              "31, %%" kind "30, %%" kind "12\n" instruction " %%" kind "31, %%" kind "30, %%" kind "13\n" instruction \
              " %%" kind "31, %%" kind "30, %%" kind "14\n" instruction " %%" kind "31, %%" kind "30, %%" kind         \
              "15\n" instruction " %%" kind "31, %%" kind "30, %%" kind "16\n" instruction " %%" kind "31, %%" kind    \
              "30, %%" kind "17\n" instruction " %%" kind "31, %%" kind "30, %%" kind "18\n" instruction " %%" kind    \
              "31, %%" kind "30, %%" kind "19\n"
#define LOOM_ALL_VECTORS                                                                                              \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"
#define LOOM_UPPER_VECTORS "xmm16", "xmm17", "xmm18", "xmm19", "xmm30", "xmm31"

LOOM_TARGET_AVX512 void multiply512() {
  asm volatile("vpxorq %%zmm30, %%zmm30, %%zmm30\nvpxorq %%zmm31, %%zmm31, %%zmm31\n" ::: "xmm30", "xmm31");
  for (int i = 0; i < kRounds; ++i)
    asm volatile(LOOM_TWENTY("vfmadd231ps", "zmm")::: LOOM_ALL_VECTORS, LOOM_UPPER_VECTORS);
}
LOOM_TARGET_AVX512_BF16 void multiplyBf16() {
  asm volatile("vpxorq %%zmm30, %%zmm30, %%zmm30\nvpxorq %%zmm31, %%zmm31, %%zmm31\n" ::: "xmm30", "xmm31");
  for (int i = 0; i < kRounds; ++i)
    asm volatile(LOOM_TWENTY("vdpbf16ps", "zmm")::: LOOM_ALL_VECTORS, LOOM_UPPER_VECTORS);
}
LOOM_TARGET_AVX2 void multiply256() {
#define LOOM_ONE(n) "vfmadd231ps %%ymm15, %%ymm14, %%ymm" n "\n"
  for (int i = 0; i < kRounds; ++i)
    asm volatile(LOOM_ONE("0") LOOM_ONE("1") LOOM_ONE("2") LOOM_ONE("3") LOOM_ONE("4") LOOM_ONE("5") LOOM_ONE("6")
                     LOOM_ONE("7") LOOM_ONE("8") LOOM_ONE("9") LOOM_ONE("10") LOOM_ONE("11") LOOM_ONE("0") LOOM_ONE("1")
                         LOOM_ONE("2") LOOM_ONE("3") LOOM_ONE("4") LOOM_ONE("5") LOOM_ONE("6") LOOM_ONE("7")::
                             : LOOM_ALL_VECTORS);
}

double gigaflopsOf(void (*call)(), double operations) {
  double least = 1e30;
  for (int i = 0; i < 40; ++i) {
    const double before = threadSeconds();
    call();
    least = std::min(least, threadSeconds() - before);
  }
  return operations * kRounds * kSums / least * 1e-9;
}

}  // namespace

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double peakGigaflops(bool bf16) {
  static const double f32 = isa() == Isa::avx512 ? gigaflopsOf(multiply512, 32)
                            : isa() == Isa::avx2 ? gigaflopsOf(multiply256, 16)
                                                 : 0;
  static const double half = isa() == Isa::avx512 && multipliesBf16() ? gigaflopsOf(multiplyBf16, 64) : f32;
  return bf16 ? half : f32;
}

double clockGigahertz() {
  return peakGigaflops(false) / 32;
}
