#include "app/pages/data/samples_model.h"

#include <algorithm>
#include <limits>

#include "app/pages/data/sample_picture.h"
#include "engine/base/error.h"

namespace loom {

SamplesModel::SamplesModel(QObject* parent) : QAbstractTableModel(parent), m_pictures(2000) {}

void SamplesModel::setDataset(std::shared_ptr<const Dataset> dataset, std::int64_t firstRow) {
  beginResetModel();
  m_dataset = std::move(dataset);
  m_firstRow = firstRow;
  m_faults.clear();
  m_pictures.clear();
  endResetModel();
}

void SamplesModel::setReport(const CheckReport* report) {
  m_faults.clear();
  if (report) {
    for (const Fault& fault : report->faults)
      if (fault.line > 1 && fault.severity != FaultSeverity::info) m_faults.try_emplace(fault.line, QString::fromStdString(fault.message()));
  }
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void SamplesModel::setClassNames(const QStringList& names) {
  m_classNames = names;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int SamplesModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !m_dataset) return 0;
  return static_cast<int>(std::min<std::int64_t>(m_dataset->size(), std::numeric_limits<int>::max()));
}

int SamplesModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid() || !m_dataset) return 0;
  return 1 + static_cast<int>(m_dataset->schema().variables.size());
}

bool SamplesModel::isPicture(int column) const {
  return m_dataset && column > 0 && m_dataset->schema().variables[column - 1].kind == VariableKind::image;
}

int SamplesModel::rowOfLine(std::int64_t line) const {
  const std::int64_t row = line - 2 - m_firstRow;
  return row >= 0 && row < rowCount() ? static_cast<int>(row) : -1;
}

QVariant SamplesModel::valueText(const QModelIndex& index) const {
  Shape shape;
  const Variable& variable = m_dataset->schema().variables[index.column() - 1];
  const auto bytes = m_dataset->read(index.row(), index.column() - 1, &shape);
  if (variable.kind == VariableKind::image) return QString::fromStdString(shape.toString());
  QString text = sampleText(bytes, shape, variable.type);
  if (variable.kind == VariableKind::scalar) {
    bool integer = false;
    const int label = text.toInt(&integer);
    if (integer && label >= 0 && label < m_classNames.size()) text += QStringLiteral("  ") + m_classNames[label];
  }
  if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix)
    text = QString::fromStdString(shape.toString()) + QStringLiteral("   ") + text;
  return text;
}

QVariant SamplesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_dataset) return {};
  const std::int64_t line = m_firstRow + index.row() + 2;
  if (role == fault) {
    const auto found = m_faults.find(line);
    return found == m_faults.end() ? QVariant() : QVariant(found->second);
  }
  if (role == Qt::ToolTipRole) return data(index, fault);
  if (index.column() == 0) return role == Qt::DisplayRole ? QVariant(QString::number(line)) : QVariant();
  try {
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return valueText(index);
    if (role == picture && isPicture(index.column())) {
      const quint64 key = static_cast<quint64>(index.row()) * 64 + index.column();
      if (const QImage* cached = m_pictures.object(key)) return *cached;
      Shape shape;
      const auto bytes = m_dataset->read(index.row(), index.column() - 1, &shape);
      const QImage image = samplePicture(bytes, shape, m_dataset->schema().variables[index.column() - 1].type);
      m_pictures.insert(key, new QImage(image));
      return image;
    }
  } catch (const Error& error) {
    if (role == Qt::DisplayRole) return QString::fromStdString(error.message());
  }
  return {};
}

QVariant SamplesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || !m_dataset) return {};
  if (section == 0) return QStringLiteral("Line");
  const Variable& variable = m_dataset->schema().variables[section - 1];
  QString text = QString::fromStdString(variable.name);
  if (!variable.label.empty() && variable.elementLabels.empty()) text += ":" + QString::fromStdString(variable.label);
  return text;
}

}  // namespace loom
