#include "launcher/store/number_set.h"

#include <QStringList>
#include <algorithm>

namespace loom {

bool NumberSet::contains(std::int64_t number) const {
  const auto at = std::lower_bound(m_intervals.begin(), m_intervals.end(), number,
                                   [](const Interval& each, std::int64_t value) { return each.last < value; });
  return at != m_intervals.end() && at->first <= number;
}

bool NumberSet::insert(std::int64_t number) {
  if (!m_intervals.empty() && m_intervals.back().last + 1 == number) {
    m_intervals.back().last = number;
    return true;
  }
  if (contains(number)) return false;
  insert(Interval{number, number});
  return true;
}

void NumberSet::insert(Interval range) {
  // All intervals that touch the range melt into it.
  const auto begin = std::lower_bound(m_intervals.begin(), m_intervals.end(), range.first,
                                      [](const Interval& each, std::int64_t value) { return each.last + 1 < value; });
  auto end = begin;
  while (end != m_intervals.end() && end->first <= range.last + 1) {
    range.first = std::min(range.first, end->first);
    range.last = std::max(range.last, end->last);
    ++end;
  }
  m_intervals.insert(m_intervals.erase(begin, end), range);
}

std::vector<NumberSet::Interval> NumberSet::missingFrom(Interval range) const {
  std::vector<Interval> missing;
  std::int64_t next = range.first;
  for (const Interval& each : m_intervals) {
    if (each.last < next) continue;
    if (each.first > range.last) break;
    if (each.first > next) missing.push_back({next, each.first - 1});
    next = each.last + 1;
  }
  if (next <= range.last) missing.push_back({next, range.last});
  return missing;
}

QString NumberSet::toText() const {
  QStringList parts;
  for (const Interval& each : m_intervals) parts << QStringLiteral("%1-%2").arg(each.first).arg(each.last);
  return parts.join(',');
}

NumberSet NumberSet::fromText(const QString& text) {
  NumberSet set;
  for (const QString& part : text.split(',', Qt::SkipEmptyParts)) {
    const qsizetype dash = part.indexOf('-', 1);
    bool firstOk = false, lastOk = false;
    const Interval range{part.left(dash).toLongLong(&firstOk), part.mid(dash + 1).toLongLong(&lastOk)};
    if (firstOk && lastOk && range.first <= range.last) set.insert(range);
  }
  return set;
}

}  // namespace loom
