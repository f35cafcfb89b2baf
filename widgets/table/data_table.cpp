#include "widgets/table/data_table.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>

#include "widgets/controls/commands.h"
#include "widgets/table/table_delegate.h"
#include "widgets/table/table_head.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

DataTable::DataTable(QWidget* parent) : QTableView(parent), m_frozen(new QTableView(this)) {
  prepare(this);
  prepare(m_frozen);
  m_frozen->setFocusPolicy(Qt::NoFocus);
  m_frozen->setFocusProxy(this);
  m_frozen->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_frozen->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_frozen->setObjectName(QStringLiteral("frozen"));
  m_frozen->hide();
  m_frozen->viewport()->installEventFilter(this);
  // A click with the right button means the row, on whichever part of it.
  m_frozen->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(m_frozen, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    const QPoint there = viewport()->mapFrom(this, m_frozen->mapTo(this, m_frozen->viewport()->mapTo(m_frozen, at)));
    if (contextMenuPolicy() == Qt::CustomContextMenu) Q_EMIT customContextMenuRequested(there);
  });
  setProperty("focusRadius", -1);
  connect(m_frozen->verticalScrollBar(), &QScrollBar::valueChanged, verticalScrollBar(), &QScrollBar::setValue);
  connect(verticalScrollBar(), &QScrollBar::valueChanged, m_frozen->verticalScrollBar(), &QScrollBar::setValue);
  connect(horizontalScrollBar(), &QScrollBar::valueChanged, m_frozen->viewport(), QOverload<>::of(&QWidget::update));
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int index, int, int width) {
    if (index < m_frozenCount) m_frozen->setColumnWidth(index, width);
    placeFrozen();
  });
  connect(m_frozen->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int index, int, int width) {
    // Hiding a column there resizes it to nothing; that is no wish for this part.
    if (!m_freezing && index < m_frozenCount && width > 0) setColumnWidth(index, width);
  });
  connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, [this](int index, Qt::SortOrder order) {
    m_frozen->horizontalHeader()->setSortIndicator(index, order);
    m_frozen->horizontalHeader()->viewport()->update();
  });
  connect(this, &QTableView::activated, this, [this](const QModelIndex& index) { Q_EMIT rowActivated(index.row()); });
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    for (QTableView* view : {static_cast<QTableView*>(this), m_frozen})
      view->verticalHeader()->setDefaultSectionSize(Theme::of(this).size(Size::tableRow));
  });
}

DataTable::~DataTable() = default;

void DataTable::prepare(QTableView* view) {
  auto* head = new TableHead(this, view);
  view->setHorizontalHeader(head);
  view->setItemDelegate(new TableDelegate(this));  // one each: both would answer for an editor of the other
  view->setShowGrid(false);
  view->setFrameShape(QFrame::NoFrame);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  view->setEditTriggers(QAbstractItemView::EditKeyPressed);
  view->setMouseTracking(true);
  view->setWordWrap(false);
  view->setTabKeyNavigation(false);
  view->setCornerButtonEnabled(false);
  view->verticalHeader()->hide();
  view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  view->verticalHeader()->setMinimumSectionSize(16);
  view->verticalHeader()->setDefaultSectionSize(Theme::of(this).size(Size::tableRow));
  keepHeight(view->horizontalHeader(), Size::tableHead);
}

void DataTable::setColumns(std::vector<TableColumn> columns) {
  m_columns = std::move(columns);
  if (!model()) return;
  for (int i = 0; i < model()->columnCount(); ++i) {
    setColumnWidth(i, column(i).width);
    if (i < m_frozenCount) m_frozen->setColumnWidth(i, column(i).width);
  }
  placeFrozen();
  viewport()->update();
}

const TableColumn& DataTable::column(int index) const {
  static const TableColumn other;
  return index >= 0 && static_cast<std::size_t>(index) < m_columns.size() ? m_columns[static_cast<std::size_t>(index)]
                                                                          : other;
}

void DataTable::setModel(QAbstractItemModel* model) {
  if (this->model()) disconnect(this->model(), nullptr, this, nullptr);
  QTableView::setModel(model);
  m_frozen->setModel(model);
  if (!model) return;
  m_frozen->setSelectionModel(selectionModel());
  setColumns(m_columns);
  setFrozenColumns(m_frozenCount);
  for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
    connect(model, signal, this, &DataTable::refreshEmpty);
    connect(model, signal, this, &DataTable::refreshHeads);
  }
  for (const auto act : {&DataTable::refreshHeads, &DataTable::refreshEmpty})
    connect(model, &QAbstractItemModel::layoutChanged, this, act);
  connect(model, &QAbstractItemModel::modelReset, this, [this] {
    setColumns(m_columns);
    setFrozenColumns(m_frozenCount);
    refreshEmpty();
    refreshHeads();
  });
  connect(model, &QAbstractItemModel::columnsInserted, this, [this] {
    // Rows are selected, with the cells that just came.
    selectionModel()->select(selectionModel()->selection(), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    setColumns(m_columns);
    setFrozenColumns(m_frozenCount);
  });
  connect(model, &QAbstractItemModel::dataChanged, this, [this](const QModelIndex& from, const QModelIndex& to) {
    const int check = checkColumn();
    if (from.column() <= check && check <= to.column()) refreshHeads();
  });
  refreshEmpty();
}

