#include "engine/cpu/kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/halves.h"

namespace loom::cpu {
namespace {

// The sum of f(i, n) over the vectors of a row: four sums that do not wait for each other.
template <class V, class F>
LOOM_INLINE float sumOver(std::int64_t count, F f) {
  V sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sums[v] += f(i + v * kLanes, kLanes);
  }
  for (; i < count; i += kLanes) sums[0] += f(i, std::min(kLanes, count - i));
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <Level kNative>
LOOM_INLINE void layerNormRowOfBody(const float* x, const float* gamma, const float* beta, float epsilon,
                                    std::int64_t count, float* y, float* mean, float* inverse) {
  typedef VecFor<kNative> V;
  const float m = sumOver<V>(
                      count, [=](std::int64_t i, std::int64_t n)
                                 __attribute__((always_inline)) { return loadSomeOf<V>(x + i, n); }) /
                  static_cast<float>(count);
  const float squares = sumOver<V>(
      count, [=](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const V d = loadSomeOf<V>(x + i, n, m) - m;
        return d * d;
      });
  const float r = 1 / std::sqrt(squares / static_cast<float>(count) + epsilon);
  const auto put = [=](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
    V h = (loadSomeOf<V>(x + i, n) - m) * r;
    if (gamma != nullptr) h *= loadSomeOf<V>(gamma + i, n);
    if (beta != nullptr) h += loadSomeOf<V>(beta + i, n);
    storeSome(y + i, h, n);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) put(i, kLanes);
  if (i < count) put(i, count - i);
  *mean = m;
  *inverse = r;
}

template <Level kNative>
LOOM_INLINE void layerNormGradientRowOfBody(const float* x, const float* dy, const float* gamma, float mean,
                                            float inverse, std::int64_t count, float* dx, float* dgamma, float* dbeta) {
  typedef VecFor<kNative> V;
  V sumG[2] = {}, sumGH[2] = {};
  const auto add = [&](std::int64_t i, std::int64_t n, V & g, V & gh) __attribute__((always_inline)) {
    const V d = loadSomeOf<V>(dy + i, n), h = (loadSomeOf<V>(x + i, n, mean) - mean) * inverse;
    storeSome(dgamma + i, loadSomeOf<V>(dgamma + i, n) + d * h, n);
    storeSome(dbeta + i, loadSomeOf<V>(dbeta + i, n) + d, n);
    const V slope = gamma != nullptr ? d * loadSomeOf<V>(gamma + i, n) : d;
    g += slope;
    gh += slope * h;
  };
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    add(i, kLanes, sumG[0], sumGH[0]);
    add(i + kLanes, kLanes, sumG[1], sumGH[1]);
  }
  for (; i < count; i += kLanes) add(i, std::min(kLanes, count - i), sumG[0], sumGH[0]);
  const float meanG = sum(sumG[0] + sumG[1]) / static_cast<float>(count),
              meanGH = sum(sumGH[0] + sumGH[1]) / static_cast<float>(count);
  const auto put = [=](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
    const V d = loadSomeOf<V>(dy + i, n), h = (loadSomeOf<V>(x + i, n) - mean) * inverse;
    const V g = gamma != nullptr ? d * loadSomeOf<V>(gamma + i, n) : d;
    storeSome(dx + i, inverse * (g - meanG - h * meanGH), n);
  };
  for (i = 0; i + kLanes <= count; i += kLanes) put(i, kLanes);
  if (i < count) put(i, count - i);
}

LOOM_CPU_KERNEL_HALVES(void, layerNormRowOf,
                       (const float* x, const float* gamma, const float* beta, float epsilon, std::int64_t count,
                        float* y, float* mean, float* inverse),
                       (x, gamma, beta, epsilon, count, y, mean, inverse))
LOOM_CPU_KERNEL_HALVES(void, layerNormGradientRowOf,
                       (const float* x, const float* dy, const float* gamma, float mean, float inverse,
                        std::int64_t count, float* dx, float* dgamma, float* dbeta),
                       (x, dy, gamma, mean, inverse, count, dx, dgamma, dbeta))

float denominator(const ResponseWindow& w, const float* x, std::int64_t c, std::int64_t channels) {
  const std::int64_t first = std::max<std::int64_t>(0, c - w.size / 2),
                     last = std::min(channels - 1, c + (w.size - 1) / 2);
  float squares = 0;
  for (std::int64_t j = first; j <= last; ++j) squares += x[j] * x[j];
  return w.k + w.alpha / static_cast<float>(w.size) * squares;
}

}  // namespace

void layerNormRow(const float* x, const float* gamma, const float* beta, float epsilon, std::int64_t count, float* y,
                  float* mean, float* inverse) {
  layerNormRowOf(x, gamma, beta, epsilon, count, y, mean, inverse);
}
void layerNormGradientRow(const float* x, const float* dy, const float* gamma, float mean, float inverse,
                          std::int64_t count, float* dx, float* dgamma, float* dbeta) {
  layerNormGradientRowOf(x, dy, gamma, mean, inverse, count, dx, dgamma, dbeta);
}

void responseNormRow(const ResponseWindow& window, const float* x, float* y, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c) y[c] = x[c] * std::pow(denominator(window, x, c, channels), -window.beta);
}

// dx_i = dy_i d_i^-beta - 2 alpha beta / size x_i sum over c with i in their window of t_c, t_c = dy_c x_c d_c^(-beta -
// 1)
void responseNormGradientRow(const ResponseWindow& window, const float* x, const float* dy, float* dx,
                             std::int64_t channels, float* scratch) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float d = denominator(window, x, c, channels), power = std::pow(d, -window.beta);
    scratch[c] = dy[c] * x[c] * power / d;
    scratch[channels + c] = dy[c] * power;
  }
  const float factor = 2 * window.alpha * window.beta / static_cast<float>(window.size);
  for (std::int64_t i = 0; i < channels; ++i) {
    const std::int64_t first = std::max<std::int64_t>(0, i - (window.size - 1) / 2),
                       last = std::min(channels - 1, i + window.size / 2);
    float total = 0;
    for (std::int64_t c = first; c <= last; ++c) total += scratch[c];
    dx[i] = scratch[channels + i] - factor * x[i] * total;
  }
}

}  // namespace loom::cpu
