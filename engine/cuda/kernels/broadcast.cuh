// binary, broadcast: a tensor whose extents are partly 1 is repeated over a larger one.
#include "engine/cuda/kernels/broadcast.h"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

// The sign of b, where fmodf has that of a.
__device__ __forceinline__ float moduloOf(float a, float b) {
  const float left = fmodf(a, b);
  return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

__device__ __forceinline__ float binaryOf(BinaryFunction function, float a, float b) {
  switch (function) {
    case BinaryFunction::add:
      return a + b;
    case BinaryFunction::subtract:
      return a - b;
    case BinaryFunction::multiply:
      return a * b;
    case BinaryFunction::divide:
      return a / b;
    case BinaryFunction::maximum:
      return a > b || a != a ? a : b;  // a NaN in either stays
    case BinaryFunction::minimum:
      return a < b || a != a ? a : b;
    case BinaryFunction::power:
      return powf(a, b);
    case BinaryFunction::modulo:
      return moduloOf(a, b);
    case BinaryFunction::fmod:
      return fmodf(a, b);
    case BinaryFunction::equal:
      return a == b ? 1 : 0;
    case BinaryFunction::notEqual:
      return a != b ? 1 : 0;
    case BinaryFunction::greater:
      return a > b ? 1 : 0;
    case BinaryFunction::greaterEqual:
      return a >= b ? 1 : 0;
    case BinaryFunction::less:
      return a < b ? 1 : 0;
    case BinaryFunction::lessEqual:
      return a <= b ? 1 : 0;
  }
  return a;
}

// Whether packs of the larger tensor never cross the end of a run of the smaller one, so that one place serves a pack.
template <class T>
__device__ __forceinline__ bool inPacks(const Strided& repeated) {
  return repeated.groups == 1 || runOf(repeated) % Pack<T>::kCount == 0;
}
// The smaller tensor's numbers beside the pack that begins at element i.
template <class T>
__device__ __forceinline__ Pack<T> packBeside(const T* small, const Strided& repeated, std::int64_t i) {
  const T* const at = small + placeIn(repeated, i);
  if (stepOf(repeated) != 0) return *reinterpret_cast<const Pack<T>*>(at);
  Pack<T> pack;
  for (T& one : pack.at) one = *at;
  return pack;
}

template <BinaryFunction kFunction>
struct BinaryChosen {
  static constexpr BinaryFunction function = kFunction;
};
struct BinaryRare {
  BinaryFunction function;
};

// `chosen` says the function: where it is compiled, but for those that are never computed in 16 bits.
template <class T, class Function>
__device__ __forceinline__ void binaryOver(const BinaryArguments& arguments, const Function& chosen) {
  const T *const a = static_cast<const T*>(arguments.a), *const b = static_cast<const T*>(arguments.b),
                 *const mask = static_cast<const T*>(arguments.mask);
  T* const y = static_cast<T*>(arguments.y);
  const bool relu = arguments.relu;
  const auto one = [relu, chosen](T left, T right, float masked) {
    const float value = binaryOf(chosen.function, toFloat(left), toFloat(right));
    return fromFloat<T>((relu && value < 0) || !(masked > 0) ? 0 : value);
  };
  std::int64_t first = firstOfThread();
  if (inPacks<T>(arguments.repeated)) {
    const std::int64_t packs = arguments.count / Pack<T>::kCount;
    for (std::int64_t i = first; i < packs; i += threadsOfGrid()) {
      Pack<T> left = reinterpret_cast<const Pack<T>*>(a)[i];
      const Pack<T> right = packBeside(b, arguments.repeated, i * Pack<T>::kCount);
      Pack<T> masks = left;
      if (mask != nullptr) masks = reinterpret_cast<const Pack<T>*>(mask)[i];
      for (int k = 0; k < Pack<T>::kCount; ++k)
        left.at[k] = one(left.at[k], right.at[k], mask != nullptr ? toFloat(masks.at[k]) : 1.0f);
      reinterpret_cast<Pack<T>*>(y)[i] = left;
    }
    first += packs * Pack<T>::kCount;
  }
  for (std::int64_t i = first; i < arguments.count; i += threadsOfGrid())
    y[i] = one(a[i], b[placeIn(arguments.repeated, i)], mask != nullptr ? toFloat(mask[i]) : 1.0f);
}

template <class T>
__global__ void __launch_bounds__(256) binary(BinaryArguments a) {
  switch (a.function) {
    case BinaryFunction::add:
      return binaryOver<T>(a, BinaryChosen<BinaryFunction::add>());
    case BinaryFunction::subtract:
      return binaryOver<T>(a, BinaryChosen<BinaryFunction::subtract>());
    case BinaryFunction::multiply:
      return binaryOver<T>(a, BinaryChosen<BinaryFunction::multiply>());
    case BinaryFunction::divide:
      return binaryOver<T>(a, BinaryChosen<BinaryFunction::divide>());
    case BinaryFunction::maximum:
      return binaryOver<T>(a, BinaryChosen<BinaryFunction::maximum>());
    case BinaryFunction::minimum:
      return binaryOver<T>(a, BinaryChosen<BinaryFunction::minimum>());
    default:  // computed by binaryInF32
      return;
  }
}

// Of all others: a kernel of their own, which leaves that of the common ones its registers.
__global__ void __launch_bounds__(256) binaryInF32(BinaryArguments a) {
  binaryOver<float>(a, BinaryRare{a.function});
}

template <class T>
__global__ void __launch_bounds__(256) broadcast(BroadcastArguments a) {
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  std::int64_t first = firstOfThread();
  if (inPacks<T>(a.repeated)) {
    const std::int64_t packs = a.count / Pack<T>::kCount;
    for (std::int64_t i = first; i < packs; i += threadsOfGrid())
      reinterpret_cast<Pack<T>*>(y)[i] = packBeside(x, a.repeated, i * Pack<T>::kCount);
    first += packs * Pack<T>::kCount;
  }
  for (std::int64_t i = first; i < a.count; i += threadsOfGrid()) y[i] = x[placeIn(a.repeated, i)];
}

LOOM_KERNELS(broadcast, LOOM_KERNEL("binary", binary, BinaryArguments),
             LOOM_KERNEL_ONE("binary_in_f32.f32", binaryInF32, BinaryArguments),
             LOOM_KERNEL("broadcast", broadcast, BroadcastArguments))

}  // namespace loom::cuda
