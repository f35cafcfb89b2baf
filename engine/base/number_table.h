#pragma once
// Numbers found by the hash of what they stand for, in one block of memory: whoever has the things themselves (by
// number, in a list of its own) says whether one is meant. A map of the standard library keeps a heap block for each,
// and looking for ten thousand of them waits for memory ten thousand times over. One thread at a time; throws nothing
// but std::bad_alloc.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace loom {

class NumberTable {
 public:
  using Number = std::uint32_t;
  static constexpr Number kNone = 0xffffffff;  // no number is this one

  std::size_t size() const { return m_size; }
  void clear() { *this = {}; }
  void reserve(std::size_t count) {
    if (2 * count > m_slots.size()) grow(count);
  }

  // The same number may stand under several hashes, and several numbers under one.
  void put(std::size_t hash, Number number) {
    reserve(m_size + 1);
    ++m_size;
    place({folded(hash), number});
  }
  void take(std::size_t hash, Number number) {
    if (m_size == 0) return;
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = folded(hash) & mask;
    for (; m_slots[at].number != number || m_slots[at].hash != folded(hash); at = (at + 1) & mask)
      if (m_slots[at].number == kNone) return;
    --m_size;
    // What follows without a gap comes nearer to where its hash says.
    for (std::size_t next = (at + 1) & mask; m_slots[next].number != kNone; next = (next + 1) & mask) {
      const std::size_t home = m_slots[next].hash & mask;
      if (((next - home) & mask) < ((next - at) & mask)) continue;
      m_slots[at] = m_slots[next];
      at = next;
    }
    m_slots[at] = {};
  }

  // The first number under the hash for which `meant(number)` is true; kNone where there is none.
  template <class Meant>
  Number find(std::size_t hash, Meant meant) const {
    if (m_size == 0) return kNone;
    const std::size_t mask = m_slots.size() - 1;
    const std::uint32_t wanted = folded(hash);
    for (std::size_t at = wanted & mask; m_slots[at].number != kNone; at = (at + 1) & mask)
      if (m_slots[at].hash == wanted && meant(m_slots[at].number)) return m_slots[at].number;
    return kNone;
  }

  // Each number becomes `now(number)`, or goes where that is kNone.
  template <class Now>
  void renumber(Now now) {
    bool gone = false;
    for (Slot& slot : m_slots) {
      if (slot.number == kNone) continue;
      slot.number = now(slot.number);
      gone = gone || slot.number == kNone;
      m_size -= slot.number == kNone;
    }
    if (gone) grow(m_size);
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Number number = kNone;
  };
  static std::uint32_t folded(std::size_t hash) { return static_cast<std::uint32_t>(hash ^ (hash >> 32)); }
  void place(Slot slot) {
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = slot.hash & mask;
    while (m_slots[at].number != kNone) at = (at + 1) & mask;
    m_slots[at] = slot;
  }
  void grow(std::size_t count) {
    const std::vector<Slot> before = std::exchange(m_slots, std::vector<Slot>(std::bit_ceil(3 * count + 8)));
    for (const Slot& slot : before)
      if (slot.number != kNone) place(slot);
  }

  std::vector<Slot> m_slots;  // a power of two of them, at most half of them taken; each as near to its hash as is free
  std::size_t m_size = 0;
};

}  // namespace loom
