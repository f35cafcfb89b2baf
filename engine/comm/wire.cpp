#include "engine/comm/wire.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/base/bf16.h"
#include "engine/base/error.h"
#include "engine/comm/communicator.h"

namespace loom {
namespace {

// binary16, for processors that do not convert by themselves.
std::uint16_t toF16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // 65536 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: in units of 2^-24, rounded by the addition of 0.5 ulp's magic number
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  const std::uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u) - 0x38000000u;
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>(rounded >> 13, 0x7C00u));
}
float fromF16(std::uint16_t word) {
  const std::uint32_t sign = static_cast<std::uint32_t>(word & 0x8000u) << 16, exponent = word >> 10 & 31u,
                      fraction = word & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent == 0)
    return std::copysign(static_cast<float>(fraction) * 0x1p-24f, std::bit_cast<float>(sign | 0x3F800000u));
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

#if defined(__x86_64__)
__attribute__((target("avx2,f16c"))) std::size_t toF16Fast(const float* values, std::size_t count, float scale,
                                                           std::uint16_t* words) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(words + i),
        _mm256_cvtps_ph(_mm256_mul_ps(_mm256_loadu_ps(values + i), _mm256_set1_ps(scale)), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
__attribute__((target("avx2,f16c"))) std::size_t fromF16Fast(const std::uint16_t* words, std::size_t count, float scale,
                                                             bool add, float* values) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256 value = _mm256_mul_ps(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i))),
                                 _mm256_set1_ps(scale));
    if (add) value = _mm256_add_ps(value, _mm256_loadu_ps(values + i));
    _mm256_storeu_ps(values + i, value);
  }
  return i;
}
bool hasF16() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return has;
}
#else
std::size_t toF16Fast(const float*, std::size_t, float, std::uint16_t*) {
  return 0;
}
std::size_t fromF16Fast(const std::uint16_t*, std::size_t, float, bool, float*) {
  return 0;
}
bool hasF16() {
  return false;
}
#endif

// The power of two that brings the largest number near 2^14; 1 for zeros and for what is not finite (which the wire
// then shows).
float scaleFor(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
  const int exponent = static_cast<int>(largest >> 23) - 127;
  if (largest == 0 || exponent == 128) return 1;
  return std::ldexp(1.0f, std::clamp(14 - exponent, -126, 126));
}

void put(Wire wire, const std::uint16_t* words, std::span<float> values, bool add) {
  const std::uint16_t* from = words + kWireHeader;
  if (wire == Wire::bf16) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = fromBf16(from[i]) + (add ? values[i] : 0.0f);
    return;
  }
  float scale;
  std::memcpy(&scale, words, sizeof scale);
  scale = 1 / scale;
  std::size_t i = hasF16() ? fromF16Fast(from, values.size(), scale, add, values.data()) : 0;
  for (; i < values.size(); ++i) values[i] = fromF16(from[i]) * scale + (add ? values[i] : 0.0f);
}

}  // namespace

std::string_view toString(Wire wire) {
  return wire == Wire::bf16 ? "bf16" : wire == Wire::f16 ? "f16" : "f32";
}

Wire wireNamed(std::string_view name) {
  for (const Wire wire : {Wire::f32, Wire::bf16, Wire::f16})
    if (toString(wire) == name) return wire;
  throwError(ErrorCode::badProject, "there is no wire format '{}'; f32, bf16 and f16 are known", name);
}

void encode(Wire wire, std::span<const float> values, std::uint16_t* words) {
  const float scale = wire == Wire::f16 ? scaleFor(values) : 1;
  std::memcpy(words, &scale, sizeof scale);
  std::uint16_t* to = words + kWireHeader;
  if (wire == Wire::bf16) {
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = toBf16(values[i]);
    return;
  }
  std::size_t i = hasF16() ? toF16Fast(values.data(), values.size(), scale, to) : 0;
  for (; i < values.size(); ++i) to[i] = toF16(values[i] * scale);
}

void decode(Wire wire, const std::uint16_t* words, std::span<float> values) {
  put(wire, words, values, false);
}
void addDecoded(Wire wire, const std::uint16_t* words, std::span<float> values) {
  put(wire, words, values, true);
}

WireReduction::WireReduction(Communicator& communicator, Wire wire, std::size_t most)
    : m_communicator(communicator), m_wire(wire) {
  if (wire == Wire::f32 || communicator.size() == 1) return;
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const std::size_t part = (most + ranks - 1) / ranks;
  m_sum.resize(part);
  m_send.resize(ranks * (part + kWireHeader));
  m_received.resize(ranks * (part + kWireHeader));
}

void WireReduction::run(std::span<float> data) {
  const auto ranks = static_cast<std::size_t>(m_communicator.size());
  if (ranks == 1 || data.empty()) return;
  if (m_wire == Wire::f32) {
    m_communicator.allReduce(data);
    return;
  }
  const std::size_t part = (data.size() + ranks - 1) / ranks, words = part + kWireHeader;
  if (part > m_sum.size())
    throwError(ErrorCode::internal, "{} numbers are to be summed, but there is room for {}", data.size(),
               m_sum.size() * ranks);
  // Rank r sums [r part, (r + 1) part); the last parts may be short or empty.
  const auto partOf = [&](std::size_t r) {
    const std::size_t first = std::min(r * part, data.size());
    return data.subspan(first, std::min(part, data.size() - first));
  };
  for (std::size_t r = 0; r < ranks; ++r) encode(m_wire, partOf(r), m_send.data() + r * words);
  const auto bytes = [](std::vector<std::uint16_t>& of, std::size_t count) {
    return std::as_writable_bytes(std::span(of).first(count));
  };
  m_communicator.allToAll(bytes(m_send, ranks * words), bytes(m_received, ranks * words));
  const std::span<float> sum = std::span(m_sum).first(partOf(static_cast<std::size_t>(m_communicator.rank())).size());
  std::fill(sum.begin(), sum.end(), 0.0f);
  for (std::size_t r = 0; r < ranks; ++r) addDecoded(m_wire, m_received.data() + r * words, sum);
  encode(m_wire, sum, m_send.data());
  m_communicator.allGather(bytes(m_send, words), bytes(m_received, ranks * words));
  for (std::size_t r = 0; r < ranks; ++r) decode(m_wire, m_received.data() + r * words, partOf(r));
}

void addRounded(Wire wire, std::span<const float> values, std::span<float> sums, std::vector<std::uint16_t>& words) {
  if (wire == Wire::f32) {
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
    return;
  }
  if (words.size() < values.size() + kWireHeader) words.resize(values.size() + kWireHeader);
  encode(wire, values, words.data());
  addDecoded(wire, words.data(), sums);
}

void roundTo(Wire wire, std::span<float> values, std::vector<std::uint16_t>& words) {
  if (wire == Wire::f32) return;
  if (words.size() < values.size() + kWireHeader) words.resize(values.size() + kWireHeader);
  encode(wire, values, words.data());
  decode(wire, words.data(), values);
}

}  // namespace loom
