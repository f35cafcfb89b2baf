#include "engine/data/planes.h"

#include <cstring>

namespace loom {
namespace {

#if defined(__x86_64__) && !defined(__clang__)
using Bytes16 = unsigned char __attribute__((vector_size(16)));
using Words4 = unsigned int __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Bytes16 load(const std::byte* from) {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

[[gnu::always_inline]] inline void store(std::byte* to, Bytes16 bytes) {
  std::memcpy(to, &bytes, sizeof bytes);
}

// Sixteen pixels of three bytes: each plane takes bytes of all three registers.
[[gnu::target("avx2"), gnu::always_inline]] inline void sixteenOf3(const std::byte* in, std::byte* out,
                                                                   std::size_t plane) {
  const Bytes16 a = load(in), b = load(in + 16), c = load(in + 32);
  const Bytes16 red = __builtin_shuffle(a, b, Bytes16{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0});
  const Bytes16 green = __builtin_shuffle(a, b, Bytes16{1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0});
  const Bytes16 blue = __builtin_shuffle(a, b, Bytes16{2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0});
  store(out, __builtin_shuffle(red, c, Bytes16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29}));
  store(out + plane, __builtin_shuffle(green, c, Bytes16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30}));
  store(out + 2 * plane, __builtin_shuffle(blue, c, Bytes16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31}));
}

// Four pixels of four bytes: their first bytes side by side, then their second ones ...
[[gnu::target("avx2"), gnu::always_inline]] inline Words4 together(const std::byte* in) {
  return Words4(__builtin_shuffle(load(in), Bytes16{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}));
}

// Sixteen pixels of four bytes: a transposition, first within registers, then of words between them.
template <std::size_t kChannels>
[[gnu::target("avx2"), gnu::always_inline]] inline void sixteenOf4(const std::byte* in, std::byte* out,
                                                                   std::size_t plane) {
  const Words4 a = together(in), b = together(in + 16), c = together(in + 32), d = together(in + 48);
  const Words4 kLow{0, 4, 1, 5}, kHigh{2, 6, 3, 7}, kFirst{0, 1, 4, 5}, kSecond{2, 3, 6, 7};
  const Words4 ab = __builtin_shuffle(a, b, kLow), cd = __builtin_shuffle(c, d, kLow);
  store(out, Bytes16(__builtin_shuffle(ab, cd, kFirst)));
  store(out + plane, Bytes16(__builtin_shuffle(ab, cd, kSecond)));
  const Words4 abHigh = __builtin_shuffle(a, b, kHigh), cdHigh = __builtin_shuffle(c, d, kHigh);
  store(out + 2 * plane, Bytes16(__builtin_shuffle(abHigh, cdHigh, kFirst)));
  if constexpr (kChannels == 4) store(out + 3 * plane, Bytes16(__builtin_shuffle(abHigh, cdHigh, kSecond)));
}

// The last sixteen overlap those before them, so that a row has no remainder. The compiler finds no such shuffles by
// itself.
template <std::size_t kEach, std::size_t kChannels>
[[gnu::target("avx2")]] void partAvx2(const std::byte* packed, std::size_t count, std::byte* out, std::size_t plane) {
  for (std::size_t i = 0; i < count; i += 16) {
    if (i + 16 > count) i = count - 16;
    if constexpr (kEach == 3)
      sixteenOf3(packed + 3 * i, out + i, plane);
    else
      sixteenOf4<kChannels>(packed + 4 * i, out + i, plane);
  }
}
const bool hasAvx2 = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));
#endif

}  // namespace

void partPlanes(const std::byte* packed, std::size_t count, std::size_t each, std::size_t channels, std::byte* out,
                std::size_t plane) {
  if (each == 1) {
    std::memcpy(out, packed, count);
    return;
  }
#if defined(__x86_64__) && !defined(__clang__)
  if (hasAvx2 && count >= 16 && each > 2) {
    if (each == 3 && channels == 3) return partAvx2<3, 3>(packed, count, out, plane);
    if (each == 4 && channels == 3) return partAvx2<4, 3>(packed, count, out, plane);
    if (each == 4 && channels == 4) return partAvx2<4, 4>(packed, count, out, plane);
  }
#endif
  for (std::size_t c = 0; c < channels; ++c) {
    std::byte* const to = out + c * plane;
    for (std::size_t i = 0; i < count; ++i) to[i] = packed[i * each + c];
  }
}

}  // namespace loom
