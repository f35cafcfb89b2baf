#pragma once
// Cards by where they stand: which of them touch a rectangle is answered without looking at the others.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <QRectF>

namespace loom {

class CardGrid {
 public:
  // Cells so large; by the usual ones a card stands in one to four.
  explicit CardGrid(double across = 288, double down = 120) : m_across(across), m_down(down) {}
  void clear();
  void put(std::size_t card, const QRectF& rect);  // anew where it stood elsewhere
  void take(std::size_t card);
  QRectF rect(std::size_t card) const { return card < m_rects.size() ? m_rects[card] : QRectF(); }  // null for one that is not here

  // Calls `visit(card, rect)` for each card whose rectangle may touch this one, at least all that do, each once; until it answers true.
  template <class Visit>
  bool any(const QRectF& area, Visit visit) const {
    const Cells cells = cellsOf(area);
    // An area of more cells than hold cards: the cards themselves are fewer.
    if ((cells.right - cells.left + 1.0) * (cells.bottom - cells.top + 1.0) > static_cast<double>(m_cells.size() + 8)) {
      for (std::size_t card = 0; card < m_rects.size(); ++card)
        if (!m_rects[card].isNull() && visit(card, m_rects[card])) return true;
      return false;
    }
    for (int x = cells.left; x <= cells.right; ++x)
      for (int y = cells.top; y <= cells.bottom; ++y) {
        const auto found = m_cells.find(key(x, y));
        if (found == m_cells.end()) continue;
        for (const std::size_t card : found->second) {
          // Told in the first of its cells that the area has.
          const Cells own = cellsOf(m_rects[card]);
          if (x != std::max(own.left, cells.left) || y != std::max(own.top, cells.top)) continue;
          if (visit(card, m_rects[card])) return true;
        }
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
  Cells cellsOf(const QRectF& rect) const;
  static std::uint64_t key(int x, int y) { return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) << 32) | static_cast<std::uint32_t>(y); }

  double m_across, m_down;
  std::vector<QRectF> m_rects;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> m_cells;
};

}  // namespace loom
