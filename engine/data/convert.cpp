#include "engine/data/convert.h"

#include <cstring>

namespace loom {
namespace {

// Compiled twice from one text. Stored floats stand at any multiple of four bytes of a mapped file.
template <class T>
[[gnu::always_inline]] inline void convert(const std::byte* in, float* out, std::int64_t count, float scale,
                                           float shift) {
  const auto* from = reinterpret_cast<const T*>(in);
  if (scale == 1 && shift == 0) {
    if constexpr (sizeof(T) == sizeof(float))
      std::memcpy(out, from, static_cast<std::size_t>(count) * sizeof(float));
    else
      for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(from[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(from[i]) * scale + shift;
}

template <class T>
[[gnu::always_inline]] inline void convertEach(const std::byte* in, float* out, std::int64_t count, const float* scale,
                                               const float* shift) {
  const auto* from = reinterpret_cast<const T*>(in);
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(from[i]) * scale[i] + shift[i];
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void bytesAvx2(const std::byte* in, float* out, std::int64_t count, float scale, float shift) {
  convert<std::uint8_t>(in, out, count, scale, shift);
}
[[gnu::target("avx2")]] void floatsAvx2(const std::byte* in, float* out, std::int64_t count, float scale, float shift) {
  convert<float>(in, out, count, scale, shift);
}
const bool hasAvx2 = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));
#endif

}  // namespace

void convertBytes(const std::byte* in, float* out, std::int64_t count, float scale, float shift) {
#if defined(__x86_64__)
  if (hasAvx2) return bytesAvx2(in, out, count, scale, shift);
#endif
  convert<std::uint8_t>(in, out, count, scale, shift);
}

void convertFloats(const std::byte* in, float* out, std::int64_t count, float scale, float shift) {
#if defined(__x86_64__)
  if (hasAvx2) return floatsAvx2(in, out, count, scale, shift);
#endif
  convert<float>(in, out, count, scale, shift);
}

void convertBytesEach(const std::byte* in, float* out, std::int64_t count, const float* scale, const float* shift) {
  convertEach<std::uint8_t>(in, out, count, scale, shift);
}

void convertFloatsEach(const std::byte* in, float* out, std::int64_t count, const float* scale, const float* shift) {
  convertEach<float>(in, out, count, scale, shift);
}

}  // namespace loom
