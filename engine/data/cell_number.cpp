#include "engine/data/cell_number.h"

#include <charconv>
#include <cmath>

namespace loom {
namespace {

std::string_view trimmed(std::string_view cell) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!cell.empty() && blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && blank(cell.back())) cell.remove_suffix(1);
  return cell;
}

bool standsForNothing(std::string_view cell) {
  if (cell.size() > 4) return false;
  std::string small(cell);
  for (char& c : small) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  return small.empty() || small == "na" || small == "n/a" || small == "nan" || small == "null" || small == "none" ||
         small == "?" || small == "-";
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// A blank between thousands: the plain one, the one that does not break (U+00A0) or the narrow one (U+202F).
std::size_t blankAt(std::string_view text, std::size_t at) {
  if (text[at] == ' ') return 1;
  if (text.substr(at, 2) == "\xc2\xa0") return 2;
  return text.substr(at, 3) == "\xe2\x80\xaf" ? 3 : 0;
}

}  // namespace

bool plainNumber(std::string_view cell, const CsvFormat& format, std::string& out) {
  cell = trimmed(cell);
  out.clear();
  std::size_t at = 0;
  if (at < cell.size() && (cell[at] == '-' || cell[at] == '+')) {
    if (cell[at] == '-') out += '-';
    ++at;
  } else if (cell.substr(0, 3) == "\xe2\x88\x92") {  // the minus sign of mathematics
    out += '-';
    at = 3;
  }
  std::size_t group = 0, groups = 0;  // digits since the last mark of thousands
  while (at < cell.size()) {
    if (isDigit(cell[at])) {
      out += cell[at++];
      ++group;
      continue;
    }
    const std::size_t wide = format.thousands == 0     ? 0
                             : format.thousands == ' ' ? blankAt(cell, at)
                                                       : std::size_t{cell[at] == format.thousands};
    if (wide == 0) break;
    if (group == 0 || group > 3 || (groups > 0 && group != 3)) return false;
    at += wide;
    group = 0;
    ++groups;
  }
  if (groups > 0 && group != 3) return false;
  std::size_t digits = group + groups;
  if (at < cell.size() && cell[at] == format.decimal) {
    out += '.';
    for (++at; at < cell.size() && isDigit(cell[at]); ++digits) out += cell[at++];
  }
  if (digits == 0) return false;
  if (at < cell.size() && (cell[at] | 0x20) == 'e') {
    out += 'e';
    ++at;
    if (at < cell.size() && (cell[at] == '-' || cell[at] == '+')) {
      if (cell[at] == '-') out += '-';
      ++at;
    }
    if (at == cell.size()) return false;
    while (at < cell.size() && isDigit(cell[at])) out += cell[at++];
  }
  return at == cell.size();
}

NumberKind cellNumber(std::string_view cell, const CsvFormat& format, double& value) {
  cell = trimmed(cell);
  if (standsForNothing(cell)) return NumberKind::empty;
  std::string plain;
  if (!plainNumber(cell, format, plain)) {
    std::string_view name = cell;
    if (name.front() == '-' || name.front() == '+') name.remove_prefix(1);
    float small;
    return parseNumber(name, small) == NumberKind::notFinite ? NumberKind::notFinite : NumberKind::text;
  }
  const auto [end, fault] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (fault == std::errc::result_out_of_range) {
    float small;
    if (parseNumber(plain, small) == NumberKind::outOfRange) return NumberKind::outOfRange;
    value = 0;
  }
  return std::fabs(value) > 3.4028234e38 ? NumberKind::outOfRange : NumberKind::number;
}

NumberKind cellNumber(std::string_view cell, const CsvFormat& format, std::size_t column, double& value) {
  const bool percents = format.isPercent(column), sign = percents && takePercent(cell);
  const NumberKind kind = cellNumber(cell, format, value);
  // A sign alone is no hole, and a number without it may mean a share as well as a percent.
  if (sign && kind == NumberKind::empty) return NumberKind::text;
  return percents && !sign && kind == NumberKind::number ? NumberKind::text : kind;
}

bool takePercent(std::string_view& cell) {
  std::string_view text = trimmed(cell);
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  for (bool more = true; more;) {
    text = trimmed(text);
    more = false;
    for (const std::string_view blank : {"\xc2\xa0", "\xe2\x80\xaf"})
      if (text.ends_with(blank)) {
        text.remove_suffix(blank.size());
        more = true;
      }
  }
  cell = text;
  return true;
}

void appendFloat(std::string& out, double value) {
  if (std::isnan(value)) return;
  char text[32];
  const auto [end, fault] = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  out.append(text, end);
}

}  // namespace loom
