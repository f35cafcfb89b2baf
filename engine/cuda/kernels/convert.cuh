// Between types and between orders of axes.
#include <type_traits>

#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/pieces.cuh"

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

template <class Index>
__device__ __forceinline__ std::int64_t placeOf(const ConvertArguments& a, std::int64_t i) {
  return static_cast<std::int64_t>(placeIn(a, static_cast<Index>(i)));
}

// kCount numbers of `to` from the i-th on, as they stand in `from`.
template <class From, int kCount>
__device__ __forceinline__ Few<float, kCount> numbersOf(const ConvertArguments& a, std::int64_t i) {
  const From* const from = reinterpret_cast<const From*>(a.from);
  const auto place = [&](std::int64_t at) {
    return a.count < (std::int64_t{1} << 31) ? placeOf<std::uint32_t>(a, at) : placeOf<std::int64_t>(a, at);
  };
  Several<From, kCount> numbers;
  if (kCount == 1 || a.packed) {
    numbers = *reinterpret_cast<const Several<From, kCount>*>(from + place(i));
  } else {
    for (int k = 0; k < kCount; ++k) numbers.at[k] = from[place(i + k)];
  }
  Few<float, kCount> floats;
  for (int k = 0; k < kCount; ++k) floats.at[k] = toFloat(numbers.at[k]);
  return floats;
}

// Calls put4(numbers, i) and put(number, i) for all of the piece.
template <class From, class Put4, class Put>
__device__ __forceinline__ void overMoved(const MovedTensor& tensor, const Piece& piece, const Put4& put4,
                                          const Put& put) {
  static_assert(kConvertPack == 4);
  overPiece(
      tensor.pieces, piece, [&](std::int64_t i) { put4(numbersOf<From, 4>(tensor.how, i), i); },
      [&](std::int64_t i) { put(numbersOf<From, 1>(tensor.how, i), i); });
}
template <class Put4, class Put>
__device__ __forceinline__ void overAnyMoved(const MovedTensor& tensor, const Piece& piece, const Put4& put4,
                                             const Put& put) {
  if (tensor.how.fromType == DataType::bf16)
    overMoved<bf16>(tensor, piece, put4, put);
  else if (tensor.how.fromType == DataType::f16)
    overMoved<f16>(tensor, piece, put4, put);
  else
    overMoved<float>(tensor, piece, put4, put);
}

template <class To>
__device__ __forceinline__ void convertPiece(const MovedTensor& tensor, const Piece& piece) {
  To* const to = reinterpret_cast<To*>(tensor.how.to);
  overMoved<float>(
      tensor, piece,
      [&](const Few<float, 4>& numbers, std::int64_t i) {
        Several<To, 4> four;
        for (int k = 0; k < 4; ++k) four.at[k] = fromFloat<To>(numbers.at[k]);
        *reinterpret_cast<Several<To, 4>*>(to + i) = four;
      },
      [&](const Few<float, 1>& numbers, std::int64_t i) { to[i] = fromFloat<To>(numbers.at[0]); });
}

// What is in f32, as weights are.
__global__ void __launch_bounds__(kPieceThreads) convertAll(ConvertAllArguments a) {
  const Piece piece = a.pieces[blockIdx.x];
  const MovedTensor& tensor = a.tensors[piece.tensor];
  if (tensor.how.toType == DataType::bf16)
    convertPiece<bf16>(tensor, piece);
  else if (tensor.how.toType == DataType::f16)
    convertPiece<f16>(tensor, piece);
  else
    convertPiece<float>(tensor, piece);
}

template <int kCount>
__device__ __forceinline__ void deliverTo(float* to, Few<float, kCount> numbers, const DeliveryWords& words) {
  Few<float, kCount> before{};
  if (words.accumulate != 0) before = *reinterpret_cast<const Few<float, kCount>*>(to);
  for (int k = 0; k < kCount; ++k) {
    const float scaled = words.scale * numbers.at[k];
    numbers.at[k] = words.accumulate != 0 ? before.at[k] + scaled : scaled;
  }
  *reinterpret_cast<Few<float, kCount>*>(to) = numbers;
}

// Four blocks a multiprocessor: without the number ptxas settles for 48 registers and spills two.
__global__ void __launch_bounds__(kPieceThreads, 4) deliverAll(DeliverAllArguments a) {
  DeliveryWords words = *a.words;
  if (a.guard != nullptr) words.scale += *a.guard;
  const Piece piece = a.pieces[blockIdx.x];
  const MovedTensor& tensor = a.tensors[piece.tensor];
  float* const to = reinterpret_cast<float*>(tensor.how.to);
  overAnyMoved(
      tensor, piece, [&](const Few<float, 4>& numbers, std::int64_t i) { deliverTo<4>(to + i, numbers, words); },
      [&](const Few<float, 1>& numbers, std::int64_t i) { deliverTo<1>(to + i, numbers, words); });
}

__global__ void __launch_bounds__(32) guardLoss(GuardLossArguments a) {
  const float loss = *a.loss, before = a.before == nullptr ? 0.0f : *a.before;
  if (threadIdx.x == 0) *a.guard = before + (loss - loss);
}

LOOM_KERNELS(convert, LOOM_KERNEL_ONE("convert", convert, ConvertArguments),
             LOOM_KERNEL_ONE("convert_all", convertAll, ConvertAllArguments),
             LOOM_KERNEL_ONE("deliver_all", deliverAll, DeliverAllArguments),
             LOOM_KERNEL_ONE("guard_loss", guardLoss, GuardLossArguments))

}  // namespace loom::cuda
