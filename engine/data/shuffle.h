#pragma once
// The order of an epoch as a function that answers any place of it at once: no table, so a billion rows cost no memory
// and a resumed epoch no time.
//
// A place x < n is written as (l, r) with l = x mod a, r = x div a, a = ceil(sqrt n), b = ceil(n / a); eight rounds add
// a keyed random number of one half to the other, l += F(r) mod a, then r += F(l) mod b (a Feistel network over Z_a x
// Z_b: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). Results at or beyond n (fewer than 2
// sqrt n of them) walk on.
#include <cmath>
#include <cstdint>

#include "engine/base/philox.h"

namespace loom {

class EpochOrder {
 public:
  EpochOrder(std::int64_t count, bool shuffle, std::uint64_t seed, std::int64_t epoch)
      : m_count(static_cast<std::uint64_t>(count)), m_shuffle(shuffle) {
    m_a = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
    while (m_a * m_a < m_count) ++m_a;
    if (m_a == 0) m_a = 1;
    m_b = (m_count + m_a - 1) / m_a;
    const Philox random(seed, "shuffle");
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const auto words = random(static_cast<std::uint64_t>(epoch), round);
      m_keys[round] = static_cast<std::uint64_t>(words[0]) << 32 | words[1];
    }
  }

  // The row at `place`, 0 <= place < count.
  std::int64_t operator[](std::int64_t place) const {
    if (!m_shuffle) return place;
    std::uint64_t x = static_cast<std::uint64_t>(place);
    do x = permute(x);
    while (x >= m_count);
    return static_cast<std::int64_t>(x);
  }

 private:
  static constexpr std::uint64_t kRounds = 8;

  // The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), scaled to [0, bound).
  static std::uint64_t draw(std::uint64_t key, std::uint64_t value, std::uint64_t bound) {
    std::uint64_t z = key + value * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(z) * bound) >> 64);
  }

  std::uint64_t permute(std::uint64_t x) const {
    std::uint64_t l = x % m_a, r = x / m_a;
    for (std::uint64_t round = 0; round < kRounds; round += 2) {
      l += draw(m_keys[round], r, m_a);
      if (l >= m_a) l -= m_a;
      r += draw(m_keys[round + 1], l, m_b);
      if (r >= m_b) r -= m_b;
    }
    return r * m_a + l;
  }

  std::uint64_t m_count, m_a = 1, m_b = 1;
  std::uint64_t m_keys[kRounds];
  bool m_shuffle;
};

}  // namespace loom
