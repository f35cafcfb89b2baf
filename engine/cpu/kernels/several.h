#pragma once
// halves.h's functions of several registers at once, step by step together. Each is a chain of operations that wait for
// one another, 50 to 60 cycles long, and a processor looks only some 64 operations of this kind ahead (Zen 3): written
// one after the other, two or three such chains overlap; side by side they fill the multipliers.
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
// sigmoid().
template <int kCount>
LOOM_INLINE void sigmoidOf(Vec8 (&x)[kCount]) {
  LOOM_FOR_EACH_OF(kCount) x[i] = -x[i];
  expWithinOf(x);
  LOOM_FOR_EACH_OF(kCount) x[i] = 1.0f / (1.0f + x[i]);
}
// tanh().
template <int kCount>
LOOM_INLINE void tanhOf(Vec8 (&x)[kCount]) {
  constexpr float kOver[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                             5.12229709037114e-08f,  1.48572235717979e-05f, 6.37261928875436e-04f,
                             4.89352455891786e-03f};
  constexpr float kUnder[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f,
                              4.89352518554385e-03f};
  Vec8 s[kCount], p[kCount], q[kCount];
  LOOM_FOR_EACH_OF(kCount) x[i] = bounded8(x[i], -kTanhLimit, kTanhLimit);
  LOOM_FOR_EACH_OF(kCount) s[i] = x[i] * x[i];
  polynomials(q, s, kUnder);
  polynomials(p, s, kOver);
  LOOM_FOR_EACH_OF(kCount) x[i] = x[i] * p[i] / q[i];
}

}  // namespace loom::cpu
