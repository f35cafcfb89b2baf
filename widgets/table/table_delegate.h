#pragma once
#include <QStyledItemDelegate>

#include "widgets/table/cell_pictures.h"
#include "widgets/table/cell_texts.h"

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
  void paintNumber(QPainter& painter, const QRectF& content, const QModelIndex& index, const QString& text) const;
  void paintWords(QPainter& painter, const QRectF& content, const QModelIndex& index, const QString& text) const;

  DataTable* m_table;
  mutable CellTexts m_texts;
  mutable CellPictures m_pictures;
};

}  // namespace loom
