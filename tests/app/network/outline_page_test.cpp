// The outline beside the canvas: what is selected in one is selected in the other, and its keys and menu edit the
// drawing.
#include <QClipboard>

#include "tests/app/network/units_page_test.h"
#include "tests/widgets/window_hand.h"

namespace loom {

void UnitsPageTest::theOutlineFollowsAndLeads() {
  open(drawings::kUnits);
  NetworkSide& side = m_page->side();
  QTest::mouseClick(&side.choice(), Qt::LeftButton, {}, side.choice().segment(1).center());
  QVERIFY(side.showsOutline());
  settle();
  OutlineTree& tree = side.outline().tree();
  click(card("fc"));
  settle();
  QCOMPARE(tree.selectionModel()->selectedIndexes().size(), 1);
  QCOMPARE(tree.selectionModel()->selectedIndexes().front().data().toString(), QString("fc"));
  const QModelIndex pool = side.outline().row("main", "pool");
  tree.scrollTo(pool);
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualRect(pool).center());
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"pool"});
  // Enter goes there, also into a unit.
  const QModelIndex inner = tree.model()->index(1, 0, side.outline().row("main", "down2"));
  tree.expand(inner.parent());
  tree.setCurrentIndex(inner);
  tree.setFocus();
  key(Qt::Key_Return);
  settle();
  QCOMPARE(m_page->scene().networkName(), std::string("ResidualDown"));
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"conv_a"});
}

void UnitsPageTest::keysOfTheOutlineHoldForTheDrawing() {
  open(drawings::kUnits);
  m_page->side().showOutline(true);
  settle();
  OutlinePanel& outline = m_page->side().outline();
  OutlineTree& tree = outline.tree();
  const auto take = [&](const QModelIndex& row) {
    tree.scrollTo(row);
    QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualRect(row).center());
    QVERIFY(tree.hasFocus());
  };
  const auto has = [&](const char* from, const char* to) {
    const Edge edge{{from, "output"}, {to, "input"}};
    return std::find(drawn().edges.begin(), drawn().edges.end(), edge) != drawn().edges.end();
  };
  take(outline.row("main", "pool"));
  key(Qt::Key_Delete);
  QVERIFY(drawn().find("pool") == nullptr && !has("stage3", "fc"));
  QVERIFY(tree.hasFocus());
  document().undoStack().undo();
  settle();
  take(outline.row("main", "pool"));
  key(Qt::Key_Backspace);
  QVERIFY(drawn().find("pool") == nullptr && has("stage3", "fc"));
  take(outline.row("main", "fc"));
  key(Qt::Key_C, Qt::ControlModifier);
  QVERIFY(QApplication::clipboard()->text().contains("\"fc\""));
  // A letter jumps; those of the canvas mean nothing here.
  key(Qt::Key_C);
  QVERIFY(drawn().comments.empty());
  QVERIFY(tree.currentIndex().data().toString().startsWith('c'));
  // A row below a use stands for a node of the unit: what is on the canvas is not meant.
  take(outline.row("main", "fc"));
  const int steps = document().undoStack().index();
  const QModelIndex inner = tree.model()->index(1, 0, outline.row("main", "down2"));
  tree.expand(inner.parent());
  take(inner);
  key(Qt::Key_Delete);
  QCOMPARE(document().undoStack().index(), steps);
  // Keys that a person changed hold here too.
  m_commands.setKeys("network.delete", {QKeySequence("Ctrl+Backspace")});
  take(outline.row("main", "fc"));
  key(Qt::Key_Delete);
  QVERIFY(drawn().find("fc") != nullptr);
  key(Qt::Key_Backspace, Qt::ControlModifier);
  QVERIFY(drawn().find("fc") == nullptr);
  m_commands.resetKeys("network.delete");
}

void UnitsPageTest::theMenuOfTheOutline() {
  open(drawings::kUnits);
  m_page->side().showOutline(true);
  settle();
  OutlineTree& tree = m_page->side().outline().tree();
  QStringList ids;
  const auto choose = [&](const QModelIndex& row, const QStringList& words) {
    tree.scrollTo(row);
    const QPoint place = tree.viewport()->mapTo(m_page.get(), tree.visualRect(row).center());
    menuByHand(m_page->windowHandle(), place, words, [&](const QMenu& menu) {
      ids.clear();
      for (const QAction* each : menu.actions()) {
        const QString id = each->property(kCommandProperty).toString();
        QVERIFY2(each->isSeparator() || m_commands.find(id) != nullptr, qPrintable(each->text()));
        QVERIFY2(each->isSeparator() || each->shortcuts() == m_commands.find(id)->shortcuts(), qPrintable(id));
        ids += id;
      }
    });
    settle();
  };
  choose(m_page->side().outline().row("main", "conv1"), {"Duplicate"});
  for (const char* id : {"network.outline-go", "network.outline-rename", "network.copy", "network.make-unit",
                         "network.group", "network.delete-heal", "network.outline-search"})
    QVERIFY2(ids.contains(id), id);
  QVERIFY(drawn().find("conv2") != nullptr);
  choose(m_page->side().outline().row("main", "pool"), {"Delete and heal"});
  QVERIFY(drawn().find("pool") == nullptr);
  // Of a unit: it can be gone to and renamed, no more.
  const QModelIndex inner = tree.model()->index(1, 0, m_page->side().outline().row("main", "down2"));
  tree.expand(inner.parent());
  choose(inner, {"Go to it"});
  QVERIFY(!ids.contains("network.delete"));
  QCOMPARE(m_page->scene().networkName(), std::string("ResidualDown"));
}

void UnitsPageTest::whatIsRemembered() {
  open(drawings::kUnits);
  m_page->side().showOutline(true);
  m_page->scene().setDimming(true);
  m_page->scene().setNetwork("Residual");
  const QJsonObject layout = m_page->saveLayout();
  m_page->side().showOutline(false);
  m_page->scene().setDimming(false);
  m_page->scene().setNetwork("main");
  m_page->restoreLayout(layout);
  QVERIFY(m_page->side().showsOutline());
  QVERIFY(m_page->scene().dimming());
  QCOMPARE(m_page->scene().networkName(), std::string("Residual"));
}

void UnitsPageTest::placesInsideFoldedGroups() {
  open(drawings::kSmall);
  const std::string id = document().makeGroup("main", {"relu", "pool"}, "Middle");
  document().setFolded("main", id, true);
  settle();
  QVERIFY(m_page->scene().card("relu") == nullptr);
  QVERIFY(m_page->show(Place{.page = "network", .network = "main", .node = "relu"}));
  QVERIFY(m_page->scene().card("relu") != nullptr);
  QCOMPARE(m_page->scene().pickedNodes(), std::vector<std::string>{"relu"});
}

}  // namespace loom
