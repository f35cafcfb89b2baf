#pragma once
// Different values and words with how often each was met, in the order in which they were met first, as long as they
// are few. Nothing is allocated for a cell that was met before.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"

namespace loom {

// A table of places in lists that the owner keeps; grows by doubling.
template <class Owner>
class DistinctTable {
 public:
  // The place of what `owner.same(place, key)` says is the same, or a new one, which the owner has to add.
  template <class Key>
  std::size_t place(std::uint64_t hash, const Key& key, const Owner& owner, std::size_t count, bool& isNew) {
    if (2 * (count + 1) > m_slots.size()) grow(owner, count);
    for (std::size_t at = hash & (m_slots.size() - 1);; at = (at + 1) & (m_slots.size() - 1)) {
      if (m_slots[at] == 0) {
        m_slots[at] = static_cast<std::uint32_t>(count + 1);
        isNew = true;
        return count;
      }
      if (owner.same(m_slots[at] - 1, key)) {
        isNew = false;
        return m_slots[at] - 1;
      }
    }
  }
  void clear() { m_slots.clear(); }

 private:
  void grow(const Owner& owner, std::size_t count) {
    m_slots.assign(m_slots.empty() ? 64 : 2 * m_slots.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t at = owner.hashOf(i) & (m_slots.size() - 1);
      while (m_slots[at] != 0) at = (at + 1) & (m_slots.size() - 1);
      m_slots[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  std::vector<std::uint32_t> m_slots;  // place + 1
};

class DistinctNumbers {
 public:
  explicit DistinctNumbers(std::size_t most) : m_most(most) {}
  bool full() const { return m_full; }
  void add(double value, std::int64_t times = 1) {
    if (m_full) return;
    if (value == 0) value = 0;  // -0 is no other number
    bool isNew = false;
    const std::size_t at = m_table.place(hash(value), value, *this, m_values.size(), isNew);
    if (isNew) {
      m_values.push_back(value);
      m_counts.push_back(0);
      m_full = m_values.size() > m_most;
    }
    m_counts[at] += times;
  }
  void merge(const DistinctNumbers& other) {
    for (std::size_t i = 0; i < other.m_values.size(); ++i) add(other.m_values[i], other.m_counts[i]);
  }
  void clear() {
    m_table.clear();
    m_values.clear();
    m_counts.clear();
    m_full = false;
  }
  const std::vector<double>& values() const { return m_values; }
  const std::vector<std::int64_t>& counts() const { return m_counts; }
  bool same(std::size_t place, double value) const { return m_values[place] == value; }
  std::uint64_t hashOf(std::size_t place) const { return hash(m_values[place]); }

 private:
  static std::uint64_t hash(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits ^= bits >> 32;
    bits *= 0x9e3779b97f4a7c15U;
    return bits ^ bits >> 29;
  }
  std::size_t m_most;
  DistinctTable<DistinctNumbers> m_table;
  std::vector<double> m_values;
  std::vector<std::int64_t> m_counts;
  bool m_full = false;
};

class DistinctWords {
 public:
  explicit DistinctWords(std::size_t most) : m_most(most) {}
  bool full() const { return m_full; }
  void add(std::string_view word, std::int64_t times = 1) {
    if (m_full) return;
    const std::uint64_t hash = Hash64::of(std::as_bytes(std::span(word.data(), word.size())));
    bool isNew = false;
    const std::size_t at = m_table.place(hash, word, *this, m_places.size(), isNew);
    if (isNew) {
      m_places.push_back({m_text.size(), word.size(), hash});
      m_text.append(word);
      m_counts.push_back(0);
      m_full = m_places.size() > m_most;
    }
    m_counts[at] += times;
  }
  void merge(const DistinctWords& other) {
    for (std::size_t i = 0; i < other.size(); ++i) add(other.word(i), other.m_counts[i]);
  }
  void clear() {
    m_table.clear();
    m_places.clear();
    m_counts.clear();
    m_text.clear();
    m_full = false;
  }
  std::size_t size() const { return m_places.size(); }
  std::string_view word(std::size_t place) const {
    return std::string_view(m_text).substr(m_places[place].begin, m_places[place].size);
  }
  const std::vector<std::int64_t>& counts() const { return m_counts; }
  bool same(std::size_t place, std::string_view other) const { return word(place) == other; }
  std::uint64_t hashOf(std::size_t place) const { return m_places[place].hash; }

 private:
  struct Place {
    std::size_t begin, size;
    std::uint64_t hash;
  };
  std::size_t m_most;
  DistinctTable<DistinctWords> m_table;
  std::string m_text;
  std::vector<Place> m_places;
  std::vector<std::int64_t> m_counts;
  bool m_full = false;
};

}  // namespace loom
