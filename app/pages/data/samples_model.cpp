#include "app/pages/data/samples_model.h"

#include <algorithm>
#include <limits>

#include "app/pages/data/sample_picture.h"
#include "engine/base/error.h"

namespace loom {

namespace {

constexpr qsizetype kPictureBytes = qsizetype{128} << 20;
constexpr int kLargestPicture = 512;         // twice what is ever drawn, for dense screens
constexpr std::int64_t kElementColumns = 256;  // of a vector that stand in columns of their own

}  // namespace

SamplesModel::SamplesModel(QObject* parent) : QAbstractTableModel(parent), m_pictures(kPictureBytes) {}

void SamplesModel::setDataset(std::shared_ptr<const Dataset> dataset) {
  beginResetModel();
  m_dataset = std::move(dataset);
  m_text = {};
  m_columns.clear();
  if (m_dataset) {
    const auto& variables = m_dataset->schema().variables;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const std::int64_t elements = variables[v].kind == VariableKind::vector ? variables[v].shape.elements() : 0;
      if (elements < 1 || elements > kElementColumns) m_columns.push_back({v, -1});
      else for (std::int64_t e = 0; e < elements; ++e) m_columns.push_back({v, e});
    }
  }
  m_faults.clear();
  m_pictures.clear();
  endResetModel();
}

void SamplesModel::setText(TextRows text) {
  beginResetModel();
  m_dataset.reset();
  m_columns.clear();
  m_pictures.clear();
  m_text = std::move(text);
  endResetModel();
}

void SamplesModel::setReport(const CheckReport* report) {
  m_faults.clear();
  if (report) {
    for (const Fault& fault : report->faults)
      if (fault.line > 1 && fault.severity != FaultSeverity::info) m_faults.try_emplace(fault.line, QString::fromStdString(fault.message()));
  }
  repaint();
}

void SamplesModel::setClassNames(std::map<std::string, QStringList> names) {
  m_classNames = std::move(names);
  repaint();
}

void SamplesModel::repaint() {
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int SamplesModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  if (!m_dataset) return static_cast<int>(m_text.rows.size());
  return static_cast<int>(std::min<std::int64_t>(m_dataset->size(), std::numeric_limits<int>::max()));
}

int SamplesModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  if (!m_dataset) return m_text.header.empty() ? 0 : 1 + static_cast<int>(m_text.header.size());
  return 1 + static_cast<int>(m_columns.size());
}

bool SamplesModel::isPicture(int column) const {
  return m_dataset && column > 0 && m_dataset->schema().variables[m_columns[column - 1].variable].kind == VariableKind::image;
}

bool SamplesModel::isNumber(int column) const {
  if (!m_dataset || column <= 0) return false;
  const Column& shown = m_columns[column - 1];
  return shown.element >= 0 || m_dataset->schema().variables[shown.variable].kind == VariableKind::scalar;
}

std::int64_t SamplesModel::lineOf(int row) const {
  return m_dataset ? m_dataset->sourceRow(row) + 2 : m_text.rows[static_cast<std::size_t>(row)].first;
}

int SamplesModel::rowOfLine(std::int64_t line) const {
  int low = 0, high = rowCount();  // lines rise with the rows
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (lineOf(middle) < line) low = middle + 1;
    else high = middle;
  }
  return low < rowCount() && lineOf(low) == line ? low : -1;
}

QVariant SamplesModel::valueText(const QModelIndex& index) const {
  Shape shape;
  const Column& column = m_columns[index.column() - 1];
  const Variable& variable = m_dataset->schema().variables[column.variable];
  auto bytes = m_dataset->read(index.row(), column.variable, &shape);
  if (column.element >= 0) return sampleText(bytes.subspan(static_cast<std::size_t>(column.element) * bytesOf(variable.type)), Shape{1}, variable.type);
  if (variable.kind == VariableKind::image) return QString::fromStdString(shape.toString());
  QString text = sampleText(bytes, shape, variable.type);
  if (variable.kind == VariableKind::scalar) {
    bool integer = false;
    const int label = text.toInt(&integer);
    const auto names = m_classNames.find(variable.name);
    if (integer && names != m_classNames.end() && label >= 0 && label < names->second.size()) text += QStringLiteral("  ") + names->second[label];
  }
  if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix)
    text = QString::fromStdString(shape.toString()) + QStringLiteral("   ") + text;
  return text;
}

QVariant SamplesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::int64_t line = lineOf(index.row());
  if (role == fault) {
    const auto found = m_faults.find(line);
    return found == m_faults.end() ? QVariant() : QVariant(found->second);
  }
  if (role == Qt::ToolTipRole) return data(index, fault);
  if (role == number) return isNumber(index.column());
  if (index.column() == 0) return role == Qt::DisplayRole ? QVariant(QString::number(line)) : QVariant();
  if (!m_dataset) {
    const auto& cells = m_text.rows[static_cast<std::size_t>(index.row())].second;
    if ((role != Qt::DisplayRole && role != Qt::AccessibleTextRole) || index.column() > static_cast<int>(cells.size())) return {};
    return QString::fromStdString(cells[static_cast<std::size_t>(index.column() - 1)]);
  }
  try {
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return valueText(index);
    if (role == picture && isPicture(index.column())) {
      const quint64 key = static_cast<quint64>(index.row()) * static_cast<quint64>(columnCount()) + static_cast<quint64>(index.column());
      if (const QImage* cached = m_pictures.object(key)) return *cached;
      Shape shape;
      const std::size_t variable = m_columns[index.column() - 1].variable;
      const auto bytes = m_dataset->read(index.row(), variable, &shape);
      QImage image = samplePicture(bytes, shape, m_dataset->schema().variables[variable].type);
      if (image.width() > kLargestPicture || image.height() > kLargestPicture)
        image = image.scaled(kLargestPicture, kLargestPicture, Qt::KeepAspectRatio, Qt::SmoothTransformation);
      m_pictures.insert(key, new QImage(image), image.sizeInBytes());
      return image;
    }
  } catch (const Error& error) {
    if (role == Qt::DisplayRole) return QString::fromStdString(error.message());
  }
  return {};
}

QVariant SamplesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::TextAlignmentRole) return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  if (section == 0) return QStringLiteral("Line");
  if (!m_dataset) return QString::fromStdString(m_text.header[static_cast<std::size_t>(section - 1)]);
  const Column& column = m_columns[section - 1];
  const Variable& variable = m_dataset->schema().variables[column.variable];
  if (column.element >= 0) {
    const auto element = static_cast<std::size_t>(column.element);
    if (element < variable.elementLabels.size() && !variable.elementLabels[element].empty()) return QString::fromStdString(variable.elementLabels[element]);
    return QStringLiteral("%1__%2").arg(QString::fromStdString(variable.name)).arg(column.element);
  }
  QString text = QString::fromStdString(variable.name);
  if (!variable.label.empty() && variable.elementLabels.empty()) text += ":" + QString::fromStdString(variable.label);
  return text;
}

}  // namespace loom
