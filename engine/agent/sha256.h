#pragma once
// SHA-256 (FIPS 180-4), for naming and verifying what travelled: engine bundles and packed data.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace loom {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // Sixty-four hexadecimal digits; add nothing afterwards.
  std::string finish();

 private:
  void block(const unsigned char* data);
  std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> m_open{};
  std::uint64_t m_bytes = 0;
};

bool isSha256(std::string_view text);

}  // namespace loom
