#pragma once
// Dates of cells: 2026-03-02, 02.03.2026, 3/2/26, each with a time behind it or none. No time zones: what the file says
// is what is meant.
#include <cstdint>
#include <string_view>

namespace loom {

enum class DateOrder { yearFirst, dayFirst, monthFirst };

struct Date {
  int year = 0, month = 0, day = 0;  // from 1
  int hour = 0, minute = 0;
  double second = 0;
  bool hasTime = false;
  std::int64_t days() const;  // since 1970-01-01
  int dayOfYear() const;      // from 1
  int weekday() const;        // 0 = Monday
  double seconds() const { return static_cast<double>(days()) * 86400 + hour * 3600 + minute * 60 + second; }
};

// False for what is no date in this order.
bool parseDate(std::string_view cell, DateOrder order, Date& date);

}  // namespace loom
