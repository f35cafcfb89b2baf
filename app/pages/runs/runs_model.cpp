#include "app/pages/runs/runs_model.h"

#include <QCryptographicHash>
#include <algorithm>
#include <cmath>

#include "app/run_groups.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr int kPauseMs = 2;  // between the slices in which thousands of runs are taken in
const std::string kParameters = "parameters";

QStringList strings(const std::vector<std::string>& texts) {
  QStringList list;
  for (const std::string& each : texts) list << QString::fromStdString(each);
  return list;
}

}  // namespace

RunsModel::RunsModel(RunStore& store, const RunMetrics& metrics, QObject* parent)
    : QAbstractTableModel(parent), m_store(store), m_metrics(metrics) {
  connect(&store, &RunStore::runChanged, this, &RunsModel::refresh);
  connect(&store, &RunStore::runAdded, this, &RunsModel::added);
  connect(&store, &RunStore::runRemoved, this, &RunsModel::removed);
  connect(&store, &RunStore::builtAnew, this, &RunsModel::reload);
  connect(&m_networks, &RunNetworks::read, this, &RunsModel::networksRead);
  m_more.setInterval(kPauseMs);
  connect(&m_more, &QTimer::timeout, this, &RunsModel::takeMore);
}

void RunsModel::setProject(const QString& project) {
  m_project = project;
  reload();
}

void RunsModel::setPutAway(bool withDeleted, bool withArchived) {
  if (withDeleted == m_withDeleted && withArchived == m_withArchived) return;
  m_withDeleted = withDeleted;
  m_withArchived = withArchived;
  reload();
}

bool RunsModel::isListed(const RunRecord& run) const {
  if (run.project != m_project || m_project.isEmpty()) return false;
  return run.deleted > 0 ? m_withDeleted : m_withArchived || !run.archived;
}

std::unique_ptr<RunsModel::Item> RunsModel::makeItem(const RunRecord& run) {
  auto item = std::make_unique<Item>();
  item->record = run;
  takeSettings(*item, run);
  return item;
}

void RunsModel::takeSettings(Item& item, const RunRecord& run) {
  item.given = run.settings;
  item.record.settings = withDefaults(run.settings);
  item.settingIds = m_values.take(item.record.settings);
  item.settings = namedSettings(item.given, item.record.settings);
  QCryptographicHash all(QCryptographicHash::Sha1);
  for (const NamedValue& each : item.settings)
    if (!isSeedSetting(QString::fromStdString(each.name)))
      all.addData(QByteArray::fromStdString(each.name + '=' + each.text + '\n'));
  item.settingsKey = item.settings.empty() ? QByteArray() : all.result();
}

void RunsModel::setLikeness(Item& item) {
  const auto network = m_networks.find(item.record.id);
  item.likeness = network && network->isKnown() && !item.settingsKey.isEmpty()
                      ? item.settingsKey + network->drawing + network->data
                      : QByteArray();
}

// What the columns are made of: metric, settings, drawings, words of a person.
void RunsModel::count(const Item& item, int by) {
  const RunRecord& run = item.record;
  if (!run.metric.isEmpty()) {
    Metric& metric = m_measured[run.metric];
    metric.runs += by;
    metric.ofValidation += run.metricOfValidation ? by : 0;
    if (by > 0) metric.sample = run.id;
  }
  NamedValues size;
  if (run.parameters > 0) size.push_back({kParameters, std::to_string(run.parameters), true, true});
  if (!item.settings.empty()) by > 0 ? m_settings.add(item.settings) : m_settings.remove(item.settings);
  if (!size.empty()) by > 0 ? m_sizes.add(size) : m_sizes.remove(size);
  m_tagged += run.tags.isEmpty() ? 0 : by;
  m_noted += run.note.isEmpty() ? 0 : by;
}

// Of a drawing that several runs have, its nodes are counted once.
void RunsModel::countDrawing(const Item& item, int by) {
  const auto network = m_networks.find(item.record.id);
  if (!network || !network->isKnown()) return;
  Drawing& drawn = m_drawn[network->drawing];
  if (by > 0 && drawn.runs == 0) m_drawings.add(network->values);
  drawn.network = network;
  drawn.runs += by;
  if (drawn.runs > 0) return;
  m_drawings.remove(network->values);
  m_drawn.remove(network->drawing);
}

