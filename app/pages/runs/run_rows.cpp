#include "app/pages/runs/run_rows.h"

#include <algorithm>
#include <cmath>

#include "app/attempt.h"

namespace loom {
namespace {

constexpr int kOneByOne = 16;  // rows that change together and are not worth building all anew

}  // namespace

RunRows::RunRows(RunsModel& model, const RunMetrics& metrics, QObject* parent)
    : QAbstractProxyModel(parent), m_model(model), m_metrics(metrics) {
  QAbstractProxyModel::setSourceModel(&model);
  connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, &RunRows::beginRebuild);
  connect(&model, &QAbstractItemModel::modelReset, this, &RunRows::endRebuild);
  connect(&model, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex&, int first, int last) {
    const auto from = static_cast<int>(m_topOf.size());
    m_topOf.resize(m_topOf.size() + static_cast<std::size_t>(last - first + 1));
    m_passes.resize(m_topOf.size(), 0);
    if (last - first >= kOneByOne) return rebuild();
    for (auto place = from; place < static_cast<int>(m_topOf.size()); ++place) update(place, 0, columnCount() - 1);
  });
  connect(&model, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this](const QModelIndex&, int first, int last) {
    for (int row = first; row <= last; ++row) leave(sourceRow(row));
  });
  connect(&model, &QAbstractItemModel::rowsRemoved, this, [this](const QModelIndex&, int first, int last) {
    for (int row = last; row >= first; --row) removePlace(static_cast<int>(m_topOf.size()) - 1 - row);
  });
  connect(&model, &QAbstractItemModel::dataChanged, this, &RunRows::sourceChanged);
  connect(&model, &QAbstractItemModel::headerDataChanged, this, &QAbstractItemModel::headerDataChanged);
  const auto column = [this](auto signal, auto act) {
    connect(&m_model, signal, this, [this, act](const QModelIndex&, int first, int last) { act(first, last); });
  };
  column(&QAbstractItemModel::columnsAboutToBeInserted, [this](int a, int b) { beginInsertColumns({}, a, b); });
  column(&QAbstractItemModel::columnsInserted, [this](int a, int b) {
    if (a <= m_column) m_column += b - a + 1;
    endInsertColumns();
  });
  column(&QAbstractItemModel::columnsAboutToBeRemoved, [this](int a, int b) { beginRemoveColumns({}, a, b); });
  column(&QAbstractItemModel::columnsRemoved, [this](int a, int b) {
    if (a <= m_column) m_column = m_column <= b ? -1 : m_column - (b - a + 1);
    endRemoveColumns();
  });
  fill();
}

QString RunRows::identity(const Row& row) const {
  return row.place < 0 ? row.top->id : run(row.place).id;
}

// Empty: it stands alone.
QByteArray RunRows::keyOf(int place) const {
  return m_grouped ? m_model.likeness(sourceRow(place)) : QByteArray();
}

void RunRows::measure(Top& top) const {
  top.reasons.clear();
  top.averaged.clear();
  if (top.isGroup()) {
    if (top.id.isEmpty()) top.id = '=' + QString::fromLatin1(top.key.toHex());
    std::vector<const RunRecord*> runs;
    for (const int each : top.members) runs.push_back(&run(each));
    top.reasons = whyNotAveraged(runs);
    std::vector<double> best;
    top.bestEpoch = top.last = top.loss = top.duration = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!top.reasons[i].isEmpty()) continue;
      top.averaged.push_back(top.members[i]);
      best.push_back(runs[i]->best);
      top.bestEpoch += runs[i]->bestEpoch;
      top.last += runs[i]->last;
      top.loss += runs[i]->loss;
      top.duration += runs[i]->duration;
    }
    if (!best.empty()) top.best = seedSpreadOf(best, m_spread);
    for (double* each : {&top.bestEpoch, &top.last, &top.loss, &top.duration})
      *each /= std::max(1.0, static_cast<double>(best.size()));
  }
  top.sortKey = m_column < 0 ? SortKey() : toSortKey(sortKeyOf(top, m_column));
}

// Inside a group by seed, which does not change.
std::vector<RunRows::Row> RunRows::rowsOf(Top& top) const {
  if (!top.isGroup()) return {{&top, top.members.front()}};
  std::vector<Row> rows{{&top, -1}};
  if (!m_open.contains(top.id)) return rows;
  std::vector<std::pair<double, int>> bySeed;
  for (const int each : top.members) bySeed.emplace_back(seedOf(run(each)).toDouble(), each);
  std::sort(bySeed.begin(), bySeed.end());
  for (const auto& [seed, place] : bySeed) rows.push_back({&top, place});
  return rows;
}

int RunRows::firstRow(const Top& top) const {
  const auto at = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) { return row.top == &top; });
  return static_cast<int>(at - m_rows.begin());
}

