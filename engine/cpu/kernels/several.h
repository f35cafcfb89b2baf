#pragma once
// halves.h's exponential of several registers at once, step by step together. It is a chain of operations that wait for
// one another, and a processor looks only so many operations ahead: where a longer chain follows, as in the slope of
// gelu, two of them side by side take 7 % less (Zen 3). A sigmoid or tanh alone takes the same either way.
#include "engine/cpu/kernels/halves.h"

namespace loom::cpu {

#define LOOM_FOR_EACH_OF(count) _Pragma("GCC unroll 8") for (int i = 0; i < (count); ++i)

// x = sum of coefficients[k] s^k, the highest first.
template <int kCount, int kSteps>
LOOM_INLINE void polynomials(Vec8 (&p)[kCount], const Vec8 (&s)[kCount], const float (&coefficients)[kSteps]) {
  LOOM_FOR_EACH_OF(kCount) p[i] = splatOf<Vec8>(coefficients[0]);
#pragma GCC unroll 8
  for (int k = 1; k < kSteps; ++k) LOOM_FOR_EACH_OF(kCount) p[i] = p[i] * s[i] + coefficients[k];
}

// expWithin().
template <int kCount>
LOOM_INLINE void expWithinOf(Vec8 (&x)[kCount]) {
  Vec8 power[kCount], p[kCount];
  LOOM_FOR_EACH_OF(kCount) x[i] = bounded8(x[i], -87.3f, 88.0f);
  LOOM_FOR_EACH_OF(kCount) power[i] = x[i] * kLog2OfE + kExpShift;
  LOOM_FOR_EACH_OF(kCount) p[i] = power[i] - kExpShift;
  LOOM_FOR_EACH_OF(kCount) power[i] = (Vec8)((Vec8I)power[i] << 23);
  LOOM_FOR_EACH_OF(kCount) x[i] = x[i] - p[i] * kLn2;
  polynomials(p, x, kExpPolynomial);
  LOOM_FOR_EACH_OF(kCount) p[i] = p[i] * (x[i] * x[i]) + x[i];
  LOOM_FOR_EACH_OF(kCount) x[i] = p[i] * power[i] + power[i];
}
}  // namespace loom::cpu
