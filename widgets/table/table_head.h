#pragma once
#include <QHeaderView>

namespace loom {

class DataTable;

// The head of a DataTable: titles over their column's alignment, the sign of sorting, one box for all rows.
class TableHead : public QHeaderView {
  Q_OBJECT

 public:
  TableHead(DataTable* table, QWidget* parent);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void paintSection(QPainter* painter, const QRect& rect, int index) const override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  DataTable* m_table;
  int m_pressed = -1;
};

}  // namespace loom
