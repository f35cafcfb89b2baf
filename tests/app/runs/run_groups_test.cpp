// Many runs in the table: those that come while it is open, groups of seeds, networks that differ, the box in the head.
#include "app/run_groups.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QRandomGenerator>
#include <QScrollBar>
#include <QSignalSpy>
#include <cmath>

#include "app/group_series.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/settings_panel.h"
#include "app/run_metrics.h"
#include "app/run_networks.h"
#include "tests/app/runs/runs_page_fixture.h"
#include "tests/patience.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/search_field.h"

namespace loom {

class RunGroupsTest : public RunsPageFixture {
  Q_OBJECT

  const Json m_momentum{{"name", "Momentum"}, {"learning_rate", 0.05}};

  QString addSeed(const QString& name, int seed, double best, const Json& optimizer = {}, const Json& network = {}) {
    const QString id = addRun(name, optimizer.is_null() ? m_momentum : optimizer, network, seed);
    addEvents(id, 5, 1, "score", best);
    return id;
  }
  RunRows& rows() { return page().rows(); }
  QString text(int row, int column) { return rows().index(row, column).data().toString(); }
  QStringList names() {
    QStringList names;
    for (int row = 0; row < rows().rowCount(); ++row) names << text(row, RunsModel::name);
    return names;
  }
  // The sign at the left of a row's name.
  void clickSign(int row) {
    QTableView* const part = table().frozenPart();
    const QRect cell = part->visualRect(rows().index(row, RunsModel::name));
    QTest::mouseClick(part->viewport(), Qt::LeftButton, {}, {cell.left() + 16, cell.center().y()});
  }
  // A button that opens a menu, then an entry of it.
  void pickFrom(const char* button, const QString& entry) {
    bool picked = false;
    QTimer::singleShot(0, this, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* each : menu->actions())
        if (each->text().section('\t', 0, 0) == entry) {
          picked = true;
          menu->setActiveAction(each);
          return QTest::keyClick(menu, Qt::Key_Return);
        }
      menu->close();
    });
    m_open->click(button);
    QVERIFY2(picked, qPrintable(entry));
  }
  void clickHeadBox() {
    QHeaderView* const head = table().frozenPart()->horizontalHeader();
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {}, QPoint(22, head->height() / 2));
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kProject));
    QTRY_VERIFY(workspace().document());
  }
  void cleanup() {
    for (const RunRecord& each : store().runs())
      if (each.state == RunState::queued) workspace().launcher().stop(each.id);
    for (const RunRecord& each : store().runs())
      if (isLive(each.state) && !attempt([&] { workspace().launcher().kill(each.id); }).isEmpty())
        store().setState(each.id, RunState::stopped);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().launcher().running(), 0, kPatience);
    m_open.reset();
  }

  void aRunThatComesMovesNothing() {
    for (int i = 0; i < 40; ++i) addRun(QString("run-%1").arg(i), m_momentum);
    showPage("runs");
    QSignalSpy resets(table().model(), &QAbstractItemModel::modelReset);
    choose("run-5");
    QScrollBar* const bar = table().verticalScrollBar();
    QTRY_VERIFY(bar->value() > 0);
    const int top = table().visualRect(table().currentIndex()).top();
    for (int i = 40; i < 60; ++i) addEvents(addRun(QString("run-%1").arg(i), {{"name", i % 2 ? "Adam" : "LARS"}}), 3);
    QTRY_VERIFY(page().settled());
    QCOMPARE(resets.count(), 0);
    QCOMPARE(table().currentIndex().data(RunsModel::idRole).toString(), QString("run-5"));
    QCOMPARE(table().selectionModel()->selectedRows().size(), 1);
    QCOMPARE(text(0, RunsModel::name), QString("run-59"));
    QVERIFY(columnOf("Optimizer") > 0);
    // What comes above pushes it down by whole rows; the place in the list stays.
    QCOMPARE(table().visualRect(table().currentIndex()).top() + bar->value(),
             top + bar->value() + 20 * table().rowHeight(0));
  }

  // However they came, the rows are those that would be there if all were built anew.
  void rowsAreThoseThatAFreshListWouldHave() {
    RunsModel model(store(), *workspace().context().runMetrics);
    model.setProject(workspace().document()->path());
    RunRows rows(model, *workspace().context().runMetrics);
    QAbstractItemModelTester tester(&rows, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QAbstractItemModelTester ofModel(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QRandomGenerator random(11);
    QStringList ids;
    QString expression;
    int column = -1;
    Qt::SortOrder order = Qt::DescendingOrder;
    for (int step = 0; step < 240; ++step) {
      const int act = random.bounded(8);
      const QString some = ids.isEmpty() ? QString() : ids[random.bounded(static_cast<int>(ids.size()))];
      if (act < 3 || some.isEmpty()) {
        const int seed = random.bounded(4);
        ids << addSeed(QString("r-%1").arg(step), seed, 0.5 + 0.01 * random.bounded(40),
                       {{"name", "Momentum"}, {"learning_rate", 0.1 * (1 + random.bounded(3))}});
      } else if (act == 3) {
        addEvents(some, 2, 1000 + 10 * step, "score", 0.5 + 0.01 * random.bounded(50));
      } else if (act == 4) {
        store().setState(some, random.bounded(2) ? RunState::stopped : RunState::finished);
      } else if (act == 5) {
        random.bounded(3) ? store().remove(some) : store().restore(some);
      } else if (act == 6) {
        column = random.bounded(2)   ? int(RunsModel::best)
                 : random.bounded(2) ? int(RunsModel::name)
                 : random.bounded(2) ? int(RunsModel::state)
                                     : -1;
        order = random.bounded(2) ? Qt::AscendingOrder : Qt::DescendingOrder;
        rows.sort(column, order);
        rows.setGrouped(random.bounded(2));
      } else {
        expression = random.bounded(2)   ? "best > 0.7"
                     : random.bounded(2) ? "state == finished or learning_rate > 0.15"
                                         : "";
        rows.setExpression(expression);
        if (rows.isGrouped() && rows.rowCount() > 0)
          if (const QString group = rows.index(0, 0).data(RunRows::groupRole).toString(); !group.isEmpty())
            rows.setOpen(group, !rows.open().contains(group));
      }
      if (step % 5 == 0) QTest::qWait(2);  // drawings are read meanwhile
      QStringList now;
      const auto list = [](RunRows& rows, QStringList& into) {
        for (int row = 0; row < rows.rowCount(); ++row)
          into << rows.index(row, RunsModel::name).data(RunRows::groupRole).toString() + ' ' +
                      rows.index(row, RunsModel::name).data(RunsModel::idRole).toString() + ' ' +
                      rows.index(row, RunsModel::best).data().toString() +
                      rows.index(row, RunsModel::seeds).data().toString();
      };
      list(rows, now);
      RunRows anew(model, *workspace().context().runMetrics);
      anew.setExpression(expression);
      anew.setGrouped(rows.isGrouped());
      anew.sort(column, order);
      anew.setOpenGroups(rows.open());
      QStringList fresh;
      list(anew, fresh);
      QCOMPARE(rows.accepted(), anew.accepted());
      QVERIFY2(
          now == fresh,
          qPrintable(QString("step %1, act %2:\n%3\n\n%4").arg(step).arg(act).arg(now.join('\n'), fresh.join('\n'))));
    }
    QVERIFY(rows.rowCount() > 0 || !ids.isEmpty());
  }

  // Of rows that are alike the newest stands first, whichever way they are sorted, and also when a filter is typed and
  // taken back.
  void rowsThatAreAlikeKeepTheirOrder() {
    for (int i = 0; i < 12; ++i) addSeed(QString("r-%1").arg(i), i, 0.5 + 0.1 * (i % 3));
    showPage("runs");
    const auto sorted = [&](Qt::SortOrder order) {
      QStringList names;
      for (const int value : order == Qt::AscendingOrder ? std::vector{0, 1, 2} : std::vector{2, 1, 0})
        for (int i = 11; i >= 0; --i)
          if (i % 3 == value) names << QString("r-%1").arg(i);
      return names;
    };
    auto* const search = page().findChild<SearchField*>();
    for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      table().sortByColumn(RunsModel::best, order);
      QCOMPARE(names(), sorted(order));
      search->setText("best > 0.55");
      QCOMPARE(names(), sorted(order).mid(order == Qt::AscendingOrder ? 4 : 0, 8));
      search->clear();
      QCOMPARE(names(), sorted(order));
    }
  }

  // A filter that is typed letter by letter: what is selected and seen stays where it is, the count says each time how
  // many are left, and what the filter takes away comes back unselected.
  void whatIsSelectedStaysWhileAFilterIsTyped() {
    for (int i = 0; i < 60; ++i)
      addSeed(QString("run-%1").arg(i), i, 0.9, {{"name", i % 2 ? "LARS" : "Momentum"}, {"learning_rate", 0.1}});
    showPage("runs");
    auto* const search = page().findChild<SearchField*>();
    choose("run-11");
    table().selectionModel()->select(rows().index(row("run-12"), 0),
                                     QItemSelectionModel::Select | QItemSelectionModel::Rows);
    const auto selected = [&] {
      QStringList ids;
      for (const QModelIndex& each : table().selectionModel()->selectedRows())
        ids << each.data(RunsModel::idRole).toString();
      ids.sort();
      return ids;
    };
    const auto place = [&] { return table().visualRect(table().currentIndex()).top(); };
    const int before = place(), bar = table().verticalScrollBar()->value();
    QVERIFY(bar > 0 && before > 0);
    search->setFocus();
    QTest::keyClicks(search, "optimizer");  // the beginning of a name: nothing is filtered
    QCOMPARE(place(), before);
    QCOMPARE(table().verticalScrollBar()->value(), bar);
    QCOMPARE(selected(), QStringList({"run-11", "run-12"}));
    QTest::keyClicks(search, " ~ LARS");
    if (QWidget* const offers = QApplication::activePopupWidget()) offers->close();
    QCOMPARE(rows().accepted(), 30);
    QVERIFY(search->count().startsWith("30 of 60"));
    QCOMPARE(table().currentIndex().data(RunsModel::idRole).toString(), QString("run-11"));
    QCOMPARE(selected(), QStringList("run-11"));
    // One that comes is counted, and moves none of them.
    addSeed("run-60", 60, 0.9, {{"name", "LARS"}, {"learning_rate", 0.1}});
    QTRY_VERIFY(page().settled());
    QVERIFY2(search->count().startsWith("31 of 61"), qPrintable(search->count()));
    QCOMPARE(text(0, RunsModel::name), QString("run-60"));
    QCOMPARE(selected(), QStringList("run-11"));
    search->clear();
    QCOMPARE(rows().rowCount(), 61);
    QCOMPARE(selected(), QStringList("run-11"));
    QVERIFY(search->count().isEmpty());
  }

  void networksThatDifferAreTold() {
    const Json wide = Json::parse(
        R"([{"id": "x", "layer": "Input", "shape": [2]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
      {"id": "out", "layer": "Linear", "outputs": 24}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "score", "layer": "Accuracy"}])");
    const QString a = addSeed("narrow", 1, 0.8), b = addSeed("wide", 1, 0.9, {}, wide);
    store().change(a, [](RunRecord& run) { run.parameters = 6; });
    store().change(b, [](RunRecord& run) { run.parameters = 72; });
    showPage("runs");
    QTRY_VERIFY(!table().isColumnHidden(RunsModel::network));
    QTRY_COMPARE(cell(a, RunsModel::network), QString("out outputs 2"));
    QCOMPARE(cell(b, RunsModel::network), QString("out outputs 24"));
    QVERIFY(!table().isColumnHidden(RunsModel::parameters));
    QCOMPARE(cell(b, RunsModel::parameters), QString("72"));
    m_open->click("compare");
    auto* const card = m_open->window().findChild<QWidget*>("compare-card");
    QVERIFY(card);
    QStringList words;
    for (const QLabel* each : card->findChildren<QLabel*>()) words << each->text();
    QVERIFY2(words.contains("out outputs") && words.contains("24") && words.contains("Parameters"),
             qPrintable(words.join('|')));
    // Of equal networks nothing is said.
    store().remove(b);
    QTRY_VERIFY(table().isColumnHidden(RunsModel::network));
  }

  // What a search tries of a layer stands in the drawings alone.
  void argumentsOfLayersAreAxesAsSettingsAre() {
    const auto network = [](int outputs, const char* more = "") {
      return Json::parse(R"([{"id": "x", "layer": "Input", "shape": [2]},
        {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "out", "layer": "Linear", "outputs": )" +
                         std::to_string(outputs) + R"(}, {"id": "loss", "layer": "SoftmaxCrossEntropy"},
        {"id": "score", "layer": "Accuracy"})" +
                         std::string(more) + "]");
    };
    addSeed("a", 1, 0.7, {}, network(2));
    addSeed("b", 1, 0.8, {{"name", "Momentum"}, {"learning_rate", 0.1}}, network(8));
    addSeed("c", 1, 0.9, {}, network(24, R"(, {"id": "extra", "layer": "ReLU"})"));
    showPage("runs");
    ParallelAxes& axes = page().differing();
    const std::vector<QString> both{"Learning rate", "out outputs", "Best %"};
    QTRY_COMPARE(axes.axes(), both);  // nothing of a layer that some lack
    std::map<QString, AxisValue> outputs;
    for (const ParallelLine& line : axes.lines()) outputs[line.id] = line.values[1];
    QCOMPARE(outputs["a"].number, std::optional(2.0));
    QCOMPARE(outputs["c"].text, QString("24"));
    // Where the wider ones are brushed the others go from the table.
    const QRectF plot = axes.plot();
    const QPoint top(qRound(axes.axisX(1)), qRound(plot.top() - 4)), middle(top.x(), qRound(plot.center().y()) - 20);
    QTest::mousePress(&axes, Qt::LeftButton, {}, top);
    QTest::mouseMove(&axes, middle);
    QTest::mouseRelease(&axes, Qt::LeftButton, {}, middle);
    QTRY_COMPARE(rows().accepted(), 1);
    QCOMPARE(names(), QStringList("c"));
    QTest::mouseDClick(&axes, Qt::LeftButton, {}, {top.x(), (top.y() + middle.y()) / 2});
    QTRY_COMPARE(rows().accepted(), 3);
    page().settings().setLook(SettingsPanel::scatter);
    const auto* const x = page().settings().findChild<QComboBox*>("scatter-x");
    QCOMPARE(x->itemText(1), QString("out outputs"));
  }

  void aLayerThatIsNotInAllIsNamed() {
    RunNetwork plain, more;
    plain.values = {{"out", "Linear"}, {"out\toutputs", "2", true}, {"", "aaaa"}};
    more.values = plain.values;
    more.values.push_back({"bn", "BatchNormalisation"});
    more.values.push_back({"bn\tmomentum", "0.9", true});
    more.values[2].text = "bbbb";
    for (RunNetwork* each : {&plain, &more})
      for (std::size_t i = 0; i < each->values.size(); ++i) each->places.emplace(each->values[i].name, i);
    Differences differences;
    differences.add(plain.values);
    differences.add(more.values);
    const std::vector<std::string> names = networkDifferences(differences);
    QCOMPARE(names, std::vector<std::string>{"bn"});  // its momentum and wires follow from it
    QCOMPARE(describeNetwork(plain, names), QString("without bn"));
    QCOMPARE(describeNetwork(more, names), QString("bn BatchNormalisation"));
    differences.remove(more.values);
    QVERIFY(networkDifferences(differences).empty());
    // The same nodes, wired otherwise.
    RunNetwork other = plain;
    other.values[2].text = "cccc";
    differences.add(other.values);
    QCOMPARE(networkDifferences(differences), std::vector<std::string>{""});
    // Of more than two names each says where it is not as most.
    const std::vector<std::string> many{"act", "bn", "out\toutputs"};
    plain.drawing = "plain", more.drawing = "more";
    QCOMPARE(describeNetwork(plain, many, &plain), QString("as most"));
    QCOMPARE(describeNetwork(more, many, &plain), QString("bn BatchNormalisation"));
    QCOMPARE(describeNetwork(plain, many, &more), QString("without bn"));
    QCOMPARE(describeNetwork(more, many), QString("without act, bn BatchNormalisation, out outputs 2"));
    other.drawing = "other";
    QCOMPARE(describeNetwork(other, many, &plain), QString("Wiring cccc"));
  }

  void seedsFormAGroupWithMeanAndSpread() {
    for (int seed = 1; seed <= 4; ++seed) addSeed(QString("lars-seed%1").arg(seed), seed, 0.90 + 0.01 * seed);
    const QString other = addSeed("other", 1, 0.5, {{"name", "LARS"}});
    const QString stopped = addSeed("lars-seed5", 5, 0.1), twice = addSeed("lars-seed1-2", 1, 0.2);
    store().setState(stopped, RunState::stopped);
    const QString nan = addSeed("lars-seed6", 6, std::nan(""));
    showPage("runs");
    QTRY_COMPARE(rows().rowCount(), 8);
    table().setFocus();
    QTest::keyClick(&m_open->window(), Qt::Key_G);
    QVERIFY(rows().isGrouped());
    QTRY_COMPARE(rows().rowCount(), 2);
    table().sortByColumn(RunsModel::best, Qt::DescendingOrder);
    QCOMPARE(names(), (QStringList{"lars", "other"}));
    QCOMPARE(text(0, RunsModel::runs), QString("7"));
    QCOMPARE(text(0, RunsModel::best), QString("92.50"));  // of 91, 92, 93, 94
    QCOMPARE(rows().index(0, RunsModel::best).data(kRemarkRole).toString(), QString("± 1.3"));
    QCOMPARE(rows().index(0, RunsModel::seeds).data(kDotsRole).value<QList<double>>().size(), 4);
    QCOMPARE(text(0, RunsModel::state), QString("1 stopped"));
    QTRY_VERIFY(page().settled());
    // The sign opens it; the runs that stay out say why.
    clickSign(0);
    QTRY_COMPARE(rows().rowCount(), 9);
    const auto why = [&](const QString& id) { return cell(id, RunsModel::seeds); };
    QCOMPARE(why(stopped), QString("left out: stopped"));
    QCOMPARE(why(twice), QString("left out: same seed"));
    QCOMPARE(why(nan), QString("left out: NaN"));
    QCOMPARE(why("lars-seed2"), QString());
    QCOMPARE(cell("lars-seed2", RunsModel::runs), QString("seed 2"));
    // A mean with its band, and those that are in none, each by itself.
    const auto line = [&](const QString& name) -> const PanelLine* {
      for (const PanelLine& each : page().metricChart().lines())
        if (each.line.name == name) return &each;
      return nullptr;
    };
    QTRY_VERIFY(line("lars") && !line("lars")->drawn.segments.empty());
    QVERIFY(line("lars")->line.isMean);
    QCOMPARE(line("lars")->data.columns.columns.back().last, 0.925);
    QVERIFY(std::abs(line("lars")->data.columns.columns.back().maximum - 0.925 - std::sqrt(5.0 / 3) * 0.01) < 1e-12);
    QVERIFY(line("lars-seed5") && !line("lars-seed5")->line.isMean && !line("lars-seed1"));
    QVERIFY(table().isColumnHidden(columnOf("Seed")) && !table().isColumnHidden(RunsModel::runs));
    // Left closes, from inside too.
    choose("lars-seed2");
    QTest::keyClick(&table(), Qt::Key_Left);
    QTRY_COMPARE(rows().rowCount(), 2);
    QTest::keyClick(&table(), Qt::Key_Right);
    QTRY_COMPARE(rows().rowCount(), 9);
    // A seed more moves the mean and closes nothing.
    addSeed("lars-seed9", 9, 0.95);
    QTRY_COMPARE(rows().rowCount(), 10);
    QTRY_COMPARE(text(0, RunsModel::best), QString("93.00"));
    QVERIFY(row(other) == 9);
    rows().setSpread(Spread::range);
    QCOMPARE(rows().index(0, RunsModel::best).data(kRemarkRole).toString(), QString("91.0 to 95.0"));
  }

  void aSavedViewBringsBackFilterGroupsAndOrder() {
    for (int seed = 1; seed <= 2; ++seed) addSeed(QString("a-seed%1").arg(seed), seed, 0.9);
    for (int seed = 1; seed <= 2; ++seed) addSeed(QString("b-seed%1").arg(seed), seed, 0.8, {{"name", "LARS"}});
    showPage("runs");
    auto* const search = page().findChild<SearchField*>();
    auto* const views = m_open->part<QAbstractButton>("runs-views");
    search->setText("optimizer == LARS");
    pickFrom("runs-group", "Equal settings, other seeds");
    QVERIFY(rows().isGrouped());
    QTRY_COMPARE(rows().rowCount(), 1);
    pickFrom("runs-views", "Save as a new view…");
    auto* const name = m_open->window().findChild<QLineEdit*>("view-name");
    QVERIFY(name);
    name->selectAll();
    QTest::keyClicks(name, "LARS alone");
    QTest::keyClick(name, Qt::Key_Return);
    QTRY_COMPARE(views->text(), QString("LARS alone"));
    m_open->activate();
    search->clear();
    pickFrom("runs-group", "Every run by itself");
    QTRY_COMPARE(rows().rowCount(), 4);
    QTRY_COMPARE(views->text(), QString("LARS alone, edited"));
    m_open->activate();
    table().setFocus();
    QTest::keyClick(&m_open->window(), Qt::Key_1, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(rows().rowCount(), 1);
    QVERIFY(rows().isGrouped());
    QCOMPARE(search->text(), QString("optimizer == LARS"));
    QCOMPARE(views->text(), QString("LARS alone"));
    pickFrom("runs-views", "Remove LARS alone");
    QCOMPARE(views->text(), QString("Views"));
    m_open->undo();
    pickFrom("runs-views", "LARS alone");
    QCOMPARE(views->text(), QString("LARS alone"));
  }

  void aGroupIsComparedByItsMean() {
    for (int seed = 1; seed <= 2; ++seed) addSeed(QString("a-seed%1").arg(seed), seed, 0.9 + 0.02 * seed);
    addSeed("b", 1, 0.8, {{"name", "LARS"}});
    showPage("runs");
    rows().setGrouped(true);
    QTRY_COMPARE(rows().rowCount(), 2);
    QTRY_VERIFY(page().settled());
    m_open->click("compare");
    auto* const card = m_open->window().findChild<QWidget*>("compare-card");
    QVERIFY(card);
    QStringList words;
    for (const QLabel* each : card->findChildren<QLabel*>()) words << each->text();
    QVERIFY2(words.contains("93.00 ± 1.4") && words.contains("a"), qPrintable(words.join('|')));
  }

  void fourMoreSeedsOfAGroupAreNew() {
    for (int seed = 7; seed <= 8; ++seed) addSeed(QString("a-seed%1").arg(seed), seed, 0.9);
    // The same settings, the default written out: its seed is taken.
    addSeed("b", 9, 0.9, {{"name", "Momentum"}, {"learning_rate", 0.05}, {"momentum", 0.9}});
    store().remove("a-seed8");  // and that of a deleted one is not new either
    QVERIFY(workspace().trainSeeds(2, "a-seed7"));
    QCOMPARE(seeds(), (QStringList{"training.seed=10", "training.seed=11"}));
  }

  void fourMoreSeedsAreOfferedOnThePageOfARun() {
    for (int seed = 7; seed <= 8; ++seed) addSeed(QString("a-seed%1").arg(seed), seed, 0.9);
    workspace().document()->setSetting("batch", 4);  // the project goes on
    m_open->window().go({.page = "training", .run = "a-seed7"});
    pickFrom("run-more-button", "Four more seeds");
    QTRY_COMPARE(seeds(), (QStringList{"training.seed=9", "training.seed=10", "training.seed=11", "training.seed=12"}));
    QVERIFY(workspace().runs().back().name.startsWith("a-seed"));
  }

  // Two that had one colour are told apart while one is free among those that are shown, however many these are.
  void noTwoRunsThatAreShownHaveOneColour() {
    for (int i = 0; i < 32; ++i) addSeed(QString("r%1").arg(i), i, 0.9);
    for (const char* run : {"r3", "r5"}) store().change(run, [](RunRecord& each) { each.colour = 1; });
    showPage("runs");
    const auto colours = [&] {
      QHash<int, int> count;
      for (int i = 0; i < rows().rowCount(); ++i)
        if (const QVariant colour = rows().index(i, RunsModel::colour).data(kSwatchRole); colour.isValid())
          ++count[colour.toInt()];
      return count;
    };
    QTRY_COMPARE(rows().rowCount(), 32);
    QTRY_COMPARE(colours().size(), 32);
    for (int i = 10; i < 32; ++i) page().model().setShown(QString("r%1").arg(i), false);
    QTRY_COMPARE(colours().size(), 10);
  }

  void theBoxInTheHeadIsOfTheFilteredRows() {
    for (int i = 0; i < 3; ++i) addSeed(QString("a-%1").arg(i), i, 0.9);
    addSeed("b", 1, 0.8, {{"name", "LARS"}});
    showPage("runs");
    QCOMPARE(table().allChecked(), Qt::Checked);
    auto* const search = page().findChild<SearchField*>();
    search->setFocus();
    QTest::keyClicks(search, "optimizer == LARS");
    if (QWidget* const offers = QApplication::activePopupWidget()) offers->close();
    QCOMPARE(rows().accepted(), 1);
    QCOMPARE(table().allChecked(), Qt::Checked);
    clickHeadBox();
    QCOMPARE(table().allChecked(), Qt::Unchecked);
    QVERIFY(!page().model().isShown("b") && page().model().isShown("a-0"));
    search->clear();
    QCOMPARE(table().allChecked(), Qt::PartiallyChecked);
    // A group's box ticks all of it.
    rows().setGrouped(true);
    QTRY_COMPARE(rows().rowCount(), 2);
    page().model().setShown("a-1", false);
    const int group = text(0, RunsModel::name) == "b" ? 1 : 0;
    QCOMPARE(rows().index(group, RunsModel::shown).data(Qt::CheckStateRole).toInt(), int(Qt::PartiallyChecked));
    QTableView* const part = table().frozenPart();
    QTest::mouseClick(part->viewport(), Qt::LeftButton, {},
                      part->visualRect(rows().index(group, RunsModel::shown)).center());
    QVERIFY(page().model().isShown("a-1"));
    search->setText("nobody");
    QCOMPARE(table().allChecked(), Qt::Unchecked);
  }

  void aMeanGoesAsFarAsAllDoAndBreaksAtNaN() {
    const auto curve = [](std::initializer_list<std::pair<double, double>> points) {
      return VectorSource(points).columns(XUnit::step, -1, 100, 1000);
    };
    const double nan = std::nan("");
    const ChartColumns mean =
        GroupSeries::mean({curve({{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 1}}), curve({{0, 3}, {2, 5}, {4, nan}, {6, 9}}),
                           curve({{0, 5}, {1, 6}, {2, 7}, {3, 8}, {4, 9}, {6, 11}})},
                          Spread::deviation);
    QCOMPARE(mean.columns.size(), std::size_t{6});  // 0, 1, 2, 3, 4, 6
    QCOMPARE(mean.columns[0].last, 3.0);
    QCOMPARE(mean.columns[0].maximum, 5.0);
    QCOMPARE(mean.columns[1].last, 4.0);  // between their points: 2, 4, 6
    for (const std::size_t each : {3u, 4u}) QVERIFY(mean.columns[each].bad && !mean.columns[each].finite());
    QCOMPARE(mean.columns[5].last, 9.0);
    QVERIFY(GroupSeries::mean({curve({{0, 1}}), {}}, Spread::deviation).columns.empty());
  }

  void spreads() {
    const std::vector<double> values{1, 2, 3, 6};
    QCOMPARE(seedSpreadOf(values, Spread::deviation).mean, 3.0);
    QVERIFY(std::abs(seedSpreadOf(values, Spread::deviation).spread - std::sqrt(14.0 / 3)) < 1e-12);
    QVERIFY(std::abs(seedSpreadOf(values, Spread::error).spread - std::sqrt(14.0 / 3) / 2) < 1e-12);
    QCOMPARE(seedSpreadOf(values, Spread::range).high, 6.0);
    QCOMPARE(seedSpreadOf({4}, Spread::deviation).spread, 0.0);
    QCOMPARE(nameWithoutSeed("digits-4-seed11"), QString("digits-4"));
    QCOMPARE(nameWithoutSeed("digits-4"), QString("digits-4"));
  }

  void whoIsNotAveraged() {
    std::vector<RunRecord> runs(6);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].state = RunState::finished;
      runs[i].metric = "accuracy";
      runs[i].metricOfValidation = true;
      runs[i].best = runs[i].last = runs[i].loss = 0.5;
      runs[i].bestStep = 1;
      runs[i].step = 100;
      runs[i].settings = {{"seed", static_cast<int>(i)}};
    }
    runs[1].metric = "loss";
    runs[2].step = 50;
    runs[3].metricOfValidation = false;
    runs[4].state = RunState::running;
    std::vector<const RunRecord*> all;
    for (const RunRecord& each : runs) all.push_back(&each);
    QCOMPARE(whyNotAveraged(all),
             (std::vector<QString>{"", "other metric", "other length", "other validation", "running", ""}));
  }
};

}  // namespace loom

QTEST_MAIN(loom::RunGroupsTest)
#include "run_groups_test.moc"
