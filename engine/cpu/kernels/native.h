#pragma once
// What processors with AVX512-BF16 do by one instruction each, for bodies that LOOM_CPU_KERNEL_NATIVE compiles for them
// besides: `kNative` says for whom. In assembler, because an intrinsic cannot be inlined into a body that is compiled
// for several targets. With AVX2 the same is done by halves (halves.h), everywhere else by the operations of simd.h.
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/halves.h"
#include "engine/cpu/kernels/simd.h"

// LOOM_CPU_KERNEL of a body with the template argument kNative: a Level, or a bool where AVX2 needs nothing of its own.
#define LOOM_CPU_KERNEL_NATIVE(result, name, parameters, arguments) \
  static LOOM_TARGET_AVX512_BF16 result name##Native parameters {   \
    return name##Body<true> arguments;                              \
  }                                                                 \
  static LOOM_TARGET_AVX512 result name##Avx512 parameters {        \
    return name##Body<false> arguments;                             \
  }                                                                 \
  static LOOM_TARGET_AVX2 result name##Avx2 parameters {            \
    return name##Body<kInHalves> arguments;                         \
  }                                                                 \
  static result name##Baseline parameters {                         \
    return name##Body<false> arguments;                             \
  }                                                                 \
  result name parameters {                                          \
    if (multipliesBf16()) return name##Native arguments;            \
    switch (isa()) {                                                \
      case Isa::avx512:                                             \
        return name##Avx512 arguments;                              \
      case Isa::avx2:                                               \
        return name##Avx2 arguments;                                \
      default:                                                      \
        return name##Baseline arguments;                            \
    }                                                               \
  }

namespace loom::cpu {

// max(x, low), then min(x, high): a NaN becomes one of the two.
template <Level kNative>
LOOM_INLINE Vec bounded(Vec x, float low, float high) {
  if constexpr (kNative) {
    Vec least, both;
    asm("vmaxps %2, %1, %0" : "=v"(least) : "v"(x), "v"(splat(low)));
    asm("vminps %2, %1, %0" : "=v"(both) : "v"(least), "v"(splat(high)));
    return both;
  } else {
    return min(max(x, splat(low)), splat(high));
  }
}

// a / b to an ulp, for |b| between 1e-37 and 1e37: an estimate to 14 bits and one step of Newton's.
template <Level kNative>
LOOM_INLINE Vec quotient(Vec a, Vec b) {
  if constexpr (kNative) {
    Vec estimate;
    asm("vrcp14ps %1, %0" : "=v"(estimate) : "v"(b));
    const Vec first = a * estimate;
    return first + estimate * (a - b * first);
  } else {
    return a / b;
  }
}

// v where a and b are the same bits, else 0. (GCC 12 compares lane by lane where the mask is used once.)
template <bool kNative>
LOOM_INLINE Vec whereSame(Vec a, Vec b, Vec v) {
  if constexpr (kNative) {
    Vec chosen;
    std::uint16_t mask;
    asm("vpcmpeqd %3, %2, %1\n\tvmovaps %4, %0%{%1%}%{z%}" : "=v"(chosen), "=&Yk"(mask) : "v"(a), "v"(b), "v"(v));
    return chosen;
  } else {
    return where((VecI)a == (VecI)b, v);
  }
}

template <bool kNative>
LOOM_INLINE Two whereSame(Two a, Two b, Two v) {
  return where(TwoI{(Vec8I)a.low == (Vec8I)b.low, (Vec8I)a.high == (Vec8I)b.high}, v);
}

// loadHalf() and loadSome(): GCC 12 widens sixteen numbers in two halves.
template <Level kNative>
LOOM_INLINE Vec loadHalfAs(const std::uint16_t* p, std::int64_t count) {
  if constexpr (kNative) {
    if (count >= kLanes) {
      VecU words;
      asm("vpmovzxwd %1, %0" : "=v"(words) : "m"(*reinterpret_cast<const VecHalfUnaligned*>(p)));
      return (Vec)(words << 16);
    }
  }
  return loadHalf(p, count);
}
template <Level kNative>
LOOM_INLINE Vec loadSomeAs(const Stored& from, std::int64_t at, std::int64_t count) {
  return from.bf16 ? loadHalfAs<kNative>(reinterpret_cast<const std::uint16_t*>(from.at) + at, count)
                   : loadSome(reinterpret_cast<const float*>(from.at) + at, count);
}

// What the level computes with, out of numbers of either type.
template <Level kNative>
LOOM_INLINE VecFor<kNative> loadFor(const Stored& from, std::int64_t at, std::int64_t count) {
  if constexpr (kNative.inHalves()) {
    return from.bf16 ? loadTwoHalf(reinterpret_cast<const std::uint16_t*>(from.at) + at, count)
                     : loadSomeOf<Two>(reinterpret_cast<const float*>(from.at) + at, count);
  } else {
    return loadSomeAs<kNative>(from, at, count);
  }
}

// storeHalf(); the instruction takes denormal numbers for 0, as everything in a step does.
template <Level kNative>
LOOM_INLINE void storeHalfAs(std::uint16_t* p, Vec v, std::int64_t count) {
  if constexpr (kNative) {
    VecHalf half;
    asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(v));
    if (count >= kLanes) {
      *reinterpret_cast<VecHalfUnaligned*>(p) = half;
    } else {
      alignas(32) std::uint16_t buffer[kLanes];
      *reinterpret_cast<VecHalf*>(buffer) = half;
      for (std::int64_t i = 0; i < count; ++i) p[i] = buffer[i];
    }
  } else {
    storeHalf(p, v, count);
  }
}
template <Level kNative>
LOOM_INLINE void storeSomeAs(const Stored& to, std::int64_t at, Vec v, std::int64_t count) {
  if (to.bf16) {
    storeHalfAs<kNative>(reinterpret_cast<std::uint16_t*>(to.at) + at, v, count);
  } else {
    storeSome(reinterpret_cast<float*>(to.at) + at, v, count);
  }
}