// The box in the head stands for all rows: those that come, go or change.
void DataTable::refreshHeads() {
  horizontalHeader()->viewport()->update();
  m_frozen->horizontalHeader()->viewport()->update();
}

void DataTable::setFrozenColumns(int count) {
  m_frozenCount = count;
  if (!model()) return;
  m_freezing = true;
  for (int i = 0; i < model()->columnCount(); ++i) {
    m_frozen->setColumnHidden(i, i >= count);
    if (i < count) m_frozen->setColumnWidth(i, columnWidth(i));
  }
  m_freezing = false;
  m_frozen->setVisible(count > 0);
  placeFrozen();
}

void DataTable::placeFrozen() {
  if (m_frozenCount == 0 || !model()) return;
  int width = 0;
  for (int i = 0; i < std::min(m_frozenCount, model()->columnCount()); ++i) width += columnWidth(i);
  m_frozen->setGeometry(0, 0, std::min(width, viewport()->width()),
                        horizontalHeader()->height() + viewport()->height());
  m_frozen->verticalScrollBar()->setValue(verticalScrollBar()->value());
  m_frozen->raise();
}

bool DataTable::isFrozenEdge(int column) const {
  return m_frozenCount > 0 && column == m_frozenCount - 1 && horizontalScrollBar()->value() > 0;
}

void DataTable::setEmptyState(QWidget* widget) {
  delete m_empty;
  m_empty = widget;
  if (widget) widget->setParent(viewport());
  refreshEmpty();
}

void DataTable::refreshEmpty() {
  if (!m_empty) return;
  const bool empty = !model() || model()->rowCount() == 0;
  m_empty->setGeometry(viewport()->rect());
  m_empty->setVisible(empty);
}

void DataTable::setHoveredRow(int row) {
  if (row == m_hovered) return;
  m_hovered = row;
  viewport()->update();
  m_frozen->viewport()->update();
}

void DataTable::hoverAt(QTableView* view, const QPoint& position) {
  const int row = view->rowAt(position.y());
  if (row == m_hovered) return;
  setHoveredRow(row);
  Q_EMIT rowHovered(row);
}

bool DataTable::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::MouseMove)
    hoverAt(this, static_cast<QMouseEvent*>(event)->pos());
  else if (event->type() == QEvent::Leave)
    hoverAt(this, QPoint(0, -1));
  return QTableView::viewportEvent(event);
}

bool DataTable::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_frozen->viewport()) {
    if (event->type() == QEvent::MouseMove)
      hoverAt(m_frozen, static_cast<QMouseEvent*>(event)->pos());
    else if (event->type() == QEvent::Leave)
      hoverAt(m_frozen, QPoint(0, -1));
    else if (event->type() == QEvent::MouseButtonPress)
      setFocus(Qt::MouseFocusReason);
    else if (event->type() == QEvent::MouseButtonRelease)
      clicked_(m_frozen, static_cast<QMouseEvent*>(event));
    else if (event->type() == QEvent::MouseButtonDblClick) {
      const QModelIndex index = m_frozen->indexAt(static_cast<QMouseEvent*>(event)->pos());
      if (index.isValid()) Q_EMIT rowActivated(index.row());
    }
  }
  return QTableView::eventFilter(watched, event);
}

void DataTable::mouseReleaseEvent(QMouseEvent* event) {
  clicked_(this, event);
  QTableView::mouseReleaseEvent(event);
}

void DataTable::clicked_(QTableView* view, QMouseEvent* event) {
  const QModelIndex index = view->indexAt(event->pos());
  if (event->button() != Qt::LeftButton || !index.isValid()) return;
  if (column(index.column()).kind == ColumnKind::check)
    toggle(index.row());
  else if (column(index.column()).kind == ColumnKind::swatch)
    Q_EMIT swatchClicked(index);
  const QVariant level = index.data(kLevelRole);
  const int in = event->pos().x() - view->visualRect(index).left();
  if (level.isValid() && level.toInt() != static_cast<int>(Level::inside) && in < kLevelWidth + kCellPadding)
    Q_EMIT opened(index, level.toInt() == static_cast<int>(Level::closed));
}

