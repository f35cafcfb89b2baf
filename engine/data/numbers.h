#pragma once
// Decimal numbers of a CSV as float32, correctly rounded: what strtof answers, several times faster.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace loom {

enum class NumberKind { number, notFinite, outOfRange, text, empty };

// A whole cell: [+-] digits [. digits] [e [+-] digits], blanks around it allowed as Python's float() allows them;
// "nan", "inf", "infinity" in any case are notFinite, 1e39 outOfRange (beyond float32). Locale plays no part.
NumberKind parseNumber(std::string_view cell, float& value);

namespace detail {

// 10^0 ... 10^22: the powers of ten that a double holds exactly.
inline constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

}  // namespace detail

// The fast way for the common cell. Reads from `text`, which must end in a byte that no number contains ('\n', say),
// and answers the first byte behind the number, or null when the cell needs parseNumber(): no digits, more than 19 of
// them, a far exponent, or a value so near the middle between two floats that double precision cannot tell which is
// nearer.
inline const char* parseNumberFast(const char* text, float& value) {
  const char* p = text;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  std::uint64_t mantissa = 0;
  const char* const digits = p;
  while (static_cast<unsigned char>(*p - '0') < 10) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
  std::ptrdiff_t count = p - digits;
  int exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    while (static_cast<unsigned char>(*p - '0') < 10) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    exponent = static_cast<int>(fraction - p);
    count += p - fraction;
    if (p - fraction > 1000) return nullptr;
  }
  if (count == 0 || count > 19) return nullptr;
  if ((*p | 0x20) == 'e') {
    const char* q = p + 1;
    const bool down = *q == '-';
    q += down || *q == '+';
    if (static_cast<unsigned char>(*q - '0') >= 10) return nullptr;
    int power = 0;
    while (static_cast<unsigned char>(*q - '0') < 10) {
      power = power * 10 + (*q++ - '0');
      if (power > 1000) return nullptr;
    }
    exponent += down ? -power : power;
    p = q;
  }
  if (mantissa == 0) {
    value = negative ? -0.0f : 0.0f;
    return p;
  }
  if (exponent < -22 || exponent > 22) return nullptr;
  // At most 1.5 units in the last place of a double away from the decimal: two roundings.
  const double whole = static_cast<double>(mantissa);
  const double near = exponent < 0 ? whole / detail::kPowers[-exponent] : whole * detail::kPowers[exponent];
  if (!(near >= 1.2e-38 && near <= 3.4e38)) return nullptr;  // no subnormals here, no overflow
  std::uint64_t bits;
  std::memcpy(&bits, &near, sizeof bits);
  constexpr std::uint64_t kLost = (std::uint64_t{1} << 29) - 1;  // bits that a float has no room for
  constexpr std::uint64_t kMiddle = std::uint64_t{1} << 28;
  if ((bits & kLost) - (kMiddle - 4) <= 8) {
    // An exact middle is fine when nothing was rounded on the way to it; floats then round to even as they must.
    if (!(mantissa < (std::uint64_t{1} << 53) && exponent == 0)) return nullptr;
  }
  value = static_cast<float>(negative ? -near : near);
  return p;
}

}  // namespace loom