template <Level kNative>
LOOM_INLINE void storeHalfAs(std::uint16_t* p, Two v, std::int64_t count) {
  storeHalf(p, v, count);
}
template <Level kNative>
LOOM_INLINE void storeSomeAs(const Stored& to, std::int64_t at, Two v, std::int64_t count) {
  if (to.bf16) {
    storeHalf(reinterpret_cast<std::uint16_t*>(to.at) + at, v, count);
  } else {
    storeSome(reinterpret_cast<float*>(to.at) + at, v, count);
  }
}

// simd.h's functions by these.
template <Level kNative>
LOOM_INLINE Vec expAs(Vec x) {
  if constexpr (!kNative) return exp(x);
  const Vec y = boundedExp(bounded<kNative>(x, -87.336f, 88.722f));
  const Vec limited = x > 88.722f ? splat(__builtin_inff()) : y;
  return x == x ? limited : x;
}
template <Level kNative>
LOOM_INLINE Two expAs(Two x) {
  return exp(x);
}
template <Level kNative>
LOOM_INLINE Two sigmoidAs(Two x) {
  return {sigmoid(x.low), sigmoid(x.high)};
}
template <Level kNative>
LOOM_INLINE Two tanhAs(Two x) {
  return {tanh(x.low), tanh(x.high)};
}
// y, but NaN where x is.
template <Level kNative>
LOOM_INLINE Vec unlessNan(Vec x, Vec y) {
  return x == x ? y : x;
}
template <Level kNative>
LOOM_INLINE Vec sigmoidAs(Vec x) {
  if constexpr (!kNative) return sigmoid(x);
  const Vec y = quotient<kNative>(splat(1), 1.0f + boundedExp(bounded<kNative>(-x, -87.0f, 85.0f)));
  return unlessNan<kNative>(x, y);
}
template <Level kNative>
LOOM_INLINE Vec tanhAs(Vec x) {
  const Ratio<Vec> ratio = tanhRatio(bounded<kNative>(x, -kTanhLimit, kTanhLimit));
  return unlessNan<kNative>(x, quotient<kNative>(ratio.over, ratio.under));
}
template <Level kNative>
LOOM_INLINE Vec erfAs(Vec x) {
  const Ratio<Vec> ratio = erfRatio(bounded<kNative>(x, -kErfLimit, kErfLimit));
  return unlessNan<kNative>(x, quotient<kNative>(ratio.over, ratio.under));
}
// v, or the floor where v is below it; a NaN stays one.
template <Level kNative>
LOOM_INLINE Vec atLeast(Vec v, Vec floor) {
  return v < floor ? floor : v;
}
// `positive` where x is above 0, `negative` where it is below; either where it is 0 or NaN.
template <Level kNative>
LOOM_INLINE Vec chooseBySign(Vec x, Vec positive, Vec negative) {
  return x < 0.0f ? negative : positive;
}
// v where x is positive, else 0.
template <Level kNative>
LOOM_INLINE Vec wherePositive(Vec x, Vec v) {
  return where(x > 0.0f, v);
}

// The same of one of the two registers that AVX2 has for sixteen numbers, and of both.
template <Level kNative>
LOOM_INLINE Vec8 bounded(Vec8 x, float low, float high) {
  return bounded8(x, low, high);
}
template <Level kNative>
LOOM_INLINE Vec8 quotient(Vec8 a, Vec8 b) {
  return a / b;
}
template <Level kNative>
LOOM_INLINE Vec8 erfAs(Vec8 x) {
  return erf(x);
}
template <Level kNative>
LOOM_INLINE Vec8 chooseBySign(Vec8 x, Vec8 positive, Vec8 negative) {
  return x > 0.0f ? positive : negative;
}
template <Level kNative>
LOOM_INLINE Two atLeast(Two v, Two floor) {
  return choose(v < floor, floor, v);
}
template <Level kNative>
LOOM_INLINE Two wherePositive(Two x, Two v) {
  return where(x > 0.0f, v);
}

}  // namespace loom::cpu
