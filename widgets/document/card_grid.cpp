#include "widgets/document/card_grid.h"

#include <bit>
#include <utility>

namespace loom {

CardGrid::Cells CardGrid::cellsOf(const QRectF& rect) const {
  const auto cell = [](double at, double size) {  // std::floor is a call into the library
    const double place = std::clamp(at / size, -1e8, 1e8);
    const int whole = static_cast<int>(place);
    return whole - (place < whole);
  };
  return {cell(rect.left(), m_across), cell(rect.top(), m_down), cell(rect.right(), m_across),
          cell(rect.bottom(), m_down)};
}

void CardGrid::clear() {
  *this = CardGrid(m_across, m_down);
}

// Before a cell is added: at most half of the table is taken. Cells that nothing stands in any more are left behind.
void CardGrid::makeRoom() {
  if (2 * (m_known + 1) <= m_cells.size()) return;
  const std::vector<Cell> before = std::move(m_cells);
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(16, 4 * (m_filled + 1)));
  m_cells.assign(size, {});
  m_shift = 64 - std::countr_zero(size);
  m_known = m_filled;
  for (const Cell& cell : before)
    if (cell.first != kNobody) m_cells[slotOf(cell.key)] = cell;
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
  if (rect.isNull()) return;
  for (int x = cells.left; x <= cells.right; ++x)
    for (int y = cells.top; y <= cells.bottom; ++y) {
      makeRoom();
      Cell& cell = m_cells[slotOf(key(x, y))];
      m_known += cell.key == kFree;
      m_filled += cell.first == kNobody;
      cell.key = key(x, y);
      std::uint32_t made = m_unused;
      if (made != kNobody)
        m_unused = m_entries[made].next;
      else
        made = static_cast<std::uint32_t>(m_entries.size()), m_entries.emplace_back();
      m_entries[made] = {static_cast<std::uint32_t>(card), kNobody, x == cells.left, y == cells.top};
      (cell.first == kNobody ? cell.first : m_entries[cell.last].next) = made;
      cell.last = made;
    }
}

void CardGrid::take(std::size_t card) {
  if (card >= m_rects.size() || m_rects[card].isNull()) return;
  const Cells cells = cellsOf(m_rects[card]);
  for (int x = cells.left; x <= cells.right; ++x)
    for (int y = cells.top; y <= cells.bottom; ++y) {
      Cell& cell = m_cells[slotOf(key(x, y))];
      std::uint32_t before = kNobody, at = cell.first;
      while (m_entries[at].card != card) before = std::exchange(at, m_entries[at].next);
      (before == kNobody ? cell.first : m_entries[before].next) = m_entries[at].next;
      if (cell.last == at) cell.last = before;
      m_entries[at].next = std::exchange(m_unused, at);
      m_filled -= cell.first == kNobody;
    }
  m_rects[card] = {};
}

QRectF CardGrid::bounds() const {
  QRectF bounds;
  for (const QRectF& rect : m_rects)
    if (!rect.isNull()) bounds = bounds.isNull() ? rect : bounds.united(rect);
  return bounds;
}

}  // namespace loom
