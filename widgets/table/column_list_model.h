#pragma once
// The columns of an analysis as ColumnList shows them: in an order, some left away by a text.
#include <QAbstractListModel>
#include <QStyledItemDelegate>

#include "widgets/table/column_list.h"

namespace loom {

// What stands where numbers would: "4 words: ok, worn, leak, jam", "always 4", "300 pictures".
QString contentWords(const ColumnFacts& column);

class ColumnListModel : public QAbstractListModel {
  Q_OBJECT

 public:
  using QAbstractListModel::QAbstractListModel;
  void setFacts(std::shared_ptr<const TableFacts> facts);
  void setMarks(std::map<std::string, ColumnMark> marks);
  void arrange(ColumnList::Order order, const QString& filter);
  const QString& filter() const { return m_filter; }

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
  }
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override {
    return QAbstractListModel::flags(index) | (index.isValid() ? Qt::ItemIsEditable : Qt::NoItemFlags);
  }
  const ColumnFacts& column(int row) const { return m_facts->columns[m_rows[static_cast<std::size_t>(row)]]; }
  const ColumnMark& mark(const std::string& column) const;
  int rowOf(const std::string& column) const;

 Q_SIGNALS:
  void renamed(const QString& column, const QString& to);

 private:
  std::vector<std::size_t> wanted() const;
  QString nameOf(const ColumnFacts& column) const;

  std::shared_ptr<const TableFacts> m_facts;
  std::map<std::string, ColumnMark> m_marks;
  std::vector<std::size_t> m_rows;  // columns of the analysis
  ColumnList::Order m_order = ColumnList::Order::file;
  QString m_filter;
};

}  // namespace loom
