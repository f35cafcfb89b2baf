#include "widgets/evaluation/class_table_model.h"

#include <cmath>

#include "widgets/chart/format.h"

namespace loom {
namespace {

constexpr double kLowRecall = 0.5;  // told in the colour of a warning
enum Column { kName, kFirst, kSecond, kThird, kLast, kShared, kColumns };

}  // namespace

void ClassTableModel::setOutput(const EvaluatedOutput& output) {
  beginResetModel();
  m_numbers = output.kind == EvaluatedOutput::numbers;
  m_words.clear();
  for (const std::string& each : output.words) m_words << QString::fromStdString(each);
  // A number alone is called like what it stands for; of several each has its place.
  if (m_numbers && m_words.size() == 1 && !output.target.empty()) m_words = {QString::fromStdString(output.target)};
  m_classes = output.table.classes;
  m_map = output.isMap();
  m_values = output.values;
  endResetModel();
}

std::vector<TableColumn> ClassTableModel::columns() const {
  const auto number = [](const QString& title, int width) {
    return TableColumn{.title = title, .kind = ColumnKind::number, .width = width};
  };
  if (m_numbers)
    return {{.title = tr("Value"), .kind = ColumnKind::text, .width = 100},
            number(tr("R²"), 84),
            number(tr("MAE"), 92),
            number(tr("RMSE"), 92),
            number(tr("Bias"), 92)};
  std::vector<TableColumn> columns{{.title = tr("Class"), .kind = ColumnKind::text, .width = 120},
                                   number(tr("Precision"), 88),
                                   number(tr("Recall"), 80),
                                   number(tr("F1"), 72),
                                   number(tr("Support"), 84)};
  if (m_map) columns.push_back(number(tr("IoU"), 72));
  return columns;
}

int ClassTableModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return static_cast<int>(m_numbers ? m_values.size() : m_classes.size());
}

int ClassTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : m_map ? kColumns : kShared;
}

double ClassTableModel::number(int row, int column) const {
  const auto place = static_cast<std::size_t>(row);
  if (m_numbers) {
    const RegressionFigures& each = m_values[place];
    const double figures[] = {each.r2, each.mae, each.rmse, each.bias};
    return figures[column - 1];
  }
  const ClassFigures& each = m_classes[place];
  const double figures[] = {each.precision, each.recall, each.f1, static_cast<double>(each.support),
                            intersectionOverUnion(each)};
  return figures[column - 1];
}

QVariant ClassTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  const int row = index.row(), column = index.column();
  if (column == kName) {
    if (role == Qt::DisplayRole) return m_words.value(row);
    return role == kSortRole ? QVariant(row) : QVariant();
  }
  const double value = number(row, column);
  const bool missing = !m_numbers && m_classes[static_cast<std::size_t>(row)].support == 0 && column != kLast;
  if (role == kSortRole) return missing || !std::isfinite(value) ? QVariant() : QVariant(value);
  if (role == Qt::DisplayRole) {
    if (missing) return QStringLiteral("–");
    if (m_numbers) return column == kFirst ? formatFixed(value, 4) : formatShort(value);
    return column == kLast ? formatCount(value) : formatFixed(100 * value, 1);
  }
  if (role == kToneRole && !m_numbers && column == kSecond && !missing && value < kLowRecall)
    return static_cast<int>(Tone::warning);
  if (role == Qt::ToolTipRole && missing) return tr("No sample is of this class");
  return {};
}

QVariant ClassTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section >= columnCount()) return {};
  return columns()[static_cast<std::size_t>(section)].title;
}

}  // namespace loom