QModelIndex DataTable::levelCell(int row) const {
  for (int i = 0; model() && row >= 0 && i < model()->columnCount(); ++i)
    if (const QModelIndex cell = model()->index(row, i); cell.data(kLevelRole).isValid()) return cell;
  return {};
}

// Right opens, Left closes, from inside too.
bool DataTable::openByKey(const QKeyEvent& event) {
  const bool right = event.key() == Qt::Key_Right;
  if ((!right && event.key() != Qt::Key_Left) || (event.modifiers() & ~Qt::KeypadModifier)) return false;
  int row = currentIndex().row();
  const auto levelOf = [&] { return levelCell(row).data(kLevelRole); };
  if (!levelOf().isValid()) return false;
  while (!right && row > 0 && levelOf().toInt() == static_cast<int>(Level::inside)) --row;
  const QModelIndex cell = levelCell(row);
  const auto level = static_cast<Level>(cell.data(kLevelRole).toInt());
  if (level == Level::inside) return true;
  if (row != currentIndex().row()) setCurrentIndex(cell);
  if ((level == Level::open) != right) Q_EMIT opened(cell, right);
  return true;
}

int DataTable::checkColumn() const {
  for (std::size_t i = 0; i < m_columns.size(); ++i) {
    if (m_columns[i].kind == ColumnKind::check) return static_cast<int>(i);
  }
  return -1;
}

Qt::CheckState DataTable::allChecked() const {
  if (m_allRows.checked) return m_allRows.checked();
  const int column = checkColumn();
  if (column < 0 || !model()) return Qt::Unchecked;
  int checked = 0, rows = 0;
  for (int row = 0; row < model()->rowCount(); ++row) {
    const QVariant state = model()->index(row, column).data(Qt::CheckStateRole);
    if (!state.isValid()) continue;
    ++rows;
    if (state.toInt() == Qt::Checked) ++checked;
  }
  return checked == 0 ? Qt::Unchecked : checked == rows ? Qt::Checked : Qt::PartiallyChecked;
}

void DataTable::setAllChecked(bool checked) {
  if (m_allRows.check) return m_allRows.check(checked);
  const int column = checkColumn();
  if (column < 0 || !model()) return;
  for (int row = 0; row < model()->rowCount(); ++row) {
    model()->setData(model()->index(row, column), checked ? Qt::Checked : Qt::Unchecked, Qt::CheckStateRole);
  }
}

void DataTable::toggle(int row) {
  const QModelIndex box = model()->index(row, checkColumn());
  const bool checked = box.data(Qt::CheckStateRole).toInt() != Qt::Checked;
  model()->setData(box, checked ? Qt::Checked : Qt::Unchecked, Qt::CheckStateRole);
}

void DataTable::setCommands(Commands& commands, const QString& scope) {
  m_commands = &commands;
  m_scope = scope;
}

void DataTable::keyPressEvent(QKeyEvent* event) {
  if (state() != EditingState && openByKey(*event)) return;
  if (state() != EditingState && m_commands) {
    if (const QAction* const command = m_commands->findByKeys(m_scope, *event))
      return m_commands->press(Commands::idOf(*command), this);
    // A view has plans of its own for these: a person who gave a command other keys wants none of them.
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space ||
        event->matches(QKeySequence::SelectAll))
      return event->ignore();
  }
  QTableView::keyPressEvent(event);
}

// Home and End go to the first and last row: rows are what is chosen here.
QModelIndex DataTable::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
  if (model() && model()->rowCount() > 0 && (action == MoveHome || action == MoveEnd)) {
    return model()->index(action == MoveHome ? 0 : model()->rowCount() - 1, std::max(currentIndex().column(), 0));
  }
  return QTableView::moveCursor(action, modifiers);
}

// A frozen cell is always seen; the others must come out from under the frozen part.
void DataTable::scrollTo(const QModelIndex& index, ScrollHint hint) {
  if (index.column() >= m_frozenCount) {
    QTableView::scrollTo(index, hint);
    const int left = visualRect(index).left();
    const int covered = m_frozenCount > 0 ? m_frozen->width() : 0;
    if (left < covered) horizontalScrollBar()->setValue(horizontalScrollBar()->value() + left - covered);
    return;
  }
  const int at = horizontalScrollBar()->value();
  QTableView::scrollTo(index, hint);
  horizontalScrollBar()->setValue(at);
}

void DataTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  placeFrozen();
  refreshEmpty();
}

}  // namespace loom
