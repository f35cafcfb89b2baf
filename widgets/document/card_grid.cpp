#include "widgets/document/card_grid.h"

#include <algorithm>
#include <cmath>

namespace loom {

CardGrid::Cells CardGrid::cellsOf(const QRectF& rect) const {
  const auto cell = [](double at, double size) { return static_cast<int>(std::floor(std::clamp(at / size, -1e8, 1e8))); };
  return {cell(rect.left(), m_across), cell(rect.top(), m_down), cell(rect.right(), m_across), cell(rect.bottom(), m_down)};
}

void CardGrid::clear() {
  m_rects.clear();
  m_cells.clear();
}

void CardGrid::put(std::size_t card, const QRectF& rect) {
  if (card < m_rects.size() && m_rects[card] == rect && !rect.isNull()) return;
  const Cells cells = cellsOf(rect);
  if (card < m_rects.size() && !m_rects[card].isNull() && !rect.isNull() && cellsOf(m_rects[card]) == cells) {
    m_rects[card] = rect;  // a step aside
    return;
  }
  take(card);
  if (card >= m_rects.size()) m_rects.resize(card + 1);
  m_rects[card] = rect;
  for (int x = cells.left; x <= cells.right; ++x)
    for (int y = cells.top; y <= cells.bottom; ++y) m_cells[key(x, y)].push_back(card);
}

void CardGrid::take(std::size_t card) {
  if (card >= m_rects.size() || m_rects[card].isNull()) return;
  const Cells cells = cellsOf(m_rects[card]);
  for (int x = cells.left; x <= cells.right; ++x)
    for (int y = cells.top; y <= cells.bottom; ++y) {
      const auto found = m_cells.find(key(x, y));
      std::erase(found->second, card);
      if (found->second.empty()) m_cells.erase(found);
    }
  m_rects[card] = {};
}

}  // namespace loom
