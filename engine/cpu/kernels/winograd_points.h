#pragma once
// The one-dimensional transforms of winograd.h, of sixteen channels at a time; the names of the matrices are those
// there.
#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {

constexpr float kA = 0.70710678118654752f, kB = 1.41421356237309505f;  // the points +-a and +-b; a b = 1
constexpr float kA3 = 0.35355339059327376f, kB3 = 2.82842712474619010f;

// B': six numbers of a row or a column into the six points.
template <class V>
LOOM_INLINE void toPoints(const V (&d)[6], V (&t)[6]) {
  const V even = d[4] - 2.0f * d[2], odd = kA * d[3] - kB * d[1];
  const V evenB = d[4] - 0.5f * d[2], oddB = kB * d[3] - kA * d[1];
  t[0] = d[0] + d[4] - 2.5f * d[2];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = d[1] + d[5] - 2.5f * d[3];
}
// A'
template <class V>
LOOM_INLINE void fromPoints(const V (&m)[6], V (&y)[4]) {
  const V sum = m[1] + m[2], difference = m[1] - m[2], sumB = m[3] + m[4], differenceB = m[3] - m[4];
  y[0] = m[0] + sum + sumB;
  y[1] = kA * difference + kB * differenceB;
  y[2] = 0.5f * sum + 2.0f * sumB;
  y[3] = kA3 * difference + kB3 * differenceB + m[5];
}
// A
template <class V>
LOOM_INLINE void gradientToPoints(const V (&y)[4], V (&t)[6]) {
  const V even = y[0] + 0.5f * y[2], odd = kA * y[1] + kA3 * y[3];
  const V evenB = y[0] + 2.0f * y[2], oddB = kB * y[1] + kB3 * y[3];
  t[0] = y[0];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = y[3];
}
// G
template <class V>
LOOM_INLINE void weightToPoints(const V (&w)[3], V (&t)[6]) {
  const V even = (w[0] + 0.5f * w[2]) * (-2.0f / 3), odd = w[1] * (-2.0f / 3 * kA);
  const V evenB = (w[0] + 2.0f * w[2]) * (1.0f / 6), oddB = w[1] * (1.0f / 6 * kB);
  t[0] = w[0];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = w[2];
}
// G'
template <class V>
LOOM_INLINE void weightFromPoints(const V (&m)[6], V (&w)[3]) {
  const V sum = (m[1] + m[2]) * (-2.0f / 3), difference = (m[1] - m[2]) * (-2.0f / 3 * kA);
  const V sumB = (m[3] + m[4]) * (1.0f / 6), differenceB = (m[3] - m[4]) * (1.0f / 6 * kB);
  w[0] = m[0] + sum + sumB;
  w[1] = difference + differenceB;
  w[2] = 0.5f * sum + 2.0f * sumB + m[5];
}

}  // namespace loom::cpu
