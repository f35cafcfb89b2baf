#pragma once
// XXH64 (Yann Collet, xxHash specification 0.1.1): 64 bits over a stream of bytes, several GB/s. No secret, no
// signature: it tells contents apart that differ by accident.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace loom {

class Hash64 {
 public:
  explicit Hash64(std::uint64_t seed = 0)
      : m_seed(seed), m_lanes{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1} {}

  void add(const void* data, std::size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    m_total += bytes;
    if (m_held > 0) {
      const std::size_t taken = bytes < sizeof m_buffer - m_held ? bytes : sizeof m_buffer - m_held;
      std::memcpy(m_buffer + m_held, p, taken);
      m_held += taken;
      p += taken;
      bytes -= taken;
      if (m_held < sizeof m_buffer) return;
      stripe(m_buffer);
      m_held = 0;
    }
    for (; bytes >= sizeof m_buffer; p += sizeof m_buffer, bytes -= sizeof m_buffer) stripe(p);
    if (bytes > 0) std::memcpy(m_buffer, p, m_held = bytes);
  }

  std::uint64_t value() const {
    std::uint64_t hash = m_total < sizeof m_buffer ? m_seed + kPrime5
                                                   : std::rotl(m_lanes[0], 1) + std::rotl(m_lanes[1], 7) +
                                                         std::rotl(m_lanes[2], 12) + std::rotl(m_lanes[3], 18);
    if (m_total >= sizeof m_buffer) {
      for (const std::uint64_t lane : m_lanes) hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
    }
    hash += m_total;
    const unsigned char* p = m_buffer;
    std::size_t left = m_held;
    for (; left >= 8; p += 8, left -= 8)
      hash = std::rotl(hash ^ round(0, word<std::uint64_t>(p)), 27) * kPrime1 + kPrime4;
    for (; left >= 4; p += 4, left -= 4)
      hash = std::rotl(hash ^ word<std::uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
    for (; left > 0; ++p, --left) hash = std::rotl(hash ^ *p * kPrime5, 11) * kPrime1;
    hash = (hash ^ hash >> 33) * kPrime2;
    hash = (hash ^ hash >> 29) * kPrime3;
    return hash ^ hash >> 32;
  }

  static std::uint64_t of(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
    Hash64 hash(seed);
    hash.add(bytes.data(), bytes.size());
    return hash.value();
  }

 private:
  static constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                                 kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                                 kPrime5 = 0x27D4EB2F165667C5;
  template <class T>
  static std::uint64_t word(const unsigned char* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
  static std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
    return std::rotl(lane + input * kPrime2, 31) * kPrime1;
  }
  void stripe(const unsigned char* p) {
    for (int i = 0; i < 4; ++i) m_lanes[i] = round(m_lanes[i], word<std::uint64_t>(p + 8 * i));
  }

  std::uint64_t m_seed, m_total = 0;
  std::uint64_t m_lanes[4];
  unsigned char m_buffer[32] = {};
  std::size_t m_held = 0;
};

}  // namespace loom
