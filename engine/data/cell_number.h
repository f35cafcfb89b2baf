#pragma once
// Numbers of cells as a CSV's format writes them, in double precision: 1234.5, 1.234,5, 1 234,5 or 1'234.5.
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/data/csv_format.h"
#include "engine/data/numbers.h"

namespace loom {

// A whole cell, blanks around it allowed. `empty` for what tables write where they have no number: nothing, NA, N/A,
// NaN, null, none, ?, -.
NumberKind cellNumber(std::string_view cell, const CsvFormat& format, double& value);
// The same of a cell in a column of the file: of percents the number before the sign, and a number without it is a
// word.
NumberKind cellNumber(std::string_view cell, const CsvFormat& format, std::size_t column, double& value);
// Takes the sign, and blanks before it, off a cell that ends in it; false where it does not.
bool takePercent(std::string_view& cell);
// The number with a decimal point and nothing else; false for what is no number of the format, `out` is then undefined.
bool plainNumber(std::string_view cell, const CsvFormat& format, std::string& out);
// The shortest text that reads as the same float32; empty for what is missing.
void appendFloat(std::string& out, double value);

// The fast way for the common cell with a decimal point, as parseNumberFast(): reads from `text`, which must end in a
// byte that no number contains, and answers the first byte behind the number; null where cellNumber() has to look.
inline const char* doubleFast(const char* text, double& value) {
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
    exponent = static_cast<int>(p - fraction < 100 ? p - fraction : 100);
    count += p - fraction;
  }
  // Both are exact in a double, so that the one division rounds correctly.
  if (count == 0 || count > 19 || mantissa > (std::uint64_t{1} << 53) || exponent > 22 || (*p | 0x20) == 'e')
    return nullptr;
  const double whole = static_cast<double>(mantissa) / detail::kPowers[exponent];
  value = negative ? -whole : whole;
  return p;
}

}  // namespace loom
