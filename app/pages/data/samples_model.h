#pragma once
// The rows of a dataset as a table: a column for the row number, one for each variable, and of a vector one for each of its
// numbers. Any number of rows; a row is read when it is drawn. Of a file that cannot be opened the first rows as text.
#include <QAbstractTableModel>
#include <QCache>
#include <QImage>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/check.h"
#include "engine/data/dataset.h"

namespace loom {

// The beginning of a CSV as it stands.
struct TextRows {
  std::vector<std::string> header;
  std::vector<std::pair<std::int64_t, std::vector<std::string>>> rows;  // line, cells
};

class SamplesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role { picture = Qt::UserRole + 1, fault, number };  // QImage; QString: the finding that names this row; a number stands here

  explicit SamplesModel(QObject* parent = nullptr);

  void setDataset(std::shared_ptr<const Dataset> dataset);
  void setText(TextRows text);                     // in place of a dataset
  void setReport(const CheckReport* report);       // null = none
  void setClassNames(std::map<std::string, QStringList> names);  // by variable: "cat" beside label 3

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  bool isPicture(int column) const;
  bool isNumber(int column) const;  // one number a cell
  std::shared_ptr<const Dataset> dataset() const { return m_dataset; }
  // The model's row of a line of the CSV (the header is line 1), -1 where it is not shown.
  int rowOfLine(std::int64_t line) const;
  qsizetype pictureBytes() const { return m_pictures.totalCost(); }
  void setMostPictureBytes(qsizetype bytes) { m_pictures.setMaxCost(bytes); }

 private:
  struct Column {
    std::size_t variable = 0;
    std::int64_t element = -1;  // of a vector; -1 = the variable as a whole
  };
  std::int64_t lineOf(int row) const;
  QVariant valueText(const QModelIndex& index) const;
  void repaint();

  std::shared_ptr<const Dataset> m_dataset;
  std::vector<Column> m_columns;
  TextRows m_text;
  std::map<std::string, QStringList> m_classNames;
  std::map<std::int64_t, QString> m_faults;  // by line
  mutable QCache<quint64, QImage> m_pictures;  // by bytes
};

}  // namespace loom