std::vector<RunRows::Row> RunRows::shownRows(const Top& top, int first) const {
  auto end = m_rows.begin() + first;
  while (end != m_rows.end() && end->top == &top) ++end;
  return {m_rows.begin() + first, end};
}

bool RunRows::holds(int place) {
  const bool passes = m_filter.holds(run(place));
  m_passes[static_cast<std::size_t>(place)] = passes;
  return passes && (!m_brush || m_brush(run(place)));
}

std::vector<const RunRecord*> RunRows::filtered() const {
  std::vector<const RunRecord*> runs;
  for (std::size_t place = 0; place < m_passes.size(); ++place)
    if (m_passes[place]) runs.push_back(&run(static_cast<int>(place)));
  return runs;
}

void RunRows::setBrush(std::function<bool(const RunRecord&)> brush) {
  if (!brush && !m_brush) return;
  m_brush = std::move(brush);
  rebuild();
}

void RunRows::update(int place, int firstColumn, int lastColumn) {
  ++m_revision;
  m_axis.reset();
  const bool holds = this->holds(place);
  const QByteArray key = holds ? keyOf(place) : QByteArray();
  if (const Top* top = m_topOf[static_cast<std::size_t>(place)]; top && (!holds || top->key != key)) leave(place);
  if (!holds) return;
  if (Top* const top = m_topOf[static_cast<std::size_t>(place)])
    refresh(*top, place, firstColumn, lastColumn);
  else
    join(place, key);
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
  const auto own = std::find_if(m_tops.begin(), m_tops.end(), [&](const auto& each) { return each.get() == &top; });
  const auto next = own + 1;
  if ((own == m_tops.begin() || !before(top, **(own - 1))) && (next == m_tops.end() || !before(**next, top))) return;
  // All others are in their order.
  const auto isBefore = [&](const auto& each, const Top& value) { return before(*each, value); };
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
  top->members.erase(std::find(top->members.begin(), top->members.end(), place));
  if (!top->members.empty()) {
    refresh(*top, top->members.back(), 0, columnCount() - 1);
    return;
  }
  beginRemoveRows({}, first, first + static_cast<int>(old.size()) - 1);
  m_rows.erase(m_rows.begin() + first, m_rows.begin() + first + static_cast<std::ptrdiff_t>(old.size()));
  if (!top->key.isEmpty()) m_byKey.remove(top->key);
  m_tops.erase(std::find_if(m_tops.begin(), m_tops.end(), [&](const auto& each) { return each.get() == top; }));
  endRemoveRows();
}

void RunRows::join(int place, const QByteArray& key) {
  ++m_accepted;
  if (Top* const known = key.isEmpty() ? nullptr : m_byKey.value(key)) {
    Top& top = *known;
    m_topOf[static_cast<std::size_t>(place)] = &top;
    top.members.insert(std::upper_bound(top.members.begin(), top.members.end(), place), place);
    refresh(top, place, 0, columnCount() - 1);
    return;
  }
  auto fresh = std::make_unique<Top>();
  fresh->key = key;
  fresh->members = {place};
  m_topOf[static_cast<std::size_t>(place)] = fresh.get();
  if (!key.isEmpty()) m_byKey.insert(key, fresh.get());
  measure(*fresh);
  const auto at = std::lower_bound(m_tops.begin(), m_tops.end(), *fresh,
                                   [&](const auto& each, const Top& value) { return before(*each, value); });
  const int row = at == m_tops.end() ? static_cast<int>(m_rows.size()) : firstRow(**at);
  beginInsertRows({}, row, row);
  m_rows.insert(m_rows.begin() + row, Row{fresh.get(), place});
  m_tops.insert(at, std::move(fresh));
  endInsertRows();
}

void RunRows::sourceChanged(const QModelIndex& from, const QModelIndex& to) {
  if (to.row() - from.row() < kOneByOne) {
    for (int row = from.row(); row <= to.row(); ++row) update(sourceRow(row), from.column(), to.column());
  } else if (to.column() <= RunsModel::name && m_column != RunsModel::name) {  // ticks: no row moves
    if (!m_rows.empty()) changed(0, rowCount() - 1, from.column(), to.column());
  } else {
    rebuild();
  }
}

void RunRows::removePlace(int place) {
  ++m_revision;
  m_topOf.erase(m_topOf.begin() + place);
  m_passes.erase(m_passes.begin() + place);
  const auto shift = [place](int& each) { each -= each > place; };
  for (const auto& top : m_tops) {
    for (int& each : top->members) shift(each);
    for (int& each : top->averaged) shift(each);
  }
  for (Row& row : m_rows) shift(row.place);
}

