// unary, unary_gradient, scale: on each element by itself, in whatever layout it stands. A pack of 16 bytes a thread,
// what is left over one by one, and all of rare functions: a loop over a pack is unrolled where its body is short; else
// the pack would be indexed, and stand in local memory. All tensors begin at multiples of 64 bytes. An output may stand
// where an input does.
#include "engine/cuda/kernels/elementwise.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

// y[i] = of(x[i]).
template <class T, bool kInPacks = true, class Of>
__device__ __forceinline__ void forEachOf(const void* from, void* to, std::int64_t count, const Of& of) {
  const T* const x = static_cast<const T*>(from);
  T* const y = static_cast<T*>(to);
  const std::int64_t packs = kInPacks ? count / Pack<T>::kCount : 0;
  if constexpr (kInPacks)
    for (std::int64_t i = firstOfThread(); i < packs; i += threadsOfGrid()) {
      Pack<T> pack = reinterpret_cast<const Pack<T>*>(x)[i];
      for (T& one : pack.at) one = fromFloat<T>(of(toFloat(one)));
      reinterpret_cast<Pack<T>*>(y)[i] = pack;
    }
  for (std::int64_t i = packs * Pack<T>::kCount + firstOfThread(); i < count; i += threadsOfGrid())
    y[i] = fromFloat<T>(of(toFloat(x[i])));
}

// y[i] = of(a[i], b[i]).
template <class T, bool kInPacks, class Of>
__device__ __forceinline__ void forEachOfTwo(const void* first, const void* second, void* to, std::int64_t count,
                                             const Of& of) {
  const T *const a = static_cast<const T*>(first), *const b = static_cast<const T*>(second);
  T* const y = static_cast<T*>(to);
  const std::int64_t packs = kInPacks ? count / Pack<T>::kCount : 0;
  if constexpr (kInPacks)
    for (std::int64_t i = firstOfThread(); i < packs; i += threadsOfGrid()) {
      Pack<T> pack = reinterpret_cast<const Pack<T>*>(a)[i];
      const Pack<T> other = reinterpret_cast<const Pack<T>*>(b)[i];
      for (int k = 0; k < Pack<T>::kCount; ++k)
        pack.at[k] = fromFloat<T>(of(toFloat(pack.at[k]), toFloat(other.at[k])));
      reinterpret_cast<Pack<T>*>(y)[i] = pack;
    }
  for (std::int64_t i = packs * Pack<T>::kCount + firstOfThread(); i < count; i += threadsOfGrid())
    y[i] = fromFloat<T>(of(toFloat(a[i]), toFloat(b[i])));
}

