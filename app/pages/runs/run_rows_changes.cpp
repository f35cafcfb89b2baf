// How the rows follow single runs: one that comes, changes or goes.
#include <algorithm>
#include <utility>

#include "app/pages/runs/run_rows.h"

namespace loom {
namespace {

constexpr int kRowsOneByOne = 16;  // that change together and are not worth building all anew

}  // namespace

void RunRows::update(int place, int firstColumn, int lastColumn) {
  ++m_revision;
  m_axis.reset();
  outdate(place);
  const bool holds = this->holds(place);
  const QByteArray key = holds ? keyOf(place) : QByteArray();
  if (const Top* top = m_topOf[static_cast<std::size_t>(place)]; top && (!holds || top->key != key)) leave(place);
  if (!holds) return;
  if (Top* const top = m_topOf[static_cast<std::size_t>(place)])
    refresh(*top, place, firstColumn, lastColumn);
  else
    join(place, key);
}

// What was found out about a run, and about the group that it may be in.
void RunRows::outdate(int place) {
  if (Top* const own = m_alone[static_cast<std::size_t>(place)].get()) own->sorting = 0;
  m_isSorted = false;
  if (const auto group = m_byKey.find(m_model.likeness(sourceRow(place))); group != m_byKey.end())
    group->second->measured.clear();
}

void RunRows::outdateAll() {
  ++m_sorting;
  m_isSorted = false;
  for (auto& [key, group] : m_byKey) group->measured.clear();
}

void RunRows::refresh(Top& top, int place, int firstColumn, int lastColumn) {
  measure(top);
  const int first = firstRow(top);
  const std::vector<Row> fresh = rowsOf(top);
  replaceRows(first, shownRows(top, first), fresh);
  reposition(top);
  const int now = firstRow(top);
  if (top.isGroup()) {
    changed(now, now, 0, columnCount() - 1);
    changed(now, now + static_cast<int>(fresh.size()) - 1, RunsModel::runs, RunsModel::seeds);
  }
  const auto own = std::find(fresh.begin(), fresh.end(), Row{&top, place});
  if (own == fresh.end()) return;
  const int row = now + static_cast<int>(own - fresh.begin());
  changed(row, row, firstColumn, lastColumn);
}

void RunRows::changed(int first, int last, int firstColumn, int lastColumn) {
  Q_EMIT dataChanged(index(first, firstColumn), index(last, lastColumn));
}

// What stands at the beginning and at the end of both stays.
void RunRows::replaceRows(int first, const std::vector<Row>& old, const std::vector<Row>& fresh) {
  std::size_t same = 0, end = 0;
  const std::size_t shorter = std::min(old.size(), fresh.size());
  while (same < shorter && old[same] == fresh[same]) ++same;
  while (end < shorter - same && old[old.size() - 1 - end] == fresh[fresh.size() - 1 - end]) ++end;
  const int from = first + static_cast<int>(same);
  if (const auto gone = static_cast<int>(old.size() - same - end); gone > 0) {
    beginRemoveRows({}, from, from + gone - 1);
    m_rows.erase(m_rows.begin() + from, m_rows.begin() + from + gone);
    endRemoveRows();
  }
  if (const auto more = static_cast<int>(fresh.size() - same - end); more > 0) {
    beginInsertRows({}, from, from + more - 1);
    m_rows.insert(m_rows.begin() + from, fresh.begin() + static_cast<std::ptrdiff_t>(same),
                  fresh.end() - static_cast<std::ptrdiff_t>(end));
    endInsertRows();
  }
}

void RunRows::reposition(Top& top) {
  const auto own = std::find(m_tops.begin(), m_tops.end(), &top);
  const auto next = own + 1;
  if ((own == m_tops.begin() || !before(top, **(own - 1))) && (next == m_tops.end() || !before(**next, top))) return;
  // All others are in their order.
  const auto isBefore = [&](const Top* each, const Top& value) { return before(*each, value); };
  auto to = std::lower_bound(m_tops.begin(), own, top, isBefore);
  if (to == own) to = std::lower_bound(next, m_tops.end(), top, isBefore);
  const int from = firstRow(top);
  const auto count = static_cast<int>(shownRows(top, from).size());
  const int target = to == m_tops.end() ? static_cast<int>(m_rows.size()) : firstRow(**to);
  if (target == from || target == from + count) return;
  beginMoveRows({}, from, from + count - 1, {}, target);
  const auto block = m_rows.begin() + from, end = block + count, destination = m_rows.begin() + target;
  target > from ? std::rotate(block, end, destination) : std::rotate(destination, block, end);
  to > own ? std::rotate(own, next, to) : std::rotate(to, own, next);
  endMoveRows();
}

void RunRows::leave(int place) {
  Top* const top = std::exchange(m_topOf[static_cast<std::size_t>(place)], nullptr);
  if (!top) return;
  --m_accepted;
  const int first = firstRow(*top);
  const std::vector<Row> old = shownRows(*top, first);
  if (!top->key.isEmpty()) {
    top->members.erase(std::find(top->members.begin(), top->members.end(), place));
    if (!top->members.empty()) return refresh(*top, top->members.back(), 0, columnCount() - 1);
  }
  beginRemoveRows({}, first, first + static_cast<int>(old.size()) - 1);
  m_rows.erase(m_rows.begin() + first, m_rows.begin() + first + static_cast<std::ptrdiff_t>(old.size()));
  m_tops.erase(std::find(m_tops.begin(), m_tops.end(), top));
  endRemoveRows();
}

void RunRows::join(int place, const QByteArray& key) {
  ++m_accepted;
  Top& top = topFor(place, key);
  m_topOf[static_cast<std::size_t>(place)] = &top;
  if (!key.isEmpty()) top.members.insert(std::upper_bound(top.members.begin(), top.members.end(), place), place);
  if (top.isGroup()) return refresh(top, place, 0, columnCount() - 1);
  measure(top);
  const auto at = std::lower_bound(m_tops.begin(), m_tops.end(), top,
                                   [&](const Top* each, const Top& value) { return before(*each, value); });
  const int row = at == m_tops.end() ? static_cast<int>(m_rows.size()) : firstRow(**at);
  beginInsertRows({}, row, row);
  m_rows.insert(m_rows.begin() + row, Row{&top, place});
  m_tops.insert(at, &top);
  endInsertRows();
}

void RunRows::sourceChanged(const QModelIndex& from, const QModelIndex& to) {
  if (to.row() - from.row() < kRowsOneByOne) {
    for (int row = from.row(); row <= to.row(); ++row) update(sourceRow(row), from.column(), to.column());
  } else if (to.column() <= RunsModel::name && m_column != RunsModel::name) {  // ticks: no row moves
    if (!m_rows.empty()) changed(0, rowCount() - 1, from.column(), to.column());
  } else {
    outdateAll();
    rebuild();
  }
}

void RunRows::removePlace(int place) {
  ++m_revision;
  m_topOf.erase(m_topOf.begin() + place);
  m_passes.erase(m_passes.begin() + place);
  std::erase(m_sorted, m_alone[static_cast<std::size_t>(place)].get());
  m_alone.erase(m_alone.begin() + place);
  const auto shift = [place](Top& top) {
    for (std::vector<int>* places : {&top.members, &top.averaged, &top.measured})
      for (int& each : *places) each -= each > place;
  };
  for (const auto& top : m_alone)
    if (top) shift(*top);
  for (const auto& [key, group] : m_byKey) shift(*group);
  for (Row& row : m_rows) row.place -= row.place > place;
}

}  // namespace loom
