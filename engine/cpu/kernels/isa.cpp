#include "engine/cpu/kernels/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace loom::cpu {
namespace {

Isa detect() {
  Isa best = Isa::baseline;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    best = Isa::avx2;
  if (best == Isa::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    best = Isa::avx512;
  }
  const char* wanted = std::getenv("GRADLOOM_ISA");
  if (wanted == nullptr) return best;
  if (std::string_view(wanted) == "baseline") return Isa::baseline;
  if (std::string_view(wanted) == "avx2") return std::min(best, Isa::avx2);
  return best;
}

}  // namespace

Isa isa() {
  static const Isa chosen = detect();
  return chosen;
}

bool peaksAt256Bits() {
  // Of this family only Zen 4 has AVX-512.
  return isa() == Isa::avx2 || (isa() == Isa::avx512 && __builtin_cpu_is("amdfam19h"));
}

const char* toString(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "baseline";
}

}  // namespace loom::cpu