void RunRows::beginRebuild() {
  Q_EMIT layoutAboutToBeChanged();
  m_kept.clear();
  for (const QModelIndex& each : persistentIndexList())
    m_kept.push_back({each, identity(m_rows[static_cast<std::size_t>(each.row())])});
}

void RunRows::endRebuild() {
  fill();
  QHash<QString, int> rows;  // of those alone that are asked for
  for (const Kept& each : m_kept) rows.insert(each.id, -1);
  for (std::size_t i = 0; i < m_rows.size() && !m_kept.empty(); ++i)
    if (const auto wanted = rows.find(identity(m_rows[i])); wanted != rows.end()) *wanted = static_cast<int>(i);
  QModelIndexList from, to;
  for (const Kept& each : m_kept) {
    const int row = rows.value(each.id, -1);
    from << each.index;
    to << (row < 0 || each.index.column() >= columnCount() ? QModelIndex() : index(row, each.index.column()));
  }
  changePersistentIndexList(from, to);
  m_kept.clear();
  Q_EMIT layoutChanged();
}

void RunRows::rebuild() {
  beginRebuild();
  endRebuild();
}

void RunRows::fill() {
  ++m_revision;
  m_rows.clear();
  m_byKey.clear();
  m_tops.clear();
  m_axis.reset();
  m_accepted = 0;
  m_topOf.assign(static_cast<std::size_t>(m_model.count()), nullptr);
  m_passes.assign(m_topOf.size(), 0);
  for (int place = 0; place < m_model.count(); ++place) {
    if (!holds(place)) continue;
    ++m_accepted;
    const QByteArray key = keyOf(place);
    Top* top = key.isEmpty() ? nullptr : m_byKey.value(key);
    if (!top) {
      top = m_tops.emplace_back(std::make_unique<Top>()).get();
      top->key = key;
      if (!key.isEmpty()) m_byKey.insert(key, top);
    }
    top->members.push_back(place);
    m_topOf[static_cast<std::size_t>(place)] = top;
  }
  for (const auto& each : m_tops) measure(*each);
  putInOrder();
}

void RunRows::setGrouped(bool grouped) {
  if (grouped == m_grouped) return;
  m_grouped = grouped;
  rebuild();
  Q_EMIT groupingChanged();
}

void RunRows::setColours(const QHash<QString, int>& colours) {
  if (colours == m_colours) return;
  m_colours = colours;
  if (m_rows.empty()) return;
  changed(0, rowCount() - 1, RunsModel::colour, RunsModel::colour);
  changed(0, rowCount() - 1, RunsModel::seeds, RunsModel::seeds);
}

void RunRows::setSpread(Spread spread) {
  if (spread == m_spread) return;
  m_spread = spread;
  rebuild();
}

void RunRows::setOpen(const QString& group, bool open) {
  if (open == m_open.contains(group)) return;
  open ? void(m_open.insert(group)) : void(m_open.remove(group));
  for (const auto& each : m_tops)
    if (each->id == group && each->isGroup()) return refresh(*each, -1, 0, columnCount() - 1);
}

void RunRows::reveal(const QString& id) {
  const int row = m_model.rowOf(id);
  const Top* const top = row < 0 ? nullptr : m_topOf[static_cast<std::size_t>(m_model.count() - 1 - row)];
  if (top && top->isGroup()) setOpen(top->id, true);
}

void RunRows::setOpenGroups(const QStringList& groups) {
  m_open = {groups.begin(), groups.end()};
  rebuild();
}

void RunRows::take(const RunFilter& filter) {
  m_filter = filter;
  m_model.setPutAway(m_filter.wantsDeleted(), m_filter.wantsArchived());
  rebuild();
}

// Half of a word is no filter yet: one that nothing has and with which a name begins, and all that is not finished.
QString RunRows::setExpression(const QString& expression) {
  const QStringList settings = m_model.settingNames();
  RunFilter typed;
  QString fault = attempt([&] { typed = RunFilter(expression, settings); });
  if (!fault.isEmpty() && !expression.startsWith(m_good)) return fault;
  if (!fault.isEmpty()) typed = RunFilter::asFarAsTyped(expression, settings);
  const QString last = typed.lastWord();
  const QStringList names = m_model.filterNames();
  const bool begins = !last.isEmpty() && std::any_of(names.begin(), names.end(), [&](const QString& name) {
    return name.startsWith(last.section(' ', 0, 0), Qt::CaseInsensitive);
  });
  const auto holdsForAny = [&] {
    for (int row = 0; row < m_model.count(); ++row)
      if (typed.holds(m_model.run(row))) return true;
    return false;
  };
  const bool half = begins && !holdsForAny();
  if (!half && fault.isEmpty()) m_good = expression;
  take(half ? typed.withoutLastWord() : typed);
  return fault;
}

}  // namespace loom
