#pragma once
#include <QStyledItemDelegate>

namespace loom {

class DataTable;

// Paints the cells of a DataTable.
class TableDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit TableDelegate(DataTable* table);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  DataTable* m_table;
};

}  // namespace loom