__device__ __forceinline__ float sigmoidOf(float x) {
  // Of the magnitude, so that nothing overflows.
  const float small = expf(-fabsf(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}

inline constexpr float kGeluCubic = 0.044715f;
inline constexpr float kRootTwoOverPi = 0.797884560802865356f;
inline constexpr float kRootHalf = 0.707106781186547524f;
inline constexpr float kOneOverRootTwoPi = 0.398942280401432678f;
inline constexpr float kTwoOverRootPi = 1.12837916709551257f;

// Between 0 and 1; a NaN stays one.
__device__ __forceinline__ float clippedOf(float x) {
  return x < 0 ? 0 : (x > 1 ? 1 : x);
}

// Of half turns, in double: exact also far from 0, and without the table of sinf, which would stand in local memory.
inline constexpr double kOneOverPi = 0.318309886183790672;
__device__ __forceinline__ float sinOf(float x) {
  return static_cast<float>(sinpi(x * kOneOverPi));
}
__device__ __forceinline__ float cosOf(float x) {
  return static_cast<float>(cospi(x * kOneOverPi));
}

// ops/unary.cpp has the same in double. `function` is known where this is compiled, but for rare ones.
__device__ __forceinline__ float unaryOf(UnaryFunction function, float alpha, float beta, float x) {
  switch (function) {
    case UnaryFunction::relu:
      return x < 0 ? 0 : x;  // so written, a NaN stays one
    case UnaryFunction::leakyRelu:
      return x > 0 ? x : alpha * x;
    case UnaryFunction::elu:
      return x > 0 ? x : alpha * expm1f(x);
    case UnaryFunction::selu:
      return static_cast<float>(kSeluScale) * (x > 0 ? x : static_cast<float>(kSeluAlpha) * expm1f(x));
    case UnaryFunction::gelu:
      return 0.5f * x * (1 + erff(x * kRootHalf));
    case UnaryFunction::geluTanh:
      return 0.5f * x * (1 + tanhf(kRootTwoOverPi * (x + kGeluCubic * x * x * x)));
    case UnaryFunction::silu:
      return x * sigmoidOf(x);
    case UnaryFunction::sigmoid:
      return sigmoidOf(x);
    case UnaryFunction::tanh:
      return tanhf(x);
    case UnaryFunction::exp:
      return expf(x);
    case UnaryFunction::log:
      return logf(x);
    case UnaryFunction::square:
      return x * x;
    case UnaryFunction::sqrt:
      return sqrtf(x);
    case UnaryFunction::negative:
      return -x;
    case UnaryFunction::absolute:
      return fabsf(x);
    case UnaryFunction::reciprocal:
      return 1 / x;
    case UnaryFunction::reciprocalSqrt:
      return 1 / sqrtf(x);
    case UnaryFunction::clamp:
      return x < alpha ? alpha : (x > beta ? beta : x);
    case UnaryFunction::hardSigmoid:
      return clippedOf(alpha * x + beta);
    case UnaryFunction::hardSwish:
      return x * clippedOf(alpha * x + beta);
    case UnaryFunction::softplus:  // of the magnitude, so that nothing overflows
      return (x < 0 ? 0 : x) + log1pf(expf(-fabsf(alpha * x))) / alpha;
    case UnaryFunction::softsign:
      return x / (1 + fabsf(x));
    case UnaryFunction::erf:
      return erff(x);
    case UnaryFunction::sign:
      return x > 0 ? 1 : (x < 0 ? -1 : x);
    case UnaryFunction::floor:
      return floorf(x);
    case UnaryFunction::ceil:
      return ceilf(x);
    case UnaryFunction::round:
      return rintf(x);
    case UnaryFunction::sin:
      return sinOf(x);
    case UnaryFunction::cos:
      return cosOf(x);
    case UnaryFunction::tan:
      return sinOf(x) / cosOf(x);
    case UnaryFunction::asin:
      return asinf(x);
    case UnaryFunction::acos:
      return acosf(x);
    case UnaryFunction::atan:
      return atanf(x);
    case UnaryFunction::sinh:
      return sinhf(x);
    case UnaryFunction::cosh:
      return coshf(x);
    case UnaryFunction::asinh:
      return asinhf(x);
    case UnaryFunction::acosh:
      return acoshf(x);
    case UnaryFunction::atanh:
      return atanhf(x);
  }
  return x;
}

__device__ __forceinline__ float unaryDerivativeOf(UnaryFunction function, float alpha, float beta, bool fromOutput,
                                                   float at) {
  switch (function) {
    case UnaryFunction::relu:
      return at > 0 ? 1 : 0;
    case UnaryFunction::leakyRelu:
      return at > 0 ? 1 : alpha;
    case UnaryFunction::elu:
      return at > 0 ? 1 : (fromOutput ? at + alpha : alpha * expf(at));
    case UnaryFunction::selu:
      return at > 0 ? static_cast<float>(kSeluScale) : at + static_cast<float>(kSeluScale * kSeluAlpha);
    case UnaryFunction::gelu:
      return 0.5f * (1 + erff(at * kRootHalf)) + at * expf(-0.5f * at * at) * kOneOverRootTwoPi;
    case UnaryFunction::geluTanh: {
      const float t = tanhf(kRootTwoOverPi * (at + kGeluCubic * at * at * at));
      return 0.5f * (1 + t) + 0.5f * at * (1 - t * t) * kRootTwoOverPi * (1 + 3 * kGeluCubic * at * at);
    }
    case UnaryFunction::silu: {
      const float s = sigmoidOf(at);
      return s * (1 + at * (1 - s));
    }
    case UnaryFunction::sigmoid:
      return at * (1 - at);
    case UnaryFunction::tanh:
      return 1 - at * at;
    case UnaryFunction::exp:
      return at;
    case UnaryFunction::log:
      return 1 / at;
    case UnaryFunction::square:
      return 2 * at;
    case UnaryFunction::sqrt:
      return 0.5f / at;
    case UnaryFunction::negative:
      return -1;
    case UnaryFunction::absolute:
      return at > 0 ? 1 : (at < 0 ? -1 : 0);
    case UnaryFunction::reciprocal:
      return -at * at;
    case UnaryFunction::reciprocalSqrt:
      return -0.5f * at * at * at;
    case UnaryFunction::clamp:
      return at > alpha && at < beta ? 1 : 0;
    case UnaryFunction::hardSigmoid:
      return at > 0 && at < 1 ? alpha : 0;
    case UnaryFunction::hardSwish: {
      const float share = alpha * at + beta;
      return clippedOf(share) + (share > 0 && share < 1 ? alpha * at : 0);
    }
    case UnaryFunction::softplus:
      return sigmoidOf(alpha * at);
    case UnaryFunction::softsign:
      return 1 / ((1 + fabsf(at)) * (1 + fabsf(at)));
    case UnaryFunction::erf:
      return kTwoOverRootPi * expf(-at * at);
    case UnaryFunction::sin:
      return cosOf(at);
    case UnaryFunction::cos:
      return -sinOf(at);
    case UnaryFunction::tan:
      return 1 + at * at;
    case UnaryFunction::asin:
      return 1 / sqrtf(1 - at * at);
    case UnaryFunction::acos:
      return -1 / sqrtf(1 - at * at);
    case UnaryFunction::atan:
      return 1 / (1 + at * at);
    case UnaryFunction::sinh:
      return coshf(at);
    case UnaryFunction::cosh:
      return sinhf(at);
    case UnaryFunction::asinh:
      return 1 / sqrtf(at * at + 1);
    case UnaryFunction::acosh:
      return 1 / sqrtf(at * at - 1);
    case UnaryFunction::atanh:
      return 1 / (1 - at * at);
    case UnaryFunction::sign:  // steps, which have no gradient
    case UnaryFunction::floor:
    case UnaryFunction::ceil:
    case UnaryFunction::round:
      return 0;
  }
  return 1;
}

// Calls work(Chosen<f>) for the function that is wanted, so that no loop asks which it is; a loop over a rare one does.
template <UnaryFunction kFunction>
struct Chosen {
  static constexpr UnaryFunction function = kFunction;
  static constexpr bool isRare = false;
};
struct Rare {
  UnaryFunction function;
  static constexpr bool isRare = true;
};
template <class Work>
__device__ __forceinline__ void choose(UnaryFunction function, const Work& work) {
  switch (function) {
    case UnaryFunction::relu:
      return work(Chosen<UnaryFunction::relu>());
    case UnaryFunction::leakyRelu:
      return work(Chosen<UnaryFunction::leakyRelu>());
    case UnaryFunction::elu:
      return work(Chosen<UnaryFunction::elu>());
    case UnaryFunction::selu:
      return work(Chosen<UnaryFunction::selu>());
    case UnaryFunction::gelu:
      return work(Chosen<UnaryFunction::gelu>());
    case UnaryFunction::geluTanh:
      return work(Chosen<UnaryFunction::geluTanh>());
    case UnaryFunction::silu:
      return work(Chosen<UnaryFunction::silu>());
    case UnaryFunction::sigmoid:
      return work(Chosen<UnaryFunction::sigmoid>());
    case UnaryFunction::tanh:
      return work(Chosen<UnaryFunction::tanh>());
    case UnaryFunction::exp:
      return work(Chosen<UnaryFunction::exp>());
    case UnaryFunction::log:
      return work(Chosen<UnaryFunction::log>());
    case UnaryFunction::square:
      return work(Chosen<UnaryFunction::square>());
    case UnaryFunction::sqrt:
      return work(Chosen<UnaryFunction::sqrt>());
    case UnaryFunction::negative:
      return work(Chosen<UnaryFunction::negative>());
    case UnaryFunction::absolute:
      return work(Chosen<UnaryFunction::absolute>());
    case UnaryFunction::clamp:
      return work(Chosen<UnaryFunction::clamp>());
    case UnaryFunction::hardSwish:
      return work(Chosen<UnaryFunction::hardSwish>());
    default:
      return work(Rare{function});
  }
}

template <class T>
__global__ void __launch_bounds__(256) unary(UnaryArguments a) {
  choose(a.function, [&](auto chosen) {
    forEachOf<T, !decltype(chosen)::isRare>(a.x, a.y, a.count,
                                            [&](float x) { return unaryOf(chosen.function, a.alpha, a.beta, x); });
  });
}

template <class T>
__global__ void __launch_bounds__(256, 4) unaryGradient(UnaryGradientArguments a) {
  choose(a.function, [&](auto chosen) {
    forEachOfTwo<T, !decltype(chosen)::isRare>(a.at, a.dy, a.dx, a.count, [&](float at, float dy) {
      return dy * unaryDerivativeOf(chosen.function, a.alpha, a.beta, a.fromOutput, at);
    });
  });
}

template <class T>
__global__ void __launch_bounds__(256) scale(ScaleArguments a) {
  const float factor = a.by == nullptr ? a.factor : *a.by;
  forEachOf<T>(a.x, a.y, a.count, [&](float x) { return factor * x + a.offset; });
}

__global__ void __launch_bounds__(256) select(SelectArguments a) {
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    a.y[i] = a.condition[i] != 0 ? a.first[i] : a.second[i];
}

LOOM_KERNELS(elementwise, LOOM_KERNEL("unary", unary, UnaryArguments),
             LOOM_KERNEL("unary_gradient", unaryGradient, UnaryGradientArguments),
             LOOM_KERNEL("scale", scale, ScaleArguments), LOOM_KERNEL_ONE("select", select, SelectArguments))

}  // namespace loom::cuda
