#include "app/pages/runs/runs_model.h"

#include <QHash>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/run_display.h"
#include "engine/base/error.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

const QString kMissing = QStringLiteral("–");
constexpr int kMostColumns = 12;

QString textOf(const Json& value) {
  return value.is_string() ? QString::fromStdString(value.get<std::string>())
         : value.is_number_float() ? formatRate(value.get<double>())
         : value.is_number_integer() ? formatCount(value.get<double>())
                                     : QString::fromStdString(value.dump());
}

// "optimizer.learning_rate" -> "Learning rate"; "optimizer.name" -> "Optimizer".
QString titleOf(const QString& key) {
  QString title = key.section('.', -1);
  if (title == "name" && key.contains('.')) title = key.section('.', -2, -2);
  title.replace('_', ' ');
  return title.left(1).toUpper() + title.mid(1);
}

}  // namespace

RunsModel::RunsModel(RunStore& store, QObject* parent) : QAbstractTableModel(parent), m_store(store) {
  connect(&store, &RunStore::runChanged, this, &RunsModel::refresh);
  connect(&store, &RunStore::runAdded, this, &RunsModel::reload);
  connect(&store, &RunStore::runRemoved, this, &RunsModel::reload);
}

void RunsModel::setProject(const QString& project) {
  m_project = project;
  reload();
}

void RunsModel::setWithDeleted(bool with) {
  if (with == m_withDeleted) return;
  m_withDeleted = with;
  reload();
}

void RunsModel::reload() {
  beginResetModel();
  m_runs = m_project.isEmpty() ? QList<RunRecord>() : m_store.runs(m_project, m_withDeleted ? RunStore::Deleted::include : RunStore::Deleted::leaveOut);
  std::reverse(m_runs.begin(), m_runs.end());
  findDifferences();
  endResetModel();
  Q_EMIT shownChanged();
}

// Metric of most runs; settings that are not the same everywhere, in the order of the first run that has them.
void RunsModel::findDifferences() {
  std::map<QString, int> metrics;
  for (const RunRecord& run : std::as_const(m_runs))
    if (!run.metric.isEmpty()) ++metrics[run.metric];
  m_metric.clear();
  for (const auto& [metric, count] : metrics)
    if (m_metric.isEmpty() || count > metrics[m_metric]) m_metric = metric;
  m_differing.clear();
  if (m_runs.size() < 2) return;
  QStringList keys;
  QHash<QString, std::set<std::string>> values;
  int told = 0;
  for (const RunRecord& run : std::as_const(m_runs)) {
    if (run.settings.empty()) continue;
    ++told;
    for (const auto& [key, value] : run.settings.items()) {
      const QString name = QString::fromStdString(key);
      if (!values.contains(name)) keys << name;
      values[name].insert(value.dump());
    }
  }
  for (const QString& key : std::as_const(keys)) {
    int having = 0;
    for (const RunRecord& run : std::as_const(m_runs)) having += run.settings.contains(key.toStdString());
    if ((values[key].size() > 1 || having < told) && m_differing.size() < kMostColumns) m_differing << key;
  }
}

void RunsModel::refresh(const QString& id) {
  const int row = rowOf(id);
  const RunRecord* const run = m_store.find(id);
  if (row < 0 || !run) return;
  const bool settingsCame = run->settings != m_runs[row].settings || run->metric != m_runs[row].metric;
  m_runs[row] = *run;
  if (settingsCame) {
    beginResetModel();
    findDifferences();
    endResetModel();
    Q_EMIT shownChanged();
    return;
  }
  Q_EMIT dataChanged(index(row, 0), index(row, columnCount() - 1));
}

int RunsModel::rowOf(const QString& id) const {
  for (int row = 0; row < m_runs.size(); ++row)
    if (m_runs[row].id == id) return row;
  return -1;
}

void RunsModel::setShown(const QString& id, bool shown) {
  if (shown == isShown(id)) return;
  if (shown) m_hidden.remove(id);
  else m_hidden.insert(id);
  if (const int row = rowOf(id); row >= 0) Q_EMIT dataChanged(index(row, 0), index(row, columnCount() - 1));
  Q_EMIT shownChanged();
}

void RunsModel::setHidden(const QStringList& ids) {
  m_hidden = {ids.begin(), ids.end()};
  if (!m_runs.isEmpty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  Q_EMIT shownChanged();
}

int RunsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_runs.size()); }
int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : fixedColumns + static_cast<int>(m_differing.size());
}

QString RunsModel::text(const RunRecord& run, int column) const {
  const bool fraction = kindOfMetric(run.metric) == ValueKind::accuracy;
  const auto metric = [&](double value) { return fraction && std::isfinite(value) ? formatFixed(value * 100, 2) : formatMetric(run.metric, value); };
  switch (column) {
    case name: return run.name;
    case state: return run.deleted > 0 ? tr("Deleted") : stateWords(run);
    case best: return run.bestStep >= 0 ? metric(run.best) : kMissing;
    case bestEpoch: return run.bestStep >= 0 && std::isfinite(run.bestEpoch) ? QString::number(std::round(run.bestEpoch * 10) / 10) : kMissing;
    case last: return run.metric.isEmpty() ? kMissing : metric(run.last);
    case loss: return run.step > 0 ? formatLoss(run.loss) : kMissing;
    case duration: return run.duration > 0 ? formatDuration(run.duration, true) : kMissing;
    default: break;
  }
  if (column < fixedColumns) return {};
  const auto value = run.settings.find(m_differing[column - fixedColumns].toStdString());
  return value == run.settings.end() ? kMissing : textOf(*value);
}

