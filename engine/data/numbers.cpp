#include "engine/data/numbers.h"

#include <charconv>
#include <cmath>

namespace loom {
namespace {

bool equalsIgnoringCase(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// from_chars leaves `value` alone when the number is out of range; which side it left decides: below the smallest
// subnormal is a zero as strtof gives it, above the largest is no float.
bool isTiny(std::string_view number) {
  double wide = 0;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), wide);
  if (fault == std::errc{}) return std::fabs(wide) < 1;
  const auto exponent = number.find_first_of("eE");
  if (exponent != std::string_view::npos) return number[exponent + 1] == '-';
  return number.find_first_not_of("-0.") > number.find('.');
}

}  // namespace

NumberKind parseNumber(std::string_view cell, float& value) {
  while (!cell.empty() && isBlank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && isBlank(cell.back())) cell.remove_suffix(1);
  if (cell.empty()) return NumberKind::empty;
  std::string_view number = cell;
  if (number.front() == '+') {
    number.remove_prefix(1);
    if (number.empty() || number.front() == '-' || number.front() == '+') return NumberKind::text;
  }
  std::string_view name = number;
  if (name.front() == '-') name.remove_prefix(1);
  if (name.empty()) return NumberKind::text;
  // Only the words themselves: from_chars would take "nan(1)" too.
  if ((name.front() | 0x20) == 'n' || (name.front() | 0x20) == 'i') {
    const bool known =
        equalsIgnoringCase(name, "nan") || equalsIgnoringCase(name, "inf") || equalsIgnoringCase(name, "infinity");
    return known ? NumberKind::notFinite : NumberKind::text;
  }
  float parsed = 0;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), parsed);
  if (fault == std::errc::invalid_argument || end != number.data() + number.size()) return NumberKind::text;
  if (fault == std::errc::result_out_of_range) {
    if (!isTiny(number)) return NumberKind::outOfRange;
    parsed = number.front() == '-' ? -0.0f : 0.0f;
  }
  value = parsed;
  return NumberKind::number;
}

}  // namespace loom
