// The outline by hand: keys, the menu of the right button.
#include "tests/patience.h"
#include "tests/widgets/outline/outline_test.h"

namespace loom {

// In the window, where the row is in sight.
QPoint OutlineTest::placeOf(const QString& text) const {
  OutlineTree& tree = m_panel->tree();
  const auto* shown = qobject_cast<const QSortFilterProxyModel*>(tree.model());
  const QModelIndex index = shown->mapFromSource(row(text));
  tree.scrollTo(index);
  return tree.viewport()->mapTo(m_panel.get(), tree.visualRect(index).center());
}

void OutlineTest::keysOfTheTree() {
  OutlineTree& tree = m_panel->tree();
  QSignalSpy go(m_panel.get(), &OutlinePanel::goTo), leaving(m_panel.get(), &OutlinePanel::leaving);
  m_panel->focusTree();
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&tree));
  for (int i = 0; i < 5; ++i) QTest::keyClick(&tree, Qt::Key_Down);
  QCOMPARE(tree.currentIndex().data().toString(), QString("stage1"));
  QTest::keyClick(&tree, Qt::Key_Return);
  QCOMPARE(go.back()[1].toString(), QString("stage1"));
  const bool open = tree.isExpanded(tree.currentIndex());
  QTest::keyClick(&tree, Qt::Key_Space);
  QCOMPARE(tree.isExpanded(tree.currentIndex()), !open);
  QTest::keyClicks(&tree, "pool");  // typing jumps
  QCOMPARE(tree.currentIndex().data().toString(), QString("pool"));
  QTest::keyClick(&tree, Qt::Key_F2);
  auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  QVERIFY(line != nullptr);
  line->selectAll();
  QTest::keyClicks(line, "mean");
  QTest::keyClick(line, Qt::Key_Return);
  QTRY_VERIFY(m_document->network("main")->find("mean") != nullptr);
  QTRY_VERIFY(tree.hasFocus());
  QTest::keyClick(&tree, Qt::Key_Slash);
  QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&m_panel->search()));
  m_panel->focusTree();
  QTest::keyClick(&tree, Qt::Key_Escape);
  QCOMPARE(leaving.count(), 1);
}

// Keys are what the registry says, also where a person changed them.
void OutlineTest::keysAreCommands() {
  OutlineTree& tree = m_panel->tree();
  Commands& commands = m_panel->commands();
  m_panel->focusTree();
  tree.setCurrentIndex(m_panel->row("main", "stage1"));
  QSignalSpy ran(&commands, &Commands::ran), go(m_panel.get(), &OutlinePanel::goTo);
  const std::pair<Qt::Key, const char*> usual[] = {{Qt::Key_Return, "network.outline-go"},
                                                   {Qt::Key_Space, "network.outline-open"},
                                                   {Qt::Key_Slash, "network.outline-search"},
                                                   {Qt::Key_F2, "network.outline-rename"}};
  for (const auto& [key, id] : usual) {
    m_panel->focusTree();
    QTest::keyClick(&tree, key);
    QCOMPARE(ran.back().front().toString(), QString::fromLatin1(id));
  }
  // The name's Enter is the name's: nobody goes anywhere.
  QCOMPARE(go.count(), 1);
  auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  QVERIFY(line != nullptr);
  QTest::keyClick(line, Qt::Key_Return);
  QTRY_VERIFY(tree.hasFocus());
  QCOMPARE(go.count(), 1);
  commands.setKeys("network.outline-go", {QKeySequence("G")});
  commands.setKeys("network.outline-open", {});
  const bool open = tree.isExpanded(tree.currentIndex());
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Space}) QTest::keyClick(&tree, key);
  QCOMPARE(go.count(), 1);
  QCOMPARE(tree.isExpanded(tree.currentIndex()), open);
  QTest::keyClick(&tree, Qt::Key_G);
  QCOMPARE(go.count(), 2);
  // What is not possible is not offered: nothing is in hand, or nothing is inside.
  QVERIFY(commands.isPossible("network.outline-open"));
  tree.setCurrentIndex(m_panel->row("main", "fc"));
  QVERIFY(!commands.isPossible("network.outline-open"));
  QVERIFY(!commands.isPossible("network.outline-fold"));
  m_panel->hide();
  QVERIFY(!commands.isPossible("network.outline-go"));
}

void OutlineTest::theMenuOfARow() {
  m_document->makeGroup("main", {"conv1", "bn1"}, "Stem");
  QCoreApplication::processEvents();
  m_panel->showSelection("main", {});
  QSignalSpy go(m_panel.get(), &OutlinePanel::goTo);
  QStringList texts;
  const auto choose = [&](const QString& on, const QString& line) {
    menuByHand(m_panel->windowHandle(), placeOf(on), {line}, [&](const QMenu& menu) {
      texts.clear();
      for (const QAction* each : menu.actions()) {
        if (each->isSeparator()) continue;
        texts += each->text();
        const QAction* command = m_panel->commands().find(each->property(kCommandProperty).toString());
        QVERIFY2(command != nullptr && command->shortcuts() == each->shortcuts(), qPrintable(each->text()));
      }
    });
  };
  choose("stage2", "Go to it");
  QCOMPARE(texts, (QStringList{"Go to it", "Open", "Rename", "Fold all", "Search nodes"}));
  QCOMPARE(go.count(), 1);
  QCOMPARE(go.back()[1].toString(), QString("stage2"));  // the right button took the row in hand
  choose("stage2", "Open");
  QVERIFY(m_panel->tree().isExpanded(m_panel->row("main", "stage2")));
  choose("fc", "Fold all");
  QVERIFY(!texts.contains("Open"));
  QVERIFY(m_document->network("main")->groups.front().folded);
}

void OutlineTest::selectionBothWays() {
  QSignalSpy picked(m_panel.get(), &OutlinePanel::picked);
  m_panel->showSelection("main", {"conv1", "pool"});
  QCOMPARE(picked.count(), 0);  // what is shown is not told back
  QStringList rows;
  for (const QModelIndex& index : m_panel->tree().selectionModel()->selectedIndexes()) rows += index.data().toString();
  rows.sort();
  QCOMPARE(rows, (QStringList{"conv1", "pool"}));
  const QModelIndex fc = m_panel->row("main", "fc"), bn = m_panel->row("main", "bn1");
  m_panel->tree().scrollTo(fc);
  QTest::mouseClick(m_panel->tree().viewport(), Qt::LeftButton, {}, m_panel->tree().visualRect(fc).center());
  QCOMPARE(picked.back()[1].value<std::vector<std::string>>(), std::vector<std::string>{"fc"});
  m_panel->tree().scrollTo(bn);
  QTest::mouseClick(m_panel->tree().viewport(), Qt::LeftButton, Qt::ControlModifier,
                    m_panel->tree().visualRect(bn).center());
  std::vector<std::string> both = picked.back()[1].value<std::vector<std::string>>();
  std::sort(both.begin(), both.end());
  QCOMPARE(both, (std::vector<std::string>{"bn1", "fc"}));
  // A node below a use is one of the unit.
  const QModelIndex inner = m_panel->tree().model()->index(1, 0, m_panel->row("main", "stage3"));
  m_panel->tree().expand(inner.parent());
  m_panel->tree().scrollTo(inner);
  QTest::mouseClick(m_panel->tree().viewport(), Qt::LeftButton, {}, m_panel->tree().visualRect(inner).center());
  QCOMPARE(picked.back()[0].toString(), QString("Residual"));
}

}  // namespace loom