bool RunsModel::findMostDrawn() {
  const Drawing* most = nullptr;
  bool shared = false;
  for (const Drawing& each : m_drawn) {
    if (most && each.runs < most->runs) continue;
    shared = most && each.runs == most->runs;
    most = &each;
  }
  std::shared_ptr<const RunNetwork> found = most && !shared ? most->network : nullptr;
  const bool other = (found ? found->drawing : QByteArray()) != (m_mostDrawn ? m_mostDrawn->drawing : QByteArray());
  m_mostDrawn = std::move(found);
  return other;
}

void RunsModel::refresh(const QString& id) {
  const int row = rowOf(id);
  const RunRecord* const run = m_store.find(id);
  if (!run) return;
  if (row < 0) return added(id);  // it was put away and comes back
  if (!isListed(*run)) return removed(id);
  Item& item = this->item(row);
  const RunRecord before = item.record;
  const bool settingsCame = run->settings != item.given;
  const bool counted = settingsCame || run->metric != before.metric || run->tags != before.tags ||
                       run->metricOfValidation != before.metricOfValidation || run->note != before.note ||
                       run->parameters != before.parameters;
  if (counted) count(item, -1);
  item.record = *run;
  if (settingsCame)
    takeSettings(item, *run);
  else
    item.record.settings = before.settings;
  if (counted) count(item, 1);
  if (settingsCame) setLikeness(item);
  // Only what a run writes by itself many times a second: an open editor of its name is left alone.
  Q_EMIT dataChanged(index(row, state), index(row, duration));
  const bool renamed = run->name != before.name, coloured = run->colour != before.colour;
  if (renamed || coloured) Q_EMIT dataChanged(index(row, colour), index(row, name));
  if (run->tags != before.tags || run->note != before.note) Q_EMIT dataChanged(index(row, tags), index(row, note));
  if (settingsCame || run->parameters != before.parameters)
    Q_EMIT dataChanged(index(row, network), index(row, columnCount() - 1));
  for (int column = best; column <= duration; ++column) measure(item, column);
  if (counted) {
    measure(item);
    refreshColumns();
  }
  if (settingsCame) m_networks.want(id, run->folder);
  if (renamed || coloured || settingsCame || run->metric != before.metric) Q_EMIT shownChanged();
}

void RunsModel::networksRead(const QStringList& ids) {
  for (const QString& id : ids) {
    const int row = rowOf(id);
    if (row < 0) continue;
    countDrawing(item(row), 1);
    setLikeness(item(row));
    Q_EMIT dataChanged(index(row, network), index(row, network));
  }
  refreshNetworkNames();
  for (const QString& id : ids)
    if (const int row = rowOf(id); row >= 0) measure(item(row), network);
  if (!m_arguments.empty()) Q_EMIT argumentsChanged();
}

// What one drawing lacks is no place on a scale.
void RunsModel::findArguments() {
  m_arguments = m_networkNames;
  std::erase_if(m_arguments,
                [this](const std::string& name) { return name.empty() || m_drawings.isMissingSomewhere(name); });
}

void RunsModel::refreshNetworkNames() {
  std::vector<std::string> names = networkDifferences(m_drawings);
  const bool other = findMostDrawn();
  if ((names == m_networkNames && !other) || m_items.empty()) return;
  m_networkNames = std::move(names);
  findArguments();
  m_widest.remove(keyOf(network));
  for (const auto& each : m_items) measure(*each, network);
  Q_EMIT dataChanged(index(0, network), index(count() - 1, network));
  Q_EMIT columnsChanged();
  Q_EMIT argumentsChanged();
}

void RunsModel::refreshMetric() {
  QString most;
  for (const auto& [metric, known] : m_measured)
    if (known.runs > 0 && (most.isEmpty() || known.runs > m_measured[most].runs)) most = metric;
  m_metric = most;
}

QStringList RunsModel::settingsThatDiffer() const {
  return m_items.size() < 2 ? QStringList() : strings(m_settings.names()).mid(0, kMostSettings);
}

