#pragma once
// A table of many rows: 32 px rows painted from the theme, monospaced numbers, check boxes, swatches, status shapes, a
// sticky head, and first columns that stay while the rest scrolls sideways. Any model will do; what its cells are
// stands in table_roles.h. Sorting is the model's business (TableSortModel).
#include <QPointer>
#include <QTableView>
#include <functional>
#include <vector>

#include "widgets/table/table_roles.h"

namespace loom {

class Commands;
class TableDelegate;
class TableHead;

class DataTable : public QTableView {
  Q_OBJECT

 public:
  explicit DataTable(QWidget* parent = nullptr);
  ~DataTable() override;

  // One a column of the model, in its order; more columns of the model than given are text.
  void setColumns(std::vector<TableColumn> columns);
  const TableColumn& column(int index) const;
  void setFrozenColumns(int count);  // how many first columns stay; 0 = none
  void setModel(QAbstractItemModel* model) override;

  // Shown in the middle while there are no rows; owned by the table.
  void setEmptyState(QWidget* widget);

  int hoveredRow() const { return m_hovered; }
  // What its keys do are commands of the page that it stands in: those of this scope, "runs/table". A double click is
  // rowActivated() whatever the keys are.
  void setCommands(Commands& commands, const QString& scope);

  // Where the model itself knows what the box in the head says and does, over rows that are not seen too.
  struct AllRows {
    std::function<Qt::CheckState()> checked;
    std::function<void(bool)> check;
  };
  void setAllRows(AllRows rows) { m_allRows = std::move(rows); }

  void setHoveredRow(int row);        // from a chart whose line is hovered; -1 = none
  Qt::CheckState allChecked() const;  // of the check column's rows
  void setAllChecked(bool checked);
  // The last frozen column while others are scrolled under it.
  bool isFrozenEdge(int column) const;
  void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;
  QTableView* frozenPart() const { return m_frozen; }

 Q_SIGNALS:
  void rowHovered(int row);    // -1 = none
  void rowActivated(int row);  // double click
  void swatchClicked(const QModelIndex& index);
  void opened(const QModelIndex& index, bool open);  // a row that opens others, by its sign or by Right and Left

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;

 private:
  friend class TableDelegate;
  friend class TableHead;
  void prepare(QTableView* view);
  void hoverAt(QTableView* view, const QPoint& position);
  void clicked_(QTableView* view, QMouseEvent* event);
  void placeFrozen();
  void refreshEmpty();
  void refreshHeads();
  int checkColumn() const;
  void toggle(int row);
  QModelIndex levelCell(int row) const;  // that has kLevelRole; invalid = none
  bool openByKey(const QKeyEvent& event);

  std::vector<TableColumn> m_columns;
  AllRows m_allRows;
  QPointer<Commands> m_commands;
  QString m_scope;
  QTableView* m_frozen;
  QWidget* m_empty = nullptr;
  int m_frozenCount = 0;
  int m_hovered = -1;
  bool m_freezing = false;  // the frozen part is being set up: its widths are not wishes
};

}  // namespace loom
