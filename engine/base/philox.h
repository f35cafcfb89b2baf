#pragma once
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): random numbers as a pure function
// of (seed, name, counter), so that weights, dropout and shuffling never depend on rank, thread or order.
#include <array>
#include <cstdint>
#include <string_view>

namespace loom {

// FNV-1a, 64 bits: turns a name ("conv1/weight") into half of a key. Stable over versions.
constexpr std::uint64_t hashName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;

  Philox(std::uint64_t seed, std::uint64_t stream) : m_seed(seed), m_stream(stream) {}
  Philox(std::uint64_t seed, std::string_view name) : Philox(seed, hashName(name)) {}

  // Four independent words for counter (low, high); key = seed, mixed with the stream.
  Block operator()(std::uint64_t low, std::uint64_t high = 0) const {
    std::uint64_t key = m_seed ^ (m_stream * 0x9E3779B97F4A7C15ull);
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    // In variables of their own: builds that inline nothing would call std::array's operator for each.
    std::uint32_t c0 = static_cast<std::uint32_t>(low), c1 = static_cast<std::uint32_t>(low >> 32),
                  c2 = static_cast<std::uint32_t>(high), c3 = static_cast<std::uint32_t>(high >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
      c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(p1);
      c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return {c0, c1, c2, c3};
  }

  // Uniform in [0, 1): the upper 24 bits of a word, exact in float.
  static float toUniform(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
  // Standard normal number `index` of this stream (Box-Muller over words 0, 1 of block index).
  double normal(std::uint64_t index) const;
  double uniform(std::uint64_t index) const { return toUniform((*this)(index)[0]); }
  // Unbiased integer in [0, bound), a function of index alone.
  std::uint64_t below(std::uint64_t bound, std::uint64_t index) const;

 private:
  std::uint64_t m_seed, m_stream;
};

}  // namespace loom
