// Between types and between orders of axes.
#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

__device__ __forceinline__ float loadAs(const std::byte* from, DataType type, std::int64_t i) {
  if (type == DataType::bf16) return toFloat(reinterpret_cast<const bf16*>(from)[i]);
  if (type == DataType::f16) return toFloat(reinterpret_cast<const f16*>(from)[i]);
  return reinterpret_cast<const float*>(from)[i];
}
__device__ __forceinline__ void storeAs(std::byte* to, DataType type, std::int64_t i, float value) {
  if (type == DataType::bf16)
    reinterpret_cast<bf16*>(to)[i] = fromFloat<bf16>(value);
  else if (type == DataType::f16)
    reinterpret_cast<f16*>(to)[i] = fromFloat<f16>(value);
  else
    reinterpret_cast<float*>(to)[i] = value;
}

__global__ void convert(ConvertArguments a) {
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    std::int64_t place = i;
    if (a.axes > 0) {
      place = 0;
      std::int64_t rest = i;
      for (int k = a.axes - 1; k >= 0; --k) {
        place += rest % a.extents[k] * a.strides[k];
        rest /= a.extents[k];
      }
    }
    if (a.fromType != a.toType) {
      storeAs(a.to, a.toType, i, loadAs(a.from, a.fromType, place));
      continue;
    }
    // Bit for bit, whatever it means.
    switch (a.fromType) {
      case DataType::f64:
      case DataType::i64:
        reinterpret_cast<std::uint64_t*>(a.to)[i] = reinterpret_cast<const std::uint64_t*>(a.from)[place];
        break;
      case DataType::bf16:
      case DataType::f16:
        reinterpret_cast<std::uint16_t*>(a.to)[i] = reinterpret_cast<const std::uint16_t*>(a.from)[place];
        break;
      case DataType::u8:
        a.to[i] = a.from[place];
        break;
      default:
        reinterpret_cast<std::uint32_t*>(a.to)[i] = reinterpret_cast<const std::uint32_t*>(a.from)[place];
    }
  }
}

__global__ void deliver(DeliverArguments a) {
  const DeliveryWords words = *a.words;
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    a.to[i] = words.accumulate != 0 ? a.to[i] + words.scale * a.from[i] : words.scale * a.from[i];
}

LOOM_KERNELS(convert, LOOM_KERNEL_ONE("convert", convert, ConvertArguments),
             LOOM_KERNEL_ONE("deliver", deliver, DeliverArguments))

}  // namespace loom::cuda
