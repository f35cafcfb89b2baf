#pragma once
// A set of whole numbers as intervals: which events of an attempt were taken, which steps it has. Grows at its end in
// O(1).
#include <QString>
#include <cstdint>
#include <vector>

namespace loom {

class NumberSet {
 public:
  struct Interval {
    std::int64_t first, last;  // both inside
    bool operator==(const Interval&) const = default;
  };
  bool insert(std::int64_t number);  // false: was there already
  bool contains(std::int64_t number) const;
  bool empty() const { return m_intervals.empty(); }
  const std::vector<Interval>& intervals() const { return m_intervals; }
  // What `range` has that is not in here.
  std::vector<Interval> missingFrom(Interval range) const;
  void insert(Interval range);

  QString toText() const;  // "1-812,900-900"
  static NumberSet fromText(const QString& text);

 private:
  std::vector<Interval> m_intervals;  // in order, never touching
};

}  // namespace loom
