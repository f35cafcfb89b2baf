#include "app/pages/runs/run_rows.h"

#include <algorithm>
#include <cmath>

#include "app/attempt.h"

namespace loom {
namespace {

constexpr int kOneByOne = 16;  // rows that come together and are not worth building all anew

}  // namespace

RunRows::RunRows(RunsModel& model, const RunMetrics& metrics, QObject* parent)
    : QAbstractProxyModel(parent), m_model(model), m_metrics(metrics), m_filter(RunFilter(), model.settingValues()) {
  QAbstractProxyModel::setSourceModel(&model);
  connect(&model, &QAbstractItemModel::modelAboutToBeReset, this, &RunRows::beginRebuild);
  connect(&model, &QAbstractItemModel::modelReset, this, [this] {
    forget();
    fill();
    endRebuild();
  });
  connect(&model, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex&, int first, int last) {
    const auto from = static_cast<int>(m_topOf.size());
    m_topOf.resize(m_topOf.size() + static_cast<std::size_t>(last - first + 1));
    m_passes.resize(m_topOf.size(), 0);
    m_alone.resize(m_topOf.size());
    m_isSorted = false;
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
    const bool sorted = a <= m_column && m_column <= b;
    if (a <= m_column) m_column = sorted ? -1 : m_column - (b - a + 1);
    endRemoveColumns();
    if (sorted) putInOrder();
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
  top.measured = top.members;
  top.sorting = 0;
  makeKey(top);
}

void RunRows::measureIfNew(Top& top) const {
  top.measured == top.members ? makeKey(top) : measure(top);
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
  const bool passes = m_filter.holds(run(place), m_model.settingsOf(sourceRow(place)));
  m_passes[static_cast<std::size_t>(place)] = passes;
  return passes && (!m_brush || m_brush(sourceRow(place)));
}

std::vector<int> RunRows::filtered() const {
  std::vector<int> rows;
  for (std::size_t place = 0; place < m_passes.size(); ++place)
    if (m_passes[place]) rows.push_back(sourceRow(static_cast<int>(place)));
  return rows;
}

void RunRows::setBrush(std::function<bool(int modelRow)> brush) {
  if (!brush && !m_brush) return;
  m_brush = std::move(brush);
  rebuild();
}

void RunRows::beginRebuild() {
  Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  m_kept.indexes = persistentIndexList();
  m_kept.rows.clear();
  for (const QModelIndex& each : std::as_const(m_kept.indexes))
    if (QString& id = m_kept.rows[each.row()]; id.isEmpty())
      id = identity(m_rows[static_cast<std::size_t>(each.row())]);
}

// Where those that are asked for stand now; of many of them all rows are looked through once.
QHash<QString, int> RunRows::rowsOfKept() const {
  constexpr int kFew = 16;
  QHash<QString, int> now;
  for (const QString& id : m_kept.rows) now.insert(id, m_kept.rows.size() <= kFew ? rowOf(id) : -1);
  for (std::size_t i = 0; i < m_rows.size() && m_kept.rows.size() > kFew; ++i)
    if (const auto wanted = now.find(identity(m_rows[i])); wanted != now.end()) *wanted = static_cast<int>(i);
  return now;
}

void RunRows::endRebuild() {
  const QHash<QString, int> now = rowsOfKept();
  QModelIndexList to;
  for (const QModelIndex& each : std::as_const(m_kept.indexes)) {
    const int row = now.value(m_kept.rows.value(each.row()), -1);
    to << (row < 0 || each.column() >= columnCount() ? QModelIndex() : index(row, each.column()));
  }
  changePersistentIndexList(m_kept.indexes, to);
  m_kept = {};
  Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

// Of other runs.
void RunRows::forget() {
  m_byKey.clear();
  m_alone.clear();
  m_sorted.clear();
  m_isSorted = false;
}

void RunRows::rebuild() {
  beginRebuild();
  fill();
  endRebuild();
}

RunRows::Top& RunRows::topFor(int place, const QByteArray& key) {
  std::unique_ptr<Top>& top = key.isEmpty() ? m_alone[static_cast<std::size_t>(place)] : m_byKey[key];
  if (!top) {
    top = std::make_unique<Top>();
    top->key = key;
    if (key.isEmpty()) top->members = {place};
  }
  return *top;
}

void RunRows::fill() {
  ++m_revision;
  m_axis.reset();
  m_accepted = 0;
  const auto count = static_cast<std::size_t>(m_model.count());
  m_alone.resize(count);
  m_topOf.assign(count, nullptr);
  m_passes.assign(count, 0);
  m_tops.clear();
  m_grouped ? fillGroups() : fillAlone();
  makeRows();
}

void RunRows::fillGroups() {
  for (auto& [key, group] : m_byKey) group->members.clear();
  for (int place = 0; place < m_model.count(); ++place) {
    if (!holds(place)) continue;
    ++m_accepted;
    const QByteArray key = keyOf(place);
    Top& top = topFor(place, key);
    m_topOf[static_cast<std::size_t>(place)] = &top;
    if (key.isEmpty() || top.members.empty()) m_tops.push_back(&top);
    if (!key.isEmpty()) top.members.push_back(place);
  }
  for (Top* each : m_tops) measureIfNew(*each);
  std::sort(m_tops.begin(), m_tops.end(), [this](const Top* a, const Top* b) { return before(*a, *b); });
}

// All stand in their order: what the filter leaves is taken from it, and nothing is sorted for a letter of it.
void RunRows::fillAlone() {
  sortAlone();
  for (Top* each : m_sorted) {
    const int place = each->members.front();
    if (!holds(place)) continue;
    m_topOf[static_cast<std::size_t>(place)] = each;
    m_tops.push_back(each);
  }
  m_accepted = static_cast<int>(m_tops.size());
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
  outdateAll();
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

// Half a name is the filter before it once more: nothing is looked through for that.
void RunRows::take(const RunFilter& filter) {
  if (filter.term() == m_term) return;
  m_term = filter.term();
  m_filter = ManyRunsFilter(filter, m_model.settingValues());
  m_model.setPutAway(filter.wantsDeleted(), filter.wantsArchived());
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
    ManyRunsFilter filter(typed, m_model.settingValues());
    for (int row = 0; row < m_model.count(); ++row)
      if (filter.holds(m_model.run(row), m_model.settingsOf(row))) return true;
    return false;
  };
  const bool half = begins && !holdsForAny();
  if (!half && fault.isEmpty()) m_good = expression;
  take(half ? typed.withoutLastWord() : typed);
  return fault;
}

}  // namespace loom
