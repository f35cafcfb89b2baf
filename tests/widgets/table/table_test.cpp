// DataTable: painting from the theme, boxes, keys, frozen columns, sorting with missing values last.
#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QtTest>
#include <cmath>

#include "widgets/controls/commands.h"
#include "widgets/controls/empty_state.h"
#include "widgets/table/data_table.h"
#include "widgets/table/table_sort_model.h"
#include "widgets/theme/theme.h"

using namespace loom;

class TableTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<QStandardItemModel> m_model;
  std::unique_ptr<TableSortModel> m_sorted;
  std::unique_ptr<DataTable> m_table;

  void addRow(const QString& name, QVariant best, bool shown) {
    auto* check = new QStandardItem;
    check->setData(shown ? Qt::Checked : Qt::Unchecked, Qt::CheckStateRole);
    auto* swatch = new QStandardItem;
    if (shown) swatch->setData(m_model->rowCount(), kSwatchRole);
    auto* title = new QStandardItem(name);
    auto* number = new QStandardItem(best.isValid() ? best.toString() : QStringLiteral("–"));
    number->setData(best, kSortRole);
    m_model->appendRow({check, swatch, title, number, new QStandardItem("x"), new QStandardItem("y")});
  }
  QStringList names() const {
    QStringList result;
    for (int i = 0; i < m_sorted->rowCount(); ++i) result << m_sorted->index(i, 2).data().toString();
    return result;
  }
  QPoint cell(int row, int column) const { return m_table->visualRect(m_sorted->index(row, column)).center(); }

 private Q_SLOTS:
  // The box in the head stands for the rows that are there: it is painted again when others are.
  void theHeadFollowsTheRows() {
    struct Painted : QObject {
      int times = 0;
      bool eventFilter(QObject*, QEvent* event) override {
        times += event->type() == QEvent::Paint;
        return false;
      }
    } painted;
    m_table->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_table.get()));
    QTest::qWait(20);
    m_table->horizontalHeader()->viewport()->installEventFilter(&painted);
    const auto repainted = [&](const auto& change) {
      painted.times = 0;
      change();
      QTest::qWait(30);
      return painted.times > 0;
    };
    QVERIFY(repainted([&] { addRow("more", 1, false); }));
    QVERIFY(repainted([&] { m_model->removeRow(0); }));
    QVERIFY(repainted([&] { m_model->clear(); }));
    QCOMPARE(m_table->allChecked(), Qt::Unchecked);
  }

  void initTestCase() { m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light}); }
  void cleanupTestCase() {
    m_table.reset();
    m_theme.reset();
  }
  void init() {
    m_table.reset();
    m_model = std::make_unique<QStandardItemModel>(0, 6);
    m_sorted = std::make_unique<TableSortModel>();
    new QAbstractItemModelTester(m_sorted.get(), QAbstractItemModelTester::FailureReportingMode::QtTest,
                                 m_sorted.get());
    m_sorted->setSourceModel(m_model.get());
    m_table = std::make_unique<DataTable>();
    using K = ColumnKind;
    m_table->setColumns({{"", K::check, 46},
                         {"", K::swatch, 46},
                         {"Name", K::text, 160},
                         {"Best", K::number, 100},
                         {"Rule", K::text, 200, true},
                         {"Warm-up", K::text, 300, true}});
    m_table->setModel(m_sorted.get());
    m_table->setSortingEnabled(true);
    m_table->resize(460, 300);
    m_table->show();
    m_table->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_table.get()));
  }
  void fill() {
    addRow("run 10", 91.85, true);
    addRow("run 9", QVariant(), true);
    addRow("run 2", 84.2, false);
    addRow("run 1", std::nan(""), false);
  }

  void missingStandsLastEitherWay() {
    fill();
    m_table->sortByColumn(3, Qt::DescendingOrder);
    QCOMPARE(names(), (QStringList{"run 10", "run 2", "run 9", "run 1"}));
    m_table->sortByColumn(3, Qt::AscendingOrder);
    QCOMPARE(names().mid(0, 2), (QStringList{"run 2", "run 10"}));
    m_table->sortByColumn(2, Qt::AscendingOrder);
    QCOMPARE(names(), (QStringList{"run 1", "run 2", "run 9", "run 10"}));
  }

  void headSortsByClick() {
    fill();
    QHeaderView* head = m_table->horizontalHeader();
    const QPoint best(head->sectionViewportPosition(3) + 50, 15);
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {}, best);
    QCOMPARE(names().front(), QStringLiteral("run 10"));
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {}, best);
    QCOMPARE(names().front(), QStringLiteral("run 2"));
  }

  void rowsAreThirtyTwo() {
    fill();
    QCOMPARE(m_table->rowHeight(0), 32);
    QCOMPARE(m_table->horizontalHeader()->height(), 34);
    m_theme->setTextSize(150);
    QCOMPARE(m_table->rowHeight(0), 48);
    m_theme->setTextSize(100);
  }

  void boxesToggle() {
    fill();
    QCOMPARE(m_table->allChecked(), Qt::PartiallyChecked);
    m_table->sortByColumn(2, Qt::AscendingOrder);
    QTest::mouseClick(m_table->viewport(), Qt::LeftButton, {}, cell(0, 0));
    QCOMPARE(m_sorted->index(0, 0).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    QTest::mouseClick(m_table->viewport(), Qt::LeftButton, {}, cell(1, 0));
    QCOMPARE(m_table->allChecked(), Qt::Checked);
    QHeaderView* head = m_table->horizontalHeader();
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {}, QPoint(20, 15));
    QCOMPARE(m_table->allChecked(), Qt::Unchecked);
  }

  // What keys do is the registry's: those of the table's scope, as they are now, and nothing of a view's own beside
  // them.
  void keysAreCommandsOfThePage() {
    fill();
    Commands commands;
    QStringList ran;
    const auto add = [&](const char* id, const char* scope, const QList<QKeySequence>& keys) {
      commands.add({.id = id,
                    .group = "Runs",
                    .text = id,
                    .keys = keys,
                    .scope = scope,
                    .icon = {},
                    .family = {},
                    .possible = {}},
                   &commands, [&ran, id] { ran << id; });
    };
    add("runs.open", "runs/table", {Qt::Key_Return, Qt::Key_Enter});
    add("runs.delete", "runs/table", {Qt::Key_Delete});
    add("runs.draw", "runs/table", {Qt::Key_Space});
    add("data.other", "data/table", {Qt::Key_F4});
    m_table->setCommands(commands, "runs/table");
    QSignalSpy activated(m_table.get(), &DataTable::rowActivated);
    m_table->setFocus();
    m_table->setCurrentIndex(m_sorted->index(0, 2));
    QTest::keyClick(m_table.get(), Qt::Key_End);
    QCOMPARE(m_table->currentIndex().row(), 3);
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Delete, Qt::Key_Space, Qt::Key_F4})
      QTest::keyClick(m_table.get(), key);
    QCOMPARE(ran, (QStringList{"runs.open", "runs.delete", "runs.draw"}));
    QCOMPARE(activated.count(), 0);
    // Other keys, and the old ones mean nothing any more.
    commands.setKeys("runs.open", {QKeySequence("O")});
    commands.setKeys("runs.draw", {});
    ran.clear();
    QTest::keyClick(m_table.get(), Qt::Key_O);
    const QModelIndexList selected = m_table->selectionModel()->selectedRows();
    for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Space}) QTest::keyClick(m_table.get(), key);
    QCOMPARE(ran, QStringList{"runs.open"});
    QCOMPARE(activated.count(), 0);
    QCOMPARE(m_table->selectionModel()->selectedRows(), selected);
    QTest::mouseClick(m_table->viewport(), Qt::LeftButton, {}, cell(1, 3));
    QTest::mouseDClick(m_table->viewport(), Qt::LeftButton, {}, cell(1, 3));
    QCOMPARE(activated.count(), 1);
    QCOMPARE(activated[0][0].toInt(), 1);
  }

  void swatchIsPaintedAndClicked() {
    fill();
    m_table->sortByColumn(2, Qt::DescendingOrder);  // run 10 first, with colour 0
    const QImage image = m_table->viewport()->grab().toImage();
    QCOMPARE(image.pixelColor(cell(0, 1)), m_theme->curveColour(0));
    QSignalSpy clicked(m_table.get(), &DataTable::swatchClicked);
    QTest::mouseClick(m_table->viewport(), Qt::LeftButton, {}, cell(0, 1));
    QCOMPARE(clicked.count(), 1);
  }

  void hoverTellsTheRow() {
    fill();
    QSignalSpy hovered(m_table.get(), &DataTable::rowHovered);
    const QPointF over(cell(2, 3));
    QMouseEvent move(QEvent::MouseMove, over, m_table->viewport()->mapToGlobal(over), Qt::NoButton, Qt::NoButton, {});
    QApplication::sendEvent(m_table->viewport(), &move);
    QCOMPARE(m_table->hoveredRow(), 2);
    QCOMPARE(hovered.back()[0].toInt(), 2);
    const QImage image = m_table->viewport()->grab().toImage();
    QCOMPARE(image.pixelColor(cell(2, 3).x() - 40, cell(2, 3).y() - 12), m_theme->colour(Colour::hover));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(m_table->viewport(), &leave);
    QCOMPARE(m_table->hoveredRow(), -1);
  }

  void theRightButtonMeansTheRowOnEveryPart() {
    fill();
    m_table->setFrozenColumns(3);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    QSignalSpy wanted(m_table.get(), &QWidget::customContextMenuRequested);
    const QPoint at = m_table->frozenPart()->visualRect(m_sorted->index(1, 2)).center();
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, m_table->frozenPart()->viewport()->mapToGlobal(at));
    QApplication::sendEvent(m_table->frozenPart()->viewport(), &event);
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(m_table->indexAt(wanted[0][0].toPoint()).row(), 1);
  }

  void frozenColumnsStay() {
    fill();
    m_table->setFrozenColumns(3);
    QVERIFY(m_table->frozenPart()->isVisible());
    QCOMPARE(m_table->frozenPart()->width(), 46 + 46 + 160);
    m_table->horizontalScrollBar()->setValue(200);
    QCOMPARE(m_table->frozenPart()->columnViewportPosition(2), 92);
    QVERIFY(m_table->isFrozenEdge(2));
    // A click in the frozen part selects the row of both, a column that is scrolled to comes out from under it.
    QTest::mouseClick(m_table->frozenPart()->viewport(), Qt::LeftButton, {}, QPoint(120, 48));
    QVERIFY(m_table->selectionModel()->isRowSelected(1, {}));
    m_table->scrollTo(m_sorted->index(1, 3));
    QVERIFY(m_table->visualRect(m_sorted->index(1, 3)).left() >= m_table->frozenPart()->width());
    m_table->setColumnWidth(2, 100);
    QCOMPARE(m_table->frozenPart()->width(), 192);
  }

  void emptyStateShowsWhileEmpty() {
    auto* empty = new EmptyState(Figure::table, "Every Train makes a run");
    m_table->setEmptyState(empty);
    QVERIFY(empty->isVisible());
    fill();
    QVERIFY(!empty->isVisible());
    m_model->removeRows(0, m_model->rowCount());
    QVERIFY(empty->isVisible());
    fill();
    m_sorted->setRowFilter([](int) { return false; });
    QVERIFY(empty->isVisible());
  }

  void themeRepaints() {
    fill();
    m_table->sortByColumn(2, Qt::DescendingOrder);
    m_theme->setMode(ThemeMode::dark);
    QCOMPARE(m_table->viewport()->grab().toImage().pixelColor(cell(3, 3).x() - 40, cell(3, 3).y() - 12),
             m_theme->colour(Colour::surface));
    m_theme->setMode(ThemeMode::light);
  }
};

QTEST_MAIN(TableTest)
#include "table_test.moc"
