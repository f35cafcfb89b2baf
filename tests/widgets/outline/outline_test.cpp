// The rows of the outline through every kind of edit.
#include "tests/widgets/outline/outline_test.h"

namespace loom {

void OutlineTest::init() {
  m_document = std::make_unique<ProjectDocument>();
  QVERIFY(m_document->openText(drawings::kUnits, "units"));
  m_panel = std::make_unique<OutlinePanel>(*m_document);
  m_tester = std::make_unique<QAbstractItemModelTester>(&m_panel->model(),
                                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
  m_shownTester = std::make_unique<QAbstractItemModelTester>(m_panel->tree().model(),
                                                             QAbstractItemModelTester::FailureReportingMode::QtTest);
  m_panel->resize(240, 700);
  m_panel->show();
  m_panel->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_panel.get()));
  m_panel->showSelection("main", {});
}

void OutlineTest::cleanup() {
  m_tester.reset();
  m_shownTester.reset();
  m_panel.reset();
  m_document->discardRecovery();
  m_document.reset();
}

QModelIndex OutlineTest::row(const QString& text, const QModelIndex& below) const {
  const OutlineModel& model = m_panel->model();
  for (int i = 0; i < model.rowCount(below); ++i) {
    const QModelIndex index = model.index(i, 0, below);
    if (index.data().toString() == text) return index;
    if (const QModelIndex inner = row(text, index); inner.isValid()) return inner;
  }
  return {};
}

void OutlineTest::networksGroupsUnitsNodes() {
  const OutlineModel& model = m_panel->model();
  QCOMPARE(model.rowCount(), 1);  // units stand below their uses
  const QModelIndex main = model.index(0, 0);
  QCOMPARE(main.data().toString(), QString("main"));
  QCOMPARE(main.data(OutlineModel::detailRole).toString(), QString("14"));
  QCOMPARE(model.rowCount(main), 14);
  const QModelIndex stage = row("stage1");
  QCOMPARE(stage.data(OutlineModel::chipRole).toString(), QString::fromUtf8("×3"));
  QCOMPARE(stage.data(OutlineModel::detailRole).toString(), QString("Residual"));
  QCOMPARE(model.rowCount(stage), 9);
  const std::string group = m_document->makeGroup("main", {"conv1", "bn1", "relu1"}, "Stem");
  QCOMPARE(model.rowCount(main), 12);
  const QModelIndex stem = row("Stem");
  QCOMPARE(model.rowCount(stem), 3);
  m_document->setFolded("main", group, true);
  QCOMPARE(stem.data(OutlineModel::detailRole).toString(), QString("folded"));
  m_document->addUnit("Spare");
  QCOMPARE(model.rowCount(), 2);
  QCoreApplication::processEvents();
  QCOMPARE(model.rowCount(), 2);
}

void OutlineTest::nodesStandAsTheyAreComputed() {
  const auto names = [this] {
    QStringList all;
    const QModelIndex main = m_panel->model().index(0, 0);
    for (int i = 0; i < m_panel->model().rowCount(main); ++i)
      all << m_panel->model().index(i, 0, main).data().toString();
    return all;
  };
  const QStringList before = names();
  m_document->edit("another order in the file", [](Project& project) {
    std::reverse(project.network("main")->nodes.begin(), project.network("main")->nodes.end());
  });
  const QStringList after = names();
  QCOMPARE(after.size(), before.size());
  // Each wire of the trunk leads downwards, whatever order the file has.
  for (const Edge& edge : m_document->project().networks.at(0).edges)
    QVERIFY2(
        after.indexOf(QString::fromStdString(edge.from.node)) < after.indexOf(QString::fromStdString(edge.to.node)),
        qPrintable(after.join(' ')));
}

void OutlineTest::rowsThatStayStayThemselves() {
  const QPersistentModelIndex fc = row("fc"), stage = row("stage2"),
                              inner = m_panel->model().index(1, 0, row("stage2"));
  QCOMPARE(inner.data().toString(), QString("conv_a"));
  m_document->addNode({.network = "main", .layer = "ReLU", .after = "conv1"});
  m_document->removeNodes("main", {"relu1"}, true);
  m_document->makeGroup("main", {"pool", "fc"}, "Head");
  QVERIFY(stage.isValid() && inner.isValid());
  QCOMPARE(stage.data().toString(), QString("stage2"));
  QVERIFY(!fc.isValid());  // it went into the group: another row
  m_document->undoStack().undo();
  m_document->renameNode("Residual", "conv_a", "first");
  QVERIFY(row("first").isValid());
  m_document->arrange("main");
  m_document->undoStack().undo();
  QVERIFY(m_document->openText(drawings::kSmall, "small"));
  QVERIFY(!stage.isValid());
  QCOMPARE(m_panel->model().rowCount(m_panel->model().index(0, 0)), 7);
}

void OutlineTest::faultsAsDots() {
  QVERIFY(row("fc").data(OutlineModel::faultRole).toString().isEmpty());
  m_document->setField("main", "fc", "outputs", -1);
  QCoreApplication::processEvents();
  QCOMPARE(row("fc").data(OutlineModel::faultRole).toString(), QString("outputs"));
  QVERIFY(row("fc").data(OutlineModel::isErrorRole).toBool());
  QVERIFY(!row("fc").data(Qt::ToolTipRole).toString().isEmpty());
  // A fault inside a unit shows at the node in it.
  m_document->undoStack().undo();
  m_document->setField("Residual", "conv_b", "groups", 7);
  QCoreApplication::processEvents();
  QVERIFY(!row("conv_b", row("stage1")).data(OutlineModel::faultRole).toString().isEmpty());
}

