#pragma once
// Classes with precision, recall, F1 and support, or values with their errors: a model for a DataTable.
#include <QAbstractTableModel>
#include <QStringList>
#include <vector>

#include "engine/evaluation/output_evaluator.h"
#include "widgets/table/table_roles.h"

namespace loom {

class ClassTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  // Keeps copies of the words and figures alone.
  void setOutput(const EvaluatedOutput& output);
  std::vector<TableColumn> columns() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  double number(int row, int column) const;
  bool m_map = false;
  bool m_numbers = false;  // values in place of classes
  QStringList m_words;
  std::vector<ClassFigures> m_classes;
  std::vector<RegressionFigures> m_values;
};

}  // namespace loom
