#pragma once
// The rows of a dataset as a table: a column for the row number, one for each variable. Any number of rows; a row is read when
// it is drawn.
#include <QAbstractTableModel>
#include <QCache>
#include <QImage>

#include <map>
#include <memory>
#include <string>

#include "engine/data/check.h"
#include "engine/data/dataset.h"

namespace loom {

class SamplesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role { picture = Qt::UserRole + 1, fault };  // QImage; QString: the finding that names this row

  explicit SamplesModel(QObject* parent = nullptr);

  void setDataset(std::shared_ptr<const Dataset> dataset, std::int64_t firstRow);
  void setReport(const CheckReport* report);       // null = none
  void setClassNames(const QStringList& names);    // "cat" beside label 3

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  bool isPicture(int column) const;
  std::shared_ptr<const Dataset> dataset() const { return m_dataset; }
  // The model's row of a line of the CSV (the header is line 1), -1 where it is not shown.
  int rowOfLine(std::int64_t line) const;

 private:
  QVariant valueText(const QModelIndex& index) const;

  std::shared_ptr<const Dataset> m_dataset;
  std::int64_t m_firstRow = 0;
  QStringList m_classNames;
  std::map<std::int64_t, QString> m_faults;  // by line
  mutable QCache<quint64, QImage> m_pictures;
};

}  // namespace loom
