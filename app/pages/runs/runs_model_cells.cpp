// What stands in the cells of the table of runs, and how wide they are.
#include <algorithm>
#include <array>
#include <cmath>

#include "app/pages/runs/runs_model.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "widgets/table/table_sort_model.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

const QString kMissing = QStringLiteral("–");
constexpr int kSortSign = 16, kNarrowest = 56, kWidest = 200, kWidestNetwork = 280;
constexpr std::array<const char*, RunsModel::fixedColumns> kKeys{
    "shown", "colour", "name",     "runs", "state", "best",    "seeds",     "best_epoch",
    "last",  "loss",   "duration", "tags", "note",  "network", "parameters"};

}  // namespace

QString RunsModel::keyOf(int column) const {
  if (column < 0 || column >= columnCount()) return {};
  return column < fixedColumns ? QString::fromLatin1(kKeys[static_cast<std::size_t>(column)])
                               : '=' + m_differing[column - fixedColumns];
}

int RunsModel::columnOf(const QString& key) const {
  for (int column = 0; column < columnCount() && !key.isEmpty(); ++column)
    if (keyOf(column) == key) return column;
  return -1;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}
int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : fixedColumns + static_cast<int>(m_differing.size());
}

QString RunsModel::text(const RunRecord& run, int column) const {
  switch (column) {
    case name:
      return run.name;
    case state:
      return run.deleted > 0 ? tr("Deleted") : run.archived ? tr("Archived") : stateWords(run);
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
    case network: {
      const auto drawn = m_networks.find(run.id);
      return drawn ? describeNetwork(*drawn, m_networkNames, m_mostDrawn.get()) : QString();
    }
    case parameters:
      return run.parameters > 0 ? formatCount(static_cast<double>(run.parameters)) : kMissing;
    default:
      return column < fixedColumns ? QString() : settingText(run, column);
  }
}

QString RunsModel::settingText(const RunRecord& run, int column) const {
  const QString& key = m_differing[column - fixedColumns];
  const auto value = run.settings.find(key.toStdString());
  return value == run.settings.end() ? kMissing : textOfSetting(key, *value);
}

// Numbers stand in numbers' columns: a setting counts as one when every run that has it gives a number.
bool RunsModel::isNumber(int column) const {
  if (column < fixedColumns) return (column >= best && column <= duration) || column == parameters;
  return m_settings.isNumber(m_differing[column - fixedColumns].toStdString());
}

// What a number of the best or last is of, where that is not what the column's head says.
QString RunsModel::otherMetric(const RunRecord& run, int column) const {
  const bool measured = column == best ? run.bestStep >= 0 : column == last && !run.metric.isEmpty();
  return measured && run.metric != m_metric ? titleOfMetric(run.metric).toLower() : QString();
}

void RunsModel::measure(const Item& item, int column) {
  const QString other = otherMetric(item.record, column);
  const QString words = text(item.record, column) + (other.isEmpty() ? QString() : "  " + other);
  QString& widest = m_widest[keyOf(column)];
  if (words.size() <= widest.size()) return;
  widest = words;
  Q_EMIT columnsChanged();
}

void RunsModel::measure(const Item& item) {
  for (int column = best; column < columnCount(); ++column)
    if (column != seeds && column != tags && column != note) measure(item, column);
}

// Pixels in which words stand, where text is larger.
int RunsModel::withText(int pixels) const {
  return pixels * std::max(100, Theme::of(this).textSize()) / 100;
}

// As wide as its head with the sign of sorting and its longest value need: little room is lost.
int RunsModel::widthOf(int column, const QString& title) const {
  const Theme& theme = Theme::of(this);
  const QFontMetrics head(Theme::withWeight(theme.font(FontRole::label), 600));
  const QFontMetrics cell(isNumber(column)
                              ? Theme::withWeight(theme.numberFont(FontRole::body), column == best ? 600 : 400)
                              : theme.font(FontRole::body));
  const int widest =
      std::max(head.horizontalAdvance(title) + kSortSign, cell.horizontalAdvance(m_widest.value(keyOf(column))));
  return std::clamp(widest + 2 * kCellPadding, kNarrowest, withText(column == network ? kWidestNetwork : kWidest));
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
      columns.push_back({.title = title, .width = withText(196)});
    else if (column == runs)
      columns.push_back({.title = title, .kind = ColumnKind::number, .width = withText(84)});
    else if (column == state)
      columns.push_back({.title = title, .kind = ColumnKind::status, .width = withText(128)});
    else if (column == seeds)
      columns.push_back({.title = title, .kind = ColumnKind::dots, .width = withText(140), .sortable = false});
    else if (column == tags || column == note)
      columns.push_back({.title = title, .width = withText(column == tags ? 110 : 180)});
    else
      columns.push_back({.title = title,
                         .kind = isNumber(column) ? ColumnKind::number : ColumnKind::text,
                         .width = widthOf(column, title),
                         .tinted = column >= fixedColumns || (column >= network && hasWords(column))});
  }
  return columns;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const RunRecord& run = item(index.row()).record;
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
                                : QString(text(run, column) + ' ' + otherMetric(run, column)).trimmed();
    case kRemarkRole:
      return otherMetric(run, column);
    case Qt::ToolTipRole:
      return column == state && !run.message.isEmpty() ? run.message
             : column == name                          ? run.folder
             : column == note                          ? run.note
             : column == network                       ? text(run, network)
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
    case parameters:
      return run.parameters > 0 ? QVariant(static_cast<qlonglong>(run.parameters)) : QVariant();
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
  const QString id = item(index.row()).record.id;
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
    case runs:
      return tr("Runs");
    case state:
      return tr("State");
    case best:
      return tr("Best %1").arg(metric);
    case seeds:
      return tr("Seeds");
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
    case network:
      return tr("Network");
    case parameters:
      return tr("Parameters");
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

QStringList RunsModel::filterValues(const QString& name) const {
  const auto quoted = [](const QString& text) { return '"' + text + '"'; };
  QStringList values;
  if (name == "name" || name == "state" || name == "tag") {
    if (name == "state")
      values << "archived"
             << "deleted";
    for (const auto& each : m_items) {
      if (name == "name") values << quoted(each->record.name);
      if (name == "state") values << QString::fromLatin1(toKey(each->record.state));
      if (name == "tag")
        for (const QString& tag : each->record.tags) values << quoted(tag);
    }
  } else {
    for (const std::string& each : m_settings.all()) {
      const QString setting = QString::fromStdString(each);
      if (setting != name && setting.section('.', -1) != name && setting != name + ".name") continue;
      for (const std::string& text : m_settings.texts(each)) values << QString::fromStdString(text);
    }
  }
  values.removeDuplicates();
  std::sort(values.begin(), values.end(), naturalLess);
  return values;
}

}  // namespace loom
