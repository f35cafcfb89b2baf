// Between types and between orders of axes.
#include <type_traits>

#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

// What is moved at once.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Several {
  T at[kCount];
};

// Of the i-th number of `to` in `from`.
template <class Index>
__device__ __forceinline__ Index placeIn(const ConvertArguments& a, Index i) {
  if (a.axes == 0) return i;
  Index place = 0;
  for (int k = a.axes - 1; k >= 0; --k) {
    const Index extent = static_cast<Index>(a.extents[k]), rest = i / extent;
    place += (i - rest * extent) * static_cast<Index>(a.strides[k]);
    i = rest;
  }
  return place;
}

template <class From, class To, int kCount, class Index>
__device__ __forceinline__ void moveSome(const ConvertArguments& a, Index first, Index count) {
  const From* const from = reinterpret_cast<const From*>(a.from);
  To* const to = reinterpret_cast<To*>(a.to);
  for (Index k = static_cast<Index>(firstOfThread()); k < count; k += static_cast<Index>(threadsOfGrid())) {
    const Index i = first + k * kCount;
    const Several<From, kCount> values = *reinterpret_cast<const Several<From, kCount>*>(from + placeIn(a, i));
    Several<To, kCount> result;
    for (int n = 0; n < kCount; ++n) {
      if constexpr (std::is_same_v<From, To>)
        result.at[n] = values.at[n];
      else
        result.at[n] = fromFloat<To>(toFloat(values.at[n]));
    }
    *reinterpret_cast<Several<To, kCount>*>(to + i) = result;
  }
}

template <class From, class To, class Index>
__device__ __forceinline__ void moveAll(const ConvertArguments& a) {
  const Index count = static_cast<Index>(a.count);
  const Index packs = a.packed ? count / kConvertPack : 0;
  if (packs > 0) moveSome<From, To, kConvertPack, Index>(a, 0, packs);
  moveSome<From, To, 1, Index>(a, packs * kConvertPack, count - packs * kConvertPack);
}

// Places are 32 bits where they can be: a division of 64 takes several times as long.
template <class From, class To = From>
__device__ __forceinline__ void move(const ConvertArguments& a) {
  if (a.count < (std::int64_t{1} << 31))
    moveAll<From, To, std::uint32_t>(a);
  else
    moveAll<From, To, std::int64_t>(a);
}

template <class From>
__device__ __forceinline__ void moveTo(const ConvertArguments& a) {
  if (a.toType == DataType::bf16)
    move<From, bf16>(a);
  else if (a.toType == DataType::f16)
    move<From, f16>(a);
  else
    move<From, float>(a);
}

__global__ void __launch_bounds__(256) convert(ConvertArguments a) {
  if (a.fromType != a.toType) {
    if (a.fromType == DataType::bf16)
      moveTo<bf16>(a);
    else if (a.fromType == DataType::f16)
      moveTo<f16>(a);
    else
      moveTo<float>(a);
    return;
  }
  // Bit for bit, whatever it means.
  switch (a.fromType) {
    case DataType::f64:
    case DataType::i64:
      return move<std::uint64_t>(a);
    case DataType::bf16:
    case DataType::f16:
      return move<std::uint16_t>(a);
    case DataType::u8:
      return move<std::uint8_t>(a);
    default:
      return move<std::uint32_t>(a);
  }
}

__global__ void __launch_bounds__(256) deliver(DeliverArguments a) {
  DeliveryWords words = *a.words;
  if (a.guard != nullptr) words.scale += *a.guard;
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    a.to[i] = words.accumulate != 0 ? a.to[i] + words.scale * a.from[i] : words.scale * a.from[i];
}

__global__ void __launch_bounds__(32) guardLoss(GuardLossArguments a) {
  const float loss = *a.loss, before = a.before == nullptr ? 0.0f : *a.before;
  if (threadIdx.x == 0) *a.guard = before + (loss - loss);
}

LOOM_KERNELS(convert, LOOM_KERNEL_ONE("convert", convert, ConvertArguments),
             LOOM_KERNEL_ONE("deliver", deliver, DeliverArguments),
             LOOM_KERNEL_ONE("guard_loss", guardLoss, GuardLossArguments))

}  // namespace loom::cuda
