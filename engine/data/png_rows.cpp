#include "engine/data/png_rows.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loom {
namespace {

using Byte = unsigned char;

void undoUp(const Byte* filtered, const Byte* above, Byte* row, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) row[i] = static_cast<Byte>(filtered[i] + above[i]);
}

// The neighbour that lies nearest to left + above - corner; of equal ones left, then above. Their distances are the
// sizes of above - corner, of left - corner, and of both together.
Byte nearest(int left, int above, int corner) {
  const int fromLeft = std::abs(above - corner), fromAbove = std::abs(left - corner),
            fromCorner = std::abs(left + above - 2 * corner);
  if (fromLeft <= fromAbove && fromLeft <= fromCorner) return static_cast<Byte>(left);
  return static_cast<Byte>(fromAbove <= fromCorner ? above : corner);
}

#if defined(__x86_64__)
// A pixel's bytes as the low halves of 16 bits each, so that differences keep their sign; only the first ones count.
[[gnu::target("avx2"), gnu::always_inline]] inline __m128i load(const Byte* from) {
  int bytes = 0;
  std::memcpy(&bytes, from, 4);
  return _mm_cvtepu8_epi16(_mm_cvtsi32_si128(bytes));
}

// Four bytes, whatever a pixel has: those too many are overwritten by the next pixel.
[[gnu::target("avx2"), gnu::always_inline]] inline void store(Byte* to, __m128i pixel) {
  const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(pixel, pixel));
  std::memcpy(to, &bytes, 4);
}

// A pixel waits for the one on its left, so what counts is the way from `left` to `left`: the sums are formed before it
// is known which of them is wanted. They are of bytes, whose carry is lost as PNG asks for.
template <std::size_t kEach>
[[gnu::target("avx2")]] void undoPaeth(const Byte* filtered, const Byte* above, Byte* row, std::size_t bytes) {
  __m128i left = _mm_setzero_si128(), corner = left;
  for (std::size_t i = 0; i < bytes; i += kEach) {
    const __m128i up = load(above + i), added = load(filtered + i);
    const __m128i toLeft = _mm_sub_epi16(up, corner), toUp = _mm_sub_epi16(left, corner);
    const __m128i fromLeft = _mm_abs_epi16(toLeft), fromUp = _mm_abs_epi16(toUp),
                  fromCorner = _mm_abs_epi16(_mm_add_epi16(toLeft, toUp));
    const __m128i notUp = _mm_cmpgt_epi16(fromUp, fromCorner),
                  notLeft = _mm_cmpgt_epi16(fromLeft, _mm_min_epi16(fromUp, fromCorner));
    const __m128i other = _mm_blendv_epi8(_mm_add_epi8(up, added), _mm_add_epi8(corner, added), notUp);
    left = _mm_blendv_epi8(_mm_add_epi8(left, added), other, notLeft);
    corner = up;
    store(row + i, left);
  }
}

template <std::size_t kEach>
[[gnu::target("avx2")]] void undoAverage(const Byte* filtered, const Byte* above, Byte* row, std::size_t bytes) {
  __m128i left = _mm_setzero_si128();
  for (std::size_t i = 0; i < bytes; i += kEach) {
    const __m128i middle = _mm_srli_epi16(_mm_add_epi16(left, load(above + i)), 1);
    left = _mm_add_epi8(load(filtered + i), middle);
    store(row + i, left);
  }
}

template <std::size_t kEach>
[[gnu::target("avx2")]] void undoSub(const Byte* filtered, Byte* row, std::size_t bytes) {
  __m128i left = _mm_setzero_si128();
  for (std::size_t i = 0; i < bytes; i += kEach) {
    left = _mm_add_epi8(load(filtered + i), left);
    store(row + i, left);
  }
}

template <std::size_t kEach>
void undoPixels(int filter, const Byte* filtered, const Byte* above, Byte* row, std::size_t bytes) {
  if (filter == 1) return undoSub<kEach>(filtered, row, bytes);
  if (filter == 3) return undoAverage<kEach>(filtered, above, row, bytes);
  undoPaeth<kEach>(filtered, above, row, bytes);
}

const bool hasAvx2 = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));
#endif

}  // namespace

void undoPngFilterByBytes(int filter, std::size_t each, const std::byte* filtered, const std::byte* above,
                          std::byte* row, std::size_t bytes) {
  const auto* const in = reinterpret_cast<const Byte*>(filtered);
  const auto* const up = reinterpret_cast<const Byte*>(above);
  auto* const out = reinterpret_cast<Byte*>(row);
  for (std::size_t i = 0; i < bytes; ++i) {
    const int left = i < each ? 0 : out[i - each], corner = i < each ? 0 : up[i - each];
    const int guess = filter == 1 ? left : filter == 3 ? (left + up[i]) / 2 : nearest(left, up[i], corner);
    out[i] = static_cast<Byte>(in[i] + guess);
  }
}

bool undoPngFilter(int filter, std::size_t each, const std::byte* filtered, const std::byte* above, std::byte* row,
                   std::size_t bytes) {
  const auto* const in = reinterpret_cast<const Byte*>(filtered);
  const auto* const up = reinterpret_cast<const Byte*>(above);
  auto* const out = reinterpret_cast<Byte*>(row);
  if (filter == 0) std::memcpy(row, filtered, bytes);
  if (filter == 2) undoUp(in, up, out, bytes);
  if (filter == 0 || filter == 2) return true;
  if (filter < 0 || filter > 4) return false;
#if defined(__x86_64__)
  if (hasAvx2) {
    switch (each) {
      case 1:
        undoPixels<1>(filter, in, up, out, bytes);
        break;
      case 2:
        undoPixels<2>(filter, in, up, out, bytes);
        break;
      case 3:
        undoPixels<3>(filter, in, up, out, bytes);
        break;
      default:
        undoPixels<4>(filter, in, up, out, bytes);
        break;
    }
    return true;
  }
#endif
  undoPngFilterByBytes(filter, each, filtered, above, row, bytes);
  return true;
}

}  // namespace loom
