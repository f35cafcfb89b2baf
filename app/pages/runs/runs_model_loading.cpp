// How runs come into the model and go from it.
#include <QElapsedTimer>

#include "app/pages/runs/runs_model.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr int kTakenAtOnce = 200, kTakenFirst = 24;  // runs: of a list that is read anew, and of a page that comes
constexpr int kSliceMs = 8, kLeastTaken = 8;         // how long more of them may take, and how many come in any case

}  // namespace

// Of thousands the oldest are taken in at once, few of them with a page that comes and has to be made too, the others
// some at a time, as runs that come in are: the window goes on.
void RunsModel::reload() {
  const bool comes = m_items.empty();
  beginResetModel();
  m_items.clear();
  m_places.clear();
  m_measured.clear();
  m_settings.clear();
  m_drawings.clear();
  m_sizes.clear();
  m_drawn.clear();
  m_tagged = m_noted = 0;
  m_widest.clear();
  m_waiting.clear();
  m_awaited.clear();
  const auto take = [this](const RunRecord& run) {
    if (!isListed(run)) return;
    m_waiting << run.id;
    m_awaited.insert(run.id);
  };
  if (!m_project.isEmpty())
    m_store.forEachRun(m_project, take, m_withDeleted ? RunStore::Deleted::include : RunStore::Deleted::leaveOut);
  for (std::unique_ptr<Item>& each : takeWaiting(comes ? kTakenFirst : kTakenAtOnce, comes ? 0 : kSliceMs))
    append(std::move(each));
  m_differing = settingsThatDiffer();
  refreshMetric();
  m_networkNames = networkDifferences(m_drawings);
  findMostDrawn();
  findArguments();
  // As wide as what they say now that all is counted.
  m_widest.remove(keyOf(network));
  for (const auto& each : m_items) {
    measure(*each, network);
    for (int column = fixedColumns; column < columnCount(); ++column) measure(*each, column);
  }
  endResetModel();
  for (const auto& each : m_items) wantNetwork(*each);
  m_waiting.isEmpty() ? m_more.stop() : m_more.start();
  Q_EMIT columnsChanged();
  Q_EMIT shownChanged();
}

// As many as the time of a slice allows, but some.
std::vector<std::unique_ptr<RunsModel::Item>> RunsModel::takeWaiting(int least, int forMs) {
  QElapsedTimer clock;
  clock.start();
  std::vector<std::unique_ptr<Item>> items;
  qsizetype taken = 0;
  for (; taken < m_waiting.size() && (taken < least || clock.elapsed() < forMs); ++taken) {
    m_awaited.remove(m_waiting[taken]);
    const RunRecord* const run = m_store.find(m_waiting[taken]);
    if (!run || !isListed(*run)) continue;
    items.push_back(makeItem(*run));
    measure(*items.back());  // which reads how its metric is written
  }
  m_waiting.remove(0, taken);
  return items;
}

void RunsModel::append(std::unique_ptr<Item> fresh) {
  m_places.insert(fresh->record.id, static_cast<int>(m_items.size()));
  Item& item = *m_items.emplace_back(std::move(fresh));
  count(item, 1);
  countDrawing(item, 1);
  setLikeness(item);
}

void RunsModel::wantNetwork(const Item& item) {
  if (!item.settings.empty()) m_networks.want(item.record.id, item.record.folder);
}

void RunsModel::takeMore() {
  std::vector<std::unique_ptr<Item>> items = takeWaiting(kLeastTaken, kSliceMs);
  const auto first = m_items.size();
  if (!items.empty()) {
    beginInsertRows({}, 0, static_cast<int>(items.size()) - 1);
    for (std::unique_ptr<Item>& each : items) append(std::move(each));
    endInsertRows();
  }
  if (m_waiting.isEmpty()) m_more.stop();
  refreshColumns();
  for (auto i = first; i < m_items.size(); ++i) wantNetwork(*m_items[i]);
  Q_EMIT shownChanged();
}

void RunsModel::takeAll() {
  while (!m_waiting.isEmpty()) takeMore();
}

void RunsModel::added(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  if (!run || !isListed(*run) || m_awaited.contains(id)) return;
  if (rowOf(id) >= 0) return refresh(id);  // a deleted one that was shown
  const QString newest = !m_waiting.isEmpty() ? m_waiting.last() : m_items.empty() ? QString() : this->run(0).id;
  // One that comes back has its place among the others.
  if (m_store.placeOf(newest) > m_store.placeOf(id)) return reload();
  if (!m_waiting.isEmpty()) {
    m_waiting << id;
    m_awaited.insert(id);
    return;
  }
  beginInsertRows({}, 0, 0);
  m_places.insert(id, static_cast<int>(m_items.size()));
  Item& item = *m_items.emplace_back(makeItem(*run));
  setLikeness(item);
  endInsertRows();
  count(item, 1);
  countDrawing(item, 1);
  measure(item);
  refreshColumns();
  wantNetwork(item);
  Q_EMIT shownChanged();
}

void RunsModel::removed(const QString& id) {
  const int row = rowOf(id);
  if (row < 0) return;
  if (const RunRecord* const run = m_store.find(id); run && isListed(*run)) return refresh(id);
  count(item(row), -1);
  countDrawing(item(row), -1);
  beginRemoveRows({}, row, row);
  const int place = m_places.take(id);
  m_items.erase(m_items.begin() + place);
  for (int& each : m_places)
    if (each > place) --each;
  endRemoveRows();
  refreshColumns();
  refreshNetworkNames();
  Q_EMIT shownChanged();
}

}  // namespace loom
