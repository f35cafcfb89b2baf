// unary: on each element by itself, in whatever layout it stands.
#include "engine/cuda/kernels/elementwise.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

__device__ __forceinline__ float unaryOf(UnaryFunction function, float alpha, float x) {
  switch (function) {
    case UnaryFunction::relu:
      return x < 0 ? 0 : x;  // so written, a NaN stays one
    case UnaryFunction::tanh:
      return tanhf(x);
    default:
      return x;
  }
}

// A pack of 16 bytes a thread, what is left over one by one. Both tensors begin at multiples of 64 bytes.
template <class T>
__global__ void __launch_bounds__(256) unary(UnaryArguments a) {
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  const std::int64_t packs = a.count / Pack<T>::kCount;
  for (std::int64_t i = firstOfThread(); i < packs; i += threadsOfGrid()) {
    Pack<T> pack = reinterpret_cast<const Pack<T>*>(x)[i];
    for (T& one : pack.at) one = fromFloat<T>(unaryOf(a.function, a.alpha, toFloat(one)));
    reinterpret_cast<Pack<T>*>(y)[i] = pack;
  }
  const std::int64_t i = packs * Pack<T>::kCount + firstOfThread();
  if (i < a.count) y[i] = fromFloat<T>(unaryOf(a.function, a.alpha, toFloat(x[i])));
}

LOOM_KERNELS(elementwise, LOOM_KERNEL("unary", unary, UnaryArguments))

}  // namespace loom::cuda
