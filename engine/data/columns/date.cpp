#include "engine/data/columns/date.h"

#include <array>

namespace loom {
namespace {

bool leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int daysIn(int month, int year) {
  constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && leap(year) ? 29 : days[static_cast<std::size_t>(month - 1)];
}

// Digits at `p`: their value and number.
int digits(const char*& p, const char* end, int& value) {
  int count = 0;
  value = 0;
  for (; p < end && *p >= '0' && *p <= '9' && count < 9; ++p, ++count) value = value * 10 + (*p - '0');
  return count;
}

bool parseTime(const char*& p, const char* end, Date& date) {
  int value = 0;
  const int hours = digits(p, end, value);
  if (hours < 1 || hours > 2 || value > 23 || p == end || *p != ':') return false;
  date.hour = value;
  if (digits(++p, end, value) != 2 || value > 59) return false;
  date.minute = value;
  if (p < end && *p == ':') {
    if (digits(++p, end, value) != 2 || value > 60) return false;
    date.second = value;
    if (p < end && (*p == '.' || *p == ',')) {
      double unit = 0.1;
      for (++p; p < end && *p >= '0' && *p <= '9'; ++p, unit /= 10) date.second += (*p - '0') * unit;
    }
  }
  if (end - p >= 3 && *p == ' ' && (p[2] | 0x20) == 'm' && ((p[1] | 0x20) == 'a' || (p[1] | 0x20) == 'p')) {
    if (date.hour > 12) return false;
    date.hour = date.hour % 12 + ((p[1] | 0x20) == 'p' ? 12 : 0);
    p += 3;
  }
  date.hasTime = true;
  if (p < end && *p == 'Z') {
    ++p;
  } else if (p < end && (*p == '+' || *p == '-')) {  // the zone: the time is that of the place
    ++p;
    if (digits(p, end, value) < 2) return false;
    if (p < end && *p == ':' && digits(++p, end, value) != 2) return false;
  }
  return true;
}

}  // namespace

std::int64_t Date::days() const {
  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": days_from_civil.
  const std::int64_t y = year - (month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t ofEra = y - era * 400;
  const std::int64_t ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719468;
}

int Date::dayOfYear() const {
  return static_cast<int>(days() - Date{.year = year, .month = 1, .day = 1}.days()) + 1;
}

int Date::weekday() const {
  return static_cast<int>(((days() + 3) % 7 + 7) % 7);  // 1970-01-01 was a Thursday
}

bool parseDate(std::string_view cell, DateOrder order, Date& date) {
  const char* p = cell.data();
  const char* end = p + cell.size();
  while (p < end && (*p == ' ' || *p == '\t')) ++p;
  while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) --end;
  date = {};
  std::array<int, 3> numbers{}, widths{};
  char mark = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    widths[i] = digits(p, end, numbers[i]);
    if (widths[i] == 0 || widths[i] > 4 || widths[i] == 3) return false;
    if (i == 2) break;
    if (p == end || (*p != '-' && *p != '.' && *p != '/') || (mark != 0 && *p != mark)) return false;
    mark = *p++;
  }
  const std::size_t year = order == DateOrder::yearFirst ? 0 : 2;
  for (std::size_t i = 0; i < 3; ++i)
    if (i == year ? widths[i] == 1 || (widths[i] == 2 && year == 0) : widths[i] == 4) return false;
  date.year = widths[year] == 4 ? numbers[year] : numbers[year] + (numbers[year] < 69 ? 2000 : 1900);
  date.month = order == DateOrder::dayFirst || order == DateOrder::yearFirst ? numbers[1] : numbers[0];
  date.day = order == DateOrder::yearFirst ? numbers[2] : order == DateOrder::dayFirst ? numbers[0] : numbers[1];
  // With points between them the day stands first, everywhere where they are written so.
  if (mark == '.' && order == DateOrder::monthFirst) return false;
  if (date.month < 1 || date.month > 12 || date.year < 1 || date.day < 1 || date.day > daysIn(date.month, date.year))
    return false;
  if (p == end) return true;
  if (*p != ' ' && *p != 'T') return false;
  return parseTime(++p, end, date) && p == end;
}

}  // namespace loom