void RunsModel::refreshColumns() {
  const QString metric = m_metric;
  refreshMetric();
  setDiffering(settingsThatDiffer());
  if (m_metric != metric) {
    Q_EMIT headerDataChanged(Qt::Horizontal, best, last);
    if (!m_items.empty()) Q_EMIT dataChanged(index(0, best), index(count() - 1, last));
  }
  Q_EMIT columnsChanged();
}

// Only the columns that come or go: what is selected and edited stays.
void RunsModel::setDiffering(const QStringList& keys) {
  if (keys == m_differing) return;
  qsizetype same = 0, end = 0;
  const qsizetype shorter = std::min(keys.size(), m_differing.size());
  while (same < shorter && keys[same] == m_differing[same]) ++same;
  while (end < shorter - same && keys[keys.size() - 1 - end] == m_differing[m_differing.size() - 1 - end]) ++end;
  const int from = fixedColumns + static_cast<int>(same);
  if (const qsizetype gone = m_differing.size() - same - end; gone > 0) {
    beginRemoveColumns({}, from, from + static_cast<int>(gone) - 1);
    m_differing.remove(same, gone);
    endRemoveColumns();
  }
  if (const qsizetype fresh = keys.size() - same - end; fresh > 0) {
    beginInsertColumns({}, from, from + static_cast<int>(fresh) - 1);
    for (qsizetype i = 0; i < fresh; ++i) m_differing.insert(same + i, keys[same + i]);
    endInsertColumns();
    for (qsizetype i = 0; i < fresh; ++i)
      for (const auto& each : m_items) measure(*each, from + static_cast<int>(i));
  }
}

int RunsModel::rowOf(const QString& id) const {
  const auto at = m_places.find(id);
  return at == m_places.end() ? -1 : count() - 1 - *at;
}

void RunsModel::setShown(const QStringList& ids, bool shown) {
  int first = count(), last = -1;
  for (const QString& id : ids) {
    if (shown == isShown(id)) continue;
    if (shown)
      m_hidden.remove(id);
    else
      m_hidden.insert(id);
    const int row = rowOf(id);
    if (row < 0) continue;
    first = std::min(first, row);
    last = std::max(last, row);
  }
  if (last < 0) return;
  Q_EMIT dataChanged(index(first, RunsModel::shown), index(last, name));
  Q_EMIT shownChanged();
}

void RunsModel::setHidden(const QStringList& ids) {
  m_hidden = {ids.begin(), ids.end()};
  if (!m_items.empty()) Q_EMIT dataChanged(index(0, RunsModel::shown), index(count() - 1, name));
  Q_EMIT shownChanged();
}

bool RunsModel::hasWords(int column) const {
  if (column == tags) return m_tagged > 0;
  if (column == note) return m_noted > 0;
  if (column == network) return !m_networkNames.empty();
  return column != parameters || m_sizes.differs(kParameters);
}

bool RunsModel::anyValidation() const {
  const auto found = m_measured.find(m_metric);
  return found != m_measured.end() && found->second.ofValidation > 0;
}

ValueKind RunsModel::metricKind() const {
  const auto found = m_measured.find(m_metric);
  const RunRecord* const sample = found == m_measured.end() ? nullptr : m_store.find(found->second.sample);
  return sample ? m_metrics.kind(*sample, m_metric) : ValueKind::loss;
}

Better RunsModel::metricBetter() const {
  const auto found = m_measured.find(m_metric);
  const RunRecord* const sample = found == m_measured.end() ? nullptr : m_store.find(found->second.sample);
  return sample ? m_metrics.better(*sample, m_metric) : Better::lower;
}

QStringList RunsModel::settingNames() const {
  return strings(m_settings.all());
}

QStringList RunsModel::filterNames() const {
  QStringList names = m_differing + settingNames();
  // The last part is enough, and for "optimizer.name" the group.
  for (QString& each : names) each = each.endsWith(".name") ? each.section('.', -2, -2) : each.section('.', -1);
  names << "name"
        << "state"
        << "best"
        << "last"
        << "loss"
        << "step"
        << "duration"
        << "parameters"
        << "tag";
  names.removeDuplicates();
  return names;
}

}  // namespace loom
