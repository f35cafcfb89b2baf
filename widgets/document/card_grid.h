#pragma once
// Cards by where they stand: which of them touch a rectangle is answered without looking at the others.
#include <QRectF>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace loom {

class CardGrid {
 public:
  // Cells so large; by the usual ones a card stands in one to four.
  explicit CardGrid(double across = 288, double down = 120) : m_across(across), m_down(down) {}
  void clear();
  void put(std::size_t card, const QRectF& rect);  // anew where it stood elsewhere
  void take(std::size_t card);
  QRectF rect(std::size_t card) const {
    return card < m_rects.size() ? m_rects[card] : QRectF();
  }                       // null for one that is not here
  QRectF bounds() const;  // around all; null where there is none

  // Calls `visit(card, rect)` for each card whose rectangle may touch this one, at least all that do, each once; until
  // it answers true.
  template <class Visit>
  bool any(const QRectF& area, Visit visit) const {
    const Cells cells = cellsOf(area);
    // An area of more cells than hold cards: the cards themselves are fewer.
    if ((cells.right - cells.left + 1.0) * (cells.bottom - cells.top + 1.0) > static_cast<double>(m_filled + 8)) {
      for (std::size_t card = 0; card < m_rects.size(); ++card)
        if (!m_rects[card].isNull() && visit(card, m_rects[card])) return true;
      return false;
    }
    if (m_filled == 0) return false;
    for (int x = cells.left; x <= cells.right; ++x)
      for (int y = cells.top; y <= cells.bottom; ++y)
        for (std::uint32_t at = m_cells[slotOf(key(x, y))].first; at != kNobody; at = m_entries[at].next) {
          // Told in the first of its cells that the area has.
          const Entry& entry = m_entries[at];
          if ((x != cells.left && !entry.left) || (y != cells.top && !entry.top)) continue;
          if (visit(std::size_t{entry.card}, m_rects[entry.card])) return true;
        }
    return false;
  }
  bool touches(const QRectF& area) const {
    return any(area, [&](std::size_t, const QRectF& rect) { return rect.intersects(area); });
  }

 private:
  struct Cells {
    int left, top, right, bottom;
    bool operator==(const Cells&) const = default;
  };
  static constexpr std::uint32_t kNobody = 0xffffffff;
  static constexpr std::uint64_t kFree = 0x8000000080000000;  // no cell lies so far out
  // A cell's cards are a chain of entries, the first that came first. Cells stand in one table, each as near to where
  // its key says as is free: a large drawing moves as a whole, and a heap block for each card and cell would be most of
  // the time.
  struct Cell {
    std::uint64_t key = kFree;
    std::uint32_t first = kNobody, last = kNobody;
  };
  struct Entry {
    std::uint32_t card, next;
    bool left, top;  // the first of its card's cells from left to right, and from top to bottom
  };
  Cells cellsOf(const QRectF& rect) const;
  static std::uint64_t key(int x, int y) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) << 32) | static_cast<std::uint32_t>(y);
  }
  // Where the cell is, or would come; the table has room.
  std::size_t slotOf(std::uint64_t key) const {
    std::size_t slot = (key * 0x9e3779b97f4a7c15) >> m_shift;
    while (m_cells[slot].key != key && m_cells[slot].key != kFree) slot = (slot + 1) & (m_cells.size() - 1);
    return slot;
  }
  void makeRoom();

  double m_across, m_down;
  std::vector<QRectF> m_rects;
  std::vector<Cell> m_cells;  // a power of two of them
  std::size_t m_known = 0;    // of them, those with a key
  std::size_t m_filled = 0;   // and those with cards
  int m_shift = 64;
  std::vector<Entry> m_entries;
  std::uint32_t m_unused = kNobody;  // a chain too
};

}  // namespace loom