void OutlineTest::renamingThroughTheModel() {
  OutlineModel& model = m_panel->model();
  QSignalSpy refused(&model, &OutlineModel::refused);
  QVERIFY(model.setData(row("fc"), "head", Qt::EditRole));
  QVERIFY(m_document->network("main")->find("head") != nullptr);
  QVERIFY(!model.setData(row("head"), "no name", Qt::EditRole));
  QVERIFY(!model.setData(row("head"), "pool", Qt::EditRole));
  QCOMPARE(refused.count(), 2);
  m_document->makeGroup("main", {"conv1"}, "Stem");
  QVERIFY(model.setData(row("Stem"), "Front end", Qt::EditRole));
  QVERIFY(row("Front end").isValid());
  QVERIFY(model.setData(model.index(0, 0), "net", Qt::EditRole));
  QVERIFY(m_document->network("net") != nullptr);
}

void OutlineTest::droppingMovesIntoAGroup() {
  OutlineModel& model = m_panel->model();
  const std::string group = m_document->makeGroup("main", {"conv1", "bn1"}, "Stem");
  std::unique_ptr<QMimeData> data(model.mimeData({row("relu1")}));
  QVERIFY(model.canDropMimeData(data.get(), Qt::MoveAction, -1, -1, row("Stem")));
  QVERIFY(!model.canDropMimeData(data.get(), Qt::MoveAction, -1, -1, row("fc")));
  const int before = m_document->undoStack().index();
  model.dropMimeData(data.get(), Qt::MoveAction, -1, -1, row("Stem"));
  QCOMPARE(m_document->network("main")->find("relu1")->group, group);
  QCOMPARE(m_document->undoStack().index(), before + 1);
  model.dropMimeData(data.get(), Qt::MoveAction, -1, -1, model.index(0, 0));
  QCOMPARE(m_document->network("main")->find("relu1")->group, std::string());
  // A node of a unit is no node of the network.
  data.reset(model.mimeData({row("conv_a")}));
  model.dropMimeData(data.get(), Qt::MoveAction, -1, -1, row("Stem"));
  QCOMPARE(m_document->undoStack().index(), before + 2);
}

void OutlineTest::aUnitInsideItselfEnds() {
  m_document->edit("slip", [](Project& project) {
    Node use;
    use.id = "again";
    use.unit = "Residual";
    project.unit("Residual")->nodes.push_back(use);
    Group odd;
    odd.id = "odd", odd.parent = "odd";
    project.network("main")->groups.push_back(odd);
    project.network("main")->find("fc")->group = "odd";
  });
  QVERIFY(row("again").isValid());
  QCOMPARE(m_panel->model().rowCount(row("again")), 0);
  QVERIFY(row("fc").isValid());
}

void OutlineTest::searchLeavesMatchesAndWhatLeadsThere() {
  QAbstractItemModel& shown = *m_panel->tree().model();
  m_panel->focusSearch();
  QTest::keyClicks(&m_panel->search(), "conv_s");
  QCOMPARE(shown.rowCount(), 1);
  const QModelIndex main = shown.index(0, 0);
  QCOMPARE(shown.rowCount(main), 2);  // down2 and down3 lead to one
  QCOMPARE(shown.rowCount(shown.index(0, 0, main)), 1);
  QSignalSpy go(m_panel.get(), &OutlinePanel::goTo);
  QTest::keyClick(&m_panel->search(), Qt::Key_Return);
  QCOMPARE(go.count(), 1);
  QCOMPARE(go.back()[0].toString(), QString("ResidualDown"));
  QCOMPARE(go.back()[1].toString(), QString("conv_s"));
  m_panel->search().clear();
  QCOMPARE(shown.rowCount(shown.index(0, 0)), 14);
}

void OutlineTest::aThousandGroupsFold() {
  QSignalSpy came(&m_panel->model(), &OutlineModel::rowsInserted), went(&m_panel->model(), &OutlineModel::rowsRemoved);
  m_document->edit("many", [](Project& project) {
    Network& main = *project.network("main");
    for (int i = 0; i < 1000; ++i) {
      Group group;
      group.id = "g" + std::to_string(i);
      main.groups.push_back(group);
      Node node;
      node.id = "n" + std::to_string(i);
      node.layer = "ReLU";
      node.group = group.id;
      node.y = 1000 + 120.0 * i;
      main.nodes.push_back(node);
    }
  });
  QCOMPARE(m_panel->model().rowCount(m_panel->model().index(0, 0)), 1014);
  QCOMPARE(m_panel->model().rowCount(row("g999")), 1);
  m_document->undoStack().undo();
  QCOMPARE(m_panel->model().rowCount(m_panel->model().index(0, 0)), 14);
  QCOMPARE(came.count(), 1);  // what stands beside each other comes and goes at once
  QCOMPARE(went.count(), 1);
}

}  // namespace loom

QTEST_MAIN(loom::OutlineTest)
