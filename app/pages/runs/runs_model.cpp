#include "app/pages/runs/runs_model.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <map>

#include "app/attempt.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "engine/base/error.h"
#include "launcher/store/run_store.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

const QString kMissing = QStringLiteral("–");
constexpr int kMostColumns = 12;
constexpr int kSortSign = 16, kNarrowest = 56, kWidest = 200, kMeasured = 200;

}  // namespace

RunsModel::RunsModel(RunStore& store, const RunMetrics& metrics, QObject* parent)
    : QAbstractTableModel(parent), m_store(store), m_metrics(metrics) {
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

// A record as the table has it: its settings with the defaults where it is silent.
RunRecord RunsModel::shownOf(const RunRecord& run) const {
  RunRecord shown = run;
  shown.settings = withDefaults(run.settings);
  return shown;
}

void RunsModel::reload() {
  beginResetModel();
  m_runs = m_project.isEmpty()
               ? QList<RunRecord>()
               : m_store.runs(m_project, m_withDeleted ? RunStore::Deleted::include : RunStore::Deleted::leaveOut);
  std::reverse(m_runs.begin(), m_runs.end());
  m_given.clear();
  for (RunRecord& run : m_runs) {
    m_given << run.settings;
    run = shownOf(run);
  }
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
  m_differing = m_runs.size() < 2 ? QStringList() : differingSettings(m_given).mid(0, kMostColumns);
}

void RunsModel::refresh(const QString& id) {
  const int row = rowOf(id);
  const RunRecord* const run = m_store.find(id);
  if (row < 0 || !run) return;
  const RunRecord before = m_runs[row];
  const bool settingsCame = run->settings != m_given[row];
  m_runs[row] = *run;
  if (settingsCame) {
    m_given[row] = run->settings;
    m_runs[row] = shownOf(*run);
  } else {
    m_runs[row].settings = before.settings;
  }
  if (settingsCame || run->metric != before.metric) {
    beginResetModel();
    findDifferences();
    endResetModel();
    Q_EMIT shownChanged();
    return;
  }
  // Only what a run writes by itself many times a second: an open editor of its name is left alone.
  Q_EMIT dataChanged(index(row, state), index(row, duration));
  const bool renamed = run->name != before.name, coloured = run->colour != before.colour;
  if (renamed || coloured) Q_EMIT dataChanged(index(row, colour), index(row, name));
  if (run->tags != before.tags || run->note != before.note) Q_EMIT dataChanged(index(row, tags), index(row, note));
  if (renamed || coloured) Q_EMIT shownChanged();
}

int RunsModel::rowOf(const QString& id) const {
  for (int row = 0; row < m_runs.size(); ++row)
    if (m_runs[row].id == id) return row;
  return -1;
}

void RunsModel::setShown(const QString& id, bool shown) {
  if (shown == isShown(id)) return;
  if (shown)
    m_hidden.remove(id);
  else
    m_hidden.insert(id);
  if (const int row = rowOf(id); row >= 0) Q_EMIT dataChanged(index(row, 0), index(row, columnCount() - 1));
  Q_EMIT shownChanged();
}

void RunsModel::setHidden(const QStringList& ids) {
  m_hidden = {ids.begin(), ids.end()};
  if (!m_runs.isEmpty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  Q_EMIT shownChanged();
}

bool RunsModel::hasWords(int column) const {
  return std::any_of(m_runs.begin(), m_runs.end(),
                     [&](const RunRecord& run) { return column == tags ? !run.tags.isEmpty() : !run.note.isEmpty(); });
}

ValueKind RunsModel::metricKind() const {
  for (const RunRecord& run : m_runs)
    if (run.metric == m_metric) return m_metrics.kind(run, m_metric);
  return ValueKind::loss;
}

Better RunsModel::metricBetter() const {
  for (const RunRecord& run : m_runs)
    if (run.metric == m_metric) return m_metrics.better(run, m_metric);
  return Better::lower;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}
int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : fixedColumns + static_cast<int>(m_differing.size());
}

QString RunsModel::text(const RunRecord& run, int column) const {
  switch (column) {
    case name:
      return run.name;
    case state:
      return run.deleted > 0 ? tr("Deleted") : stateWords(run);
    case best:
      return run.bestStep >= 0 ? m_metrics.number(run, run.best) : kMissing;
    case bestEpoch:
      return run.bestStep >= 0 && std::isfinite(run.bestEpoch) ? QString::number(std::round(run.bestEpoch * 10) / 10)
                                                               : kMissing;
    case last:
      return run.metric.isEmpty() ? kMissing : m_metrics.number(run, run.last);
    case loss:
      return run.step > 0 ? formatLoss(run.loss) : kMissing;
    case duration:
      return run.duration > 0 ? formatDuration(run.duration, true) : kMissing;
    case tags:
      return run.tags.join(", ");
    case note:
      return run.note;
    default:
      break;
  }
  if (column < fixedColumns) return {};
  const QString& key = m_differing[column - fixedColumns];
  const auto value = run.settings.find(key.toStdString());
  return value == run.settings.end() ? kMissing : textOfSetting(key, *value);
}

// Numbers stand in numbers' columns: a setting counts as one when every run that has it gives a number.
bool RunsModel::isNumber(int column) const {
  if (column < fixedColumns) return column >= best && column <= duration;
  const std::string key = m_differing[column - fixedColumns].toStdString();
  return std::all_of(m_runs.begin(), m_runs.end(), [&](const RunRecord& run) {
    const auto value = run.settings.find(key);
    return value == run.settings.end() || value->is_number();
  });
}

// As wide as its head with the sign of sorting and its widest value need: nothing of the first rows is cut, and little
// room is lost.
int RunsModel::widthOf(int column, const QString& title) const {
  const Theme& theme = Theme::of(this);
  const QFontMetrics head(Theme::withWeight(theme.font(FontRole::label), 600));
  const QFontMetrics cell(isNumber(column)
                              ? Theme::withWeight(theme.numberFont(FontRole::body), column == best ? 600 : 400)
                              : theme.font(FontRole::body));
  int widest = head.horizontalAdvance(title) + kSortSign;
  for (int row = 0; row < std::min<int>(kMeasured, static_cast<int>(m_runs.size())); ++row)
    widest = std::max(widest, cell.horizontalAdvance(text(m_runs[row], column)));
  return std::clamp(widest + 2 * kCellPadding, kNarrowest, kWidest);
}

std::vector<TableColumn> RunsModel::columns() const {
  std::vector<TableColumn> columns;
  for (int column = 0; column < columnCount(); ++column) {
    const QString title = headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    if (column == shown)
      columns.push_back({.kind = ColumnKind::check, .width = 44, .sortable = false});
    else if (column == colour)
      columns.push_back({.kind = ColumnKind::swatch, .width = 40, .sortable = false});
    else if (column == name)
      columns.push_back({.title = title, .width = 196});
    else if (column == state)
      columns.push_back({.title = title, .kind = ColumnKind::status, .width = 128});
    else if (column == tags || column == note)
      columns.push_back({.title = title, .width = column == tags ? 110 : 180});
    else
      columns.push_back({.title = title,
                         .kind = isNumber(column) ? ColumnKind::number : ColumnKind::text,
                         .width = widthOf(column, title),
                         .tinted = column >= fixedColumns});
  }
  return columns;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const RunRecord& run = m_runs[index.row()];
  const int column = index.column();
  switch (role) {
    case idRole:
      return run.id;
    case Qt::DisplayRole:
    case Qt::EditRole:
      return text(run, column);
    case Qt::CheckStateRole:
      return column == shown ? QVariant(isShown(run.id) ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::AccessibleTextRole:
      return column == shown    ? tr("Shown in the charts")
             : column == colour ? tr("Colour of the curve")
                                : text(run, column);
    case Qt::ToolTipRole:
      return column == state && !run.message.isEmpty() ? run.message
             : column == name                          ? run.folder
             : column == note                          ? run.note
                                                       : QVariant();
    case kSwatchRole:
      return column == colour && isShown(run.id) ? QVariant(run.colour) : QVariant();
    case kStatusRole:
      return column == state ? QVariant(static_cast<int>(statusOf(run.state))) : QVariant();
    case kStrongRole:
      return column == best || (column == name && isShown(run.id));
    case kToneRole:
      if (column == loss && run.step > 0 && !std::isfinite(run.loss)) return static_cast<int>(Tone::error);
      return text(run, column) == kMissing ? QVariant(static_cast<int>(Tone::quiet)) : QVariant();
    case kSortRole:
      return sortKey(run, column);
    default:
      return {};
  }
}

QVariant RunsModel::sortKey(const RunRecord& run, int column) const {
  switch (column) {
    case state:
      return static_cast<int>(run.state);
    case best:
      return run.bestStep >= 0 ? QVariant(run.best) : QVariant();
    case bestEpoch:
      return run.bestStep >= 0 ? QVariant(run.bestEpoch) : QVariant();
    case last:
      return run.metric.isEmpty() ? QVariant() : QVariant(run.last);
    case loss:
      return run.step > 0 ? QVariant(run.loss) : QVariant();
    case duration:
      return run.duration > 0 ? QVariant(run.duration) : QVariant();
    default:
      break;
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
  if (role != Qt::EditRole) return false;
  const QString text = value.toString().trimmed();
  if ((index.column() == name && !text.isEmpty()) || index.column() == tags || index.column() == note) {
    Q_EMIT edited(id, static_cast<Column>(index.column()), text);
    return true;
  }
  return false;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole && section >= fixedColumns) return m_differing[section - fixedColumns];
  if (role != Qt::DisplayRole) return {};
  const QString metric = m_metric.isEmpty()
                             ? tr("metric")
                             : titleOfMetric(m_metric).toLower() + (metricKind() == ValueKind::accuracy ? " %" : "");
  switch (section) {
    case name:
      return tr("Name");
    case state:
      return tr("State");
    case best:
      return tr("Best %1").arg(metric);
    case bestEpoch:
      return tr("at epoch");
    case last:
      return tr("Last %1").arg(metric);
    case loss:
      return tr("Loss");
    case duration:
      return tr("Duration");
    case tags:
      return tr("Tags");
    case note:
      return tr("Note");
    default:
      return section >= fixedColumns ? labelOfSetting(m_differing[section - fixedColumns]) : QVariant();
  }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  if (index.column() == shown) flags |= Qt::ItemIsUserCheckable;
  if (index.column() == name || index.column() == tags || index.column() == note) flags |= Qt::ItemIsEditable;
  return flags;
}

QStringList RunsModel::filterNames() const {
  QStringList names = m_differing;
  for (const RunRecord& run : m_runs)
    for (const auto& [key, value] : run.settings.items()) names << QString::fromStdString(key);
  // The last part is enough, and for "optimizer.name" the group.
  for (QString& each : names) each = each.endsWith(".name") ? each.section('.', -2, -2) : each.section('.', -1);
  names << "name"
        << "state"
        << "best"
        << "last"
        << "loss"
        << "step"
        << "duration"
        << "tag";
  names.removeDuplicates();
  return names;
}

QStringList RunsModel::filterValues(const QString& name) const {
  const auto quoted = [](const QString& text) { return '"' + text + '"'; };
  QStringList values;
  for (const RunRecord& run : m_runs) {
    if (name == "name")
      values << quoted(run.name);
    else if (name == "state")
      values << QString::fromLatin1(toKey(run.state));
    else if (name == "tag")
      for (const QString& tag : run.tags) values << quoted(tag);
    else
      for (const auto& [key, value] : run.settings.items()) {
        const QString setting = QString::fromStdString(key);
        if (setting != name && setting.section('.', -1) != name && setting != name + ".name") continue;
        values << (value.is_string() ? quoted(QString::fromStdString(value.get<std::string>()))
                                     : QString::fromStdString(value.dump()));
        break;
      }
  }
  values.removeDuplicates();
  std::sort(values.begin(), values.end(), naturalLess);
  return values;
}

namespace {

// What stands before the last "and".
QString withoutLast(const QString& expression) {
  static const QRegularExpression kAnd(R"(\s+and\s)", QRegularExpression::CaseInsensitiveOption);
  return expression.left(std::max<qsizetype>(0, expression.lastIndexOf(kAnd)));
}

}  // namespace

RunsFilter::RunsFilter(RunsModel& model, QObject* parent) : TableSortModel(parent), m_model(model) {
  setSourceModel(&model);
}

// The last part is the beginning of a comparison and not a word to look for: a name begins so, and no run has the word.
bool RunsFilter::beginsName(const QString& expression) const {
  if (rowCount() > 0) return false;
  static const QRegularExpression kAnd(R"(^\s*and\s+)", QRegularExpression::CaseInsensitiveOption);
  const QString last = expression.mid(withoutLast(expression).size()).remove(kAnd).trimmed().section(' ', 0, 0);
  const QStringList names = m_model.filterNames();
  return !last.isEmpty() && std::any_of(names.begin(), names.end(), [&](const QString& name) {
    return name.startsWith(last, Qt::CaseInsensitive);
  });
}

QString RunsFilter::setExpression(const QString& expression) {
  const auto take = [this](const QString& text) {
    const QString fault = attempt([&] { m_filter = RunFilter(text, m_model.runs()); });
    if (!fault.isEmpty()) return fault;
    m_model.setWithDeleted(m_filter.wantsDeleted());
    setRowFilter([this](int row) { return m_filter.holds(m_model.run(row)); });
    return fault;
  };
  const QString fault = take(expression);
  if (fault.isEmpty() && beginsName(expression)) {
    take(withoutLast(expression));
    return fault;
  }
  if (fault.isEmpty()) {
    m_good = expression;
  } else if (expression.startsWith(m_good)) {
    // The words with which a comparison begins were never meant as a filter: what stands before it holds.
    take(withoutLast(expression));
  }
  return fault;
}

}  // namespace loom