// Numbers stand in numbers' columns: a setting counts as one when every run that has it gives a number.
bool RunsModel::isNumber(int column) const {
  if (column < fixedColumns) return column >= best;
  const std::string key = m_differing[column - fixedColumns].toStdString();
  return std::all_of(m_runs.begin(), m_runs.end(), [&](const RunRecord& run) {
    const auto value = run.settings.find(key);
    return value == run.settings.end() || value->is_number();
  });
}

std::vector<TableColumn> RunsModel::columns() const {
  std::vector<TableColumn> columns;
  for (int column = 0; column < columnCount(); ++column) {
    const QString title = headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    if (column == shown) columns.push_back({.kind = ColumnKind::check, .width = 44, .sortable = false});
    else if (column == colour) columns.push_back({.kind = ColumnKind::swatch, .width = 40, .sortable = false});
    else if (column == name) columns.push_back({.title = title, .width = 196});
    else if (column == state) columns.push_back({.title = title, .kind = ColumnKind::status, .width = 128});
    else columns.push_back({.title = title, .kind = isNumber(column) ? ColumnKind::number : ColumnKind::text,
                            .width = std::max(84, static_cast<int>(title.size()) * 8 + 28), .tinted = column >= fixedColumns});
  }
  return columns;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const RunRecord& run = m_runs[index.row()];
  const int column = index.column();
  switch (role) {
    case idRole: return run.id;
    case Qt::DisplayRole:
    case Qt::EditRole: return text(run, column);
    case Qt::CheckStateRole: return column == shown ? QVariant(isShown(run.id) ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::AccessibleTextRole: return column == shown ? tr("Shown in the charts") : column == colour ? tr("Colour of the curve") : text(run, column);
    case Qt::ToolTipRole:
      return column == state && !run.message.isEmpty() ? run.message : column == name ? run.folder + (run.note.isEmpty() ? QString() : '\n' + run.note) : QVariant();
    case kSwatchRole: return column == colour && isShown(run.id) ? QVariant(run.colour) : QVariant();
    case kStatusRole: return column == state ? QVariant(static_cast<int>(statusOf(run.state))) : QVariant();
    case kStrongRole: return column == best || (column == name && isShown(run.id));
    case kToneRole:
      if (column == loss && run.step > 0 && !std::isfinite(run.loss)) return static_cast<int>(Tone::error);
      return text(run, column) == kMissing ? QVariant(static_cast<int>(Tone::quiet)) : QVariant();
    case kSortRole: return sortKey(run, column);
    default: return {};
  }
}

QVariant RunsModel::sortKey(const RunRecord& run, int column) const {
  switch (column) {
    case state: return static_cast<int>(run.state);
    case best: return run.bestStep >= 0 ? QVariant(run.best) : QVariant();
    case bestEpoch: return run.bestStep >= 0 ? QVariant(run.bestEpoch) : QVariant();
    case last: return run.metric.isEmpty() ? QVariant() : QVariant(run.last);
    case loss: return run.step > 0 ? QVariant(run.loss) : QVariant();
    case duration: return run.duration > 0 ? QVariant(run.duration) : QVariant();
    default: break;
  }
  if (column < fixedColumns) return text(run, column);
  const auto value = run.settings.find(m_differing[column - fixedColumns].toStdString());
  if (value == run.settings.end()) return {};
  return value->is_number() ? QVariant(value->get<double>()) : QVariant(text(run, column));
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid()) return false;
  const QString id = m_runs[index.row()].id;
  if (role == Qt::CheckStateRole && index.column() == shown) {
    setShown(id, value.toInt() == Qt::Checked);
    return true;
  }
  if (role == Qt::EditRole && index.column() == name && !value.toString().trimmed().isEmpty()) {
    Q_EMIT renamed(id, value.toString().trimmed());
    return true;
  }
  return false;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole && section >= fixedColumns) return m_differing[section - fixedColumns];
  if (role != Qt::DisplayRole) return {};
  const bool fraction = kindOfMetric(m_metric) == ValueKind::accuracy;
  const QString metric = m_metric.isEmpty() ? tr("metric") : titleOfMetric(m_metric).toLower() + (fraction ? " %" : "");
  switch (section) {
    case name: return tr("Name");
    case state: return tr("State");
    case best: return tr("Best %1").arg(metric);
    case bestEpoch: return tr("at epoch");
    case last: return tr("Last %1").arg(metric);
    case loss: return tr("Loss");
    case duration: return tr("Duration");
    default: return section >= fixedColumns ? titleOf(m_differing[section - fixedColumns]) : QVariant();
  }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  if (index.column() == shown) flags |= Qt::ItemIsUserCheckable;
  if (index.column() == name) flags |= Qt::ItemIsEditable;
  return flags;
}

RunsFilter::RunsFilter(RunsModel& model, QObject* parent) : TableSortModel(parent), m_model(model) { setSourceModel(&model); }

QString RunsFilter::setExpression(const QString& expression) {
  try {
    m_filter = RunFilter(expression, m_model.runs());
  } catch (const Error& error) {
    return QString::fromStdString(error.message());
  }
  m_model.setWithDeleted(m_filter.wantsDeleted());
  setRowFilter([this](int row) { return m_filter.holds(m_model.run(row)); });
  return {};
}

}  // namespace loom
