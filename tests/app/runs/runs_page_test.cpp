// A person at the Runs and Training pages: what stands in the table, what a click on a row does, what is trained again.
#include "app/pages/runs/runs_page.h"

#include <QAbstractItemView>
#include <QLabel>
#include <QMenu>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTabBar>
#include <cmath>

#include "app/pages/runs/filter_completer.h"
#include "app/pages/training/rate_card.h"
#include "app/pages/training/run_curves.h"
#include "app/planned_run.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "app/shell/actions.h"
#include "app/shell/message_bar.h"
#include "app/shell/problems_panel.h"
#include "app/shell/status_strip.h"
#include "tests/app/runs/runs_page_fixture.h"
#include "tests/patience.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/parallel_axes.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/table/table_roles.h"
#include "widgets/theme/theme.h"

namespace loom {

class RunsPageTest : public RunsPageFixture {
  Q_OBJECT

 private Q_SLOTS:
  void aChoiceIsNamedByItsLabel() {
    QCOMPARE(textOfSetting("batch_statistics", "synchronised"), QString("All ranks"));
    QCOMPARE(textOfSetting("wire", "f32"), QString("32 bits"));
    QCOMPARE(textOfSetting("optimizer.name", "LARS"), QString("LARS"));
    QCOMPARE(textOfSetting("nobody.knows", "it"), QString("it"));
  }

  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kProject));
    QTRY_VERIFY(workspace().document());
    QTRY_COMPARE(workspace().errors(), 0);
  }
  void cleanup() {
    for (const RunRecord& each : store().runs())
      if (each.state == RunState::queued) workspace().launcher().stop(each.id);
    // What is live in the store alone was never started.
    for (const RunRecord& each : store().runs())
      if (isLive(each.state) && !attempt([&] { workspace().launcher().kill(each.id); }).isEmpty())
        store().setState(each.id, RunState::stopped);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().launcher().running(), 0, kPatience);
    m_open.reset();
  }

  void defaultsStandWhereTheProjectIsSilent() {
    const QString silent = addRun("silent", {{"name", "Momentum"}, {"learning_rate", 0.05}});
    const QString set = addRun("set", {{"name", "Momentum"}, {"learning_rate", 0.05}, {"momentum", 0.5}});
    showPage("runs");
    const int momentum = columnOf("Momentum");
    QVERIFY(momentum > 0);
    QCOMPARE(cell(set, momentum), QString("0.5"));
    QCOMPARE(cell(silent, momentum), QString("0.9"));
    QVERIFY(columnOf("Learning rate") < 0);  // the same in both
    // Written out or not, the default is the default.
    addRun("written", {{"name", "Momentum"}, {"learning_rate", 0.05}, {"momentum", 0.9}});
    store().remove(set);
    QTRY_VERIFY(columnOf("Momentum") < 0);
  }

  // While the name of a setting is typed nothing goes away: it is the beginning of a condition.
  void halfANameFiltersNothing() {
    const QString a = addRun("first", {{"name", "SGD"}});
    const QString b = addRun("second", {{"name", "Adam"}});
    addEvents(a, 5);
    addEvents(b, 5);
    showPage("runs");
    auto* search = page().findChild<SearchField*>();
    search->setFocus();
    const auto left = [&](const char* words) {
      search->clear();
      QTest::keyClicks(search, words);
      return static_cast<int>(table().model()->rowCount());
    };
    const QString title = page().metricChart().title();
    QCOMPARE(left("epo"), 2);
    QCOMPARE(left("optimizer i"), 2);
    QCOMPARE(left("optimizer in (Ad"), 2);
    QCOMPARE(left("optimizer in (Adam)"), 1);
    QCOMPARE(left("optimizer in (Adam) and lear"), 1);
    QCOMPARE(left("sec"), 1);
    QCOMPARE(left("nobody"), 0);
    QTRY_VERIFY(page().settled());
    QCOMPARE(page().metricChart().title(), title);
    search->clear();
  }

  void aRunThatNeverSteppedHasNoLoss() {
    addRun("a", {{"name", "SGD"}});
    const QString b = addRun("b", {{"name", "Adam"}});
    addEvents(b, 5);
    showPage("runs");
    m_open->click("compare");
    auto* card = m_open->window().findChild<QWidget*>("compare-card");
    QVERIFY(card);
    QStringList words;
    for (const QLabel* each : card->findChildren<QLabel*>()) words << each->text();
    QVERIFY2(!words.contains("NaN"), qPrintable(words.join(' ')));
    QVERIFY2(words.contains("–"), qPrintable(words.join(' ')));
  }

  void aMetricIsWhatItsLayerIs() {
    const QString a = addRun("a", {{"name", "SGD"}});
    addEvents(a, 5);
    const QString b =
        addRun("b", {{"name", "SGD"}}, Json::parse(R"([{"id": "top_accuracy", "layer": "MeanSquaredError"}])"));
    addEvents(b, 5, 1, "top_accuracy");
    const RunMetrics& metrics = *workspace().context().runMetrics;
    QCOMPARE(metrics.kind(*store().find(a)), ValueKind::accuracy);
    QCOMPARE(metrics.number(*store().find(a), 0.875), QString("87.50"));
    QCOMPARE(metrics.kind(*store().find(b)), ValueKind::loss);
    QCOMPARE(metrics.kind(*store().find(b), "top_accuracy"), ValueKind::loss);
    QCOMPARE(metrics.better(*store().find(a), "score"), Better::higher);
    QCOMPARE(metrics.better(*store().find(b), "top_accuracy"), Better::lower);
    // The table's head names what most have; a number of another metric says of which.
    const QString c = addRun("c", {{"name", "SGD"}});
    addEvents(c, 5);
    showPage("runs");
    RunRows& rows = page().rows();
    QTRY_COMPARE(rows.headerData(RunsModel::best, Qt::Horizontal, Qt::DisplayRole).toString(), QString("Best score %"));
    const auto remark = [&](const QString& id, int column) {
      return rows.index(row(id), column).data(kRemarkRole).toString();
    };
    for (const int column : {RunsModel::best, RunsModel::last}) {
      QCOMPARE(remark(a, column), QString());
      QCOMPARE(remark(b, column), QString("loss"));
    }
  }

  void theEditorOfALiveRunKeepsWhatIsTyped() {
    const QString id = addRun("live", {{"name", "SGD"}});
    addEvents(id, 5);
    showPage("runs");
    choose(id);
    QTest::keyClick(&table(), Qt::Key_F2);
    auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(editor);
    editor->setText("half a na");
    for (int i = 0; i < 5; ++i) {
      addEvents(id, 5, 100 + 10 * i);
      QTest::qWait(20);
    }
    QCOMPARE(editor->text(), QString("half a na"));
    QTest::keyClicks(editor, "me");
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(store().find(id)->name, QString("half a name"));  // the editor commits when its event is over
    // The chart says it too.
    QTRY_VERIFY(!page().lossChart().lines().empty() && page().lossChart().lines()[0].line.name == "half a name");
  }

  void tagsAndNotesStandInTheRow() {
    // The two parts of the table have a delegate each: none answers for an editor of the other.
    QTest::failOnWarning(QRegularExpression("editor that does not belong to this view"));
    const QString id = addRun("a", {{"name", "SGD"}});
    showPage("runs");
    QVERIFY(table().isColumnHidden(RunsModel::tags) && table().isColumnHidden(RunsModel::note));
    choose(id);
    QTest::keySequence(&m_open->window(), QKeySequence("T"));
    auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(editor && table().isAncestorOf(editor));
    QTest::keyClicks(editor, "first, second, first");
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(store().find(id)->tags, (QStringList{"first", "second"}));
    QVERIFY(!table().isColumnHidden(RunsModel::tags));
    QCOMPARE(cell(id, RunsModel::tags), QString("first, second"));
    QTest::keySequence(&m_open->window(), QKeySequence("N"));
    editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(editor && table().isAncestorOf(editor));
    QTest::keyClicks(editor, "what is to be remembered");
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(cell(id, RunsModel::note), QString("what is to be remembered"));
  }

  void theRightButtonWorksOnEveryColumn() {
    const QString id = addRun("a", {{"name", "SGD"}});
    showPage("runs");
    for (const int column : {RunsModel::name, RunsModel::state, RunsModel::best}) {
      page().model().setShown(id, true);
      pressInMenu(id, column, "Hide in the charts");
      QVERIFY(!page().model().isShown(id));
    }
  }

  void aRefusedWishIsToldAndNotThrown() {
    const QString id = addRun("a", {{"name", "SGD"}});
    store().setState(id, RunState::stopped);
    m_open->write("p/runs/a/checkpoints/step-00000005.safetensors", "x");
    m_open->write("p/runs/a/checkpoints/last.json", R"({"file": "step-00000005.safetensors"})");
    // A folder stands in its place: the launcher cannot write what the run is to do next.
    QVERIFY(QDir(store().find(id)->folder).mkpath("job.json"));
    showPage("runs");
    pressInMenu(id, RunsModel::state, "Resume");
    QTRY_COMPARE(m_open->window().problems().errors(), 1);
  }

  void fourMoreSeedsAreFourOthers() {
    QVERIFY(workspace().trainSeeds(4));
    QCOMPARE(seeds(), (QStringList{"training.seed=8", "training.seed=9", "training.seed=10", "training.seed=11"}));
    QVERIFY(workspace().trainSeeds(2));
    QCOMPARE(seeds().mid(4), (QStringList{"training.seed=12", "training.seed=13"}));
    // Other settings begin anew: their runs lie beside those of the same seeds.
    workspace().document()->setSetting("epochs", 3);
    QVERIFY(workspace().trainSeeds(1));
    QCOMPARE(seeds().back(), QString("training.seed=8"));
  }

  void seedsOfAChosenRunKeepItsSettings() {
    QVERIFY(workspace().train({.name = "chosen", .overrides = {"training.epochs=5"}}));
    const QString id = workspace().runs().back().id;
    workspace().document()->setSetting("batch", 4);  // the project goes on
    showPage("runs");
    QTRY_VERIFY(row(id) >= 0);
    choose(id);
    m_open->window().actions().refresh();
    QAction* const seeds = m_open->window().actions().find("seeds");
    QVERIFY2(seeds->text().contains("chosen"), qPrintable(seeds->text()));
    seeds->trigger();
    QTRY_COMPARE(workspace().runs().size(), 5);
    for (const RunRecord& each : workspace().runs().mid(1)) {
      QVERIFY(overridesOf(each.id).contains("training.epochs=5"));
      const PlannedRun planned = plannedAs(each);
      QVERIFY(Json::parse(planned.snapshot.toStdString())["training"]["batch"] == 2);
      QVERIFY2(each.name.startsWith("chosen-seed"), qPrintable(each.name));
    }
  }

  void aFailedRunSaysSoOnceAndHasNoFuture() {
    const QString id = addRun("a", {{"name", "SGD"}});
    m_open->write("p/runs/a/checkpoints/step-00000005.safetensors", "x");
    m_open->write("p/runs/a/checkpoints/last.json", R"({"file": "step-00000005.safetensors"})");
    store().change(id, [](RunRecord& run) { run.stepsTotal = 1000; });
    store().setState(id, RunState::running);
    workspace().setCurrentRun(id);
    showPage("training");
    addEvents(id, 20);
    XAxisModel& axis = *training().curves().stack().axis();
    QTRY_VERIFY(axis.liveEdge());
    QCOMPARE(axis.full().high, 1000.0);
    store().setState(id, RunState::failed, "it was killed");
    QTRY_VERIFY(!axis.liveEdge());
    QVERIFY(axis.full().high < 100);
    QTRY_VERIFY(m_open->part<QWidget>("run-fault")->isVisible());
    int resumes = 0;
    for (const QAbstractButton* each : training().findChildren<QAbstractButton*>())
      resumes += each->isVisible() && each->text() == "Resume";
    QCOMPARE(resumes, 1);
  }

  void curvesThatEndedOutOfSightAreWholeWhenSeen() {
    const QString id = addRun("a", {{"name", "SGD"}});
    store().setState(id, RunState::running);
    addEvents(id, 20);
    workspace().setCurrentRun(id);
    showPage("training");
    QTRY_COMPARE(training().curves().loss().shownPoints(), std::int64_t{21});
    auto* tabs = m_open->part<QTabBar>("training-tabs");
    tabs->setCurrentIndex(1);
    QTest::qWait(60);
    addEvents(id, 30, 100);
    QTest::qWait(100);
    tabs->setCurrentIndex(0);
    QTRY_VERIFY(training().curves().loss().shownPoints() >= 50);
  }

  void theRateIsOfferedAsItIsRead() {
    RateCard card(0.00106000001536, &m_open->window());
    QCOMPARE(card.findChild<QLineEdit*>("rate-value")->text().toDouble(), 0.00106);
  }

  void anExportThatFailsIsTold() {
    addRun("a", {{"name", "SGD"}});
    showPage("runs");
    Q_EMIT page().lossChart().exported("/nowhere/loss.png", false);
    QTRY_COMPARE(m_open->window().problems().errors(), 1);
    Q_EMIT page().lossChart().exported(m_open->path("loss.png"), true);
    QTRY_COMPARE(m_open->window().problems().errors(), 0);
  }

  void whatDiffersAndWhatCameOfIt() {
    const QString a = addRun("a", {{"name", "Momentum"}, {"learning_rate", 0.05}});
    const QString b = addRun("b", {{"name", "LARS"}, {"learning_rate", 6.4}});
    addEvents(a, 5);
    showPage("runs");
    ParallelAxes& panel = page().differing();
    QTRY_COMPARE(panel.lines().size(), std::size_t{2});
    QVERIFY(panel.isVisible());
    const std::vector<QString> axes = panel.axes();
    QCOMPARE(axes.front(), QString("Optimizer"));
    QCOMPARE(axes.back(), QString("Best %"));
    // The larger rate stands above.
    const auto rate = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), "Learning rate") - axes.begin());
    QVERIFY(rate < axes.size());
    const std::size_t first = panel.lines()[0].id == a ? 0 : 1;
    QVERIFY(panel.crossing(1 - first, rate).y() < panel.crossing(first, rate).y());
    // All runs that the filter leaves, drawn or not.
    page().model().setShown(b, false);
    QTRY_VERIFY(page().settled());
    QVERIFY(panel.isVisible());
    m_open->part<QLineEdit>("runs-filter")->setText("name == a");
    QTRY_VERIFY(!panel.isVisible());
  }

  void everyColumnStandsWithinTheWindow() {
    for (int i = 0; i < 3; ++i)
      addEvents(addRun(QString("run-%1").arg(i), {{"name", i ? "LARS" : "Momentum"}, {"learning_rate", 0.1 * (i + 1)}}),
                5);
    showPage("runs");
    int width = 0;
    for (int column = 0; column < table().model()->columnCount(); ++column) width += table().columnWidth(column);
    QVERIFY2(width <= table().viewport()->width(), qPrintable(QString::number(width)));
  }

  // Of what was not drawn yet there is no number of points.
  void pointsAreCountedOnceTheyAreDrawn() {
    const QString live = addRun("live", {{"name", "SGD"}});
    store().setState(live, RunState::running);
    showPage("runs");
    QStringList said;
    connect(&page(), &Page::statusChanged, this, [&](const QString& words) { said << words; });
    const auto* const strip = m_open->window().findChild<StatusStrip*>();
    QTRY_COMPARE(strip->pageWords(), QString("1 run shown"));
    addEvents(live, 5);
    QTRY_COMPARE(strip->pageWords(), QString("1 run shown, 6 points, 0 dropped"));
    addEvents(addRun("second", {{"name", "SGD"}}), 5);
    QTRY_COMPARE(strip->pageWords(), QString("2 runs shown, 12 points, 0 dropped"));
    for (const QString& words : said) QVERIFY2(!words.contains(", 0 points"), qPrintable(words));
    store().setState(live, RunState::stopped);
  }

  // A narrow window has room for one chart: which, is a click.
  void bothChartsAreReachedInANarrowWindow() {
    addEvents(addRun("a", {{"name", "SGD"}}), 5);
    m_open->window().resize(1024, 700);
    showPage("runs");
    LineChart &metric = page().metricChart(), &loss = page().lossChart();
    QTRY_VERIFY(metric.isVisible() && !loss.isVisible());
    auto* which = m_open->part<ChoiceField>("runs-chart");
    QVERIFY(which && which->isVisible());
    QVERIFY(which->mapTo(&page(), QPoint(which->width(), 0)).x() <= page().width());
    which->setFocus();
    QTest::keyClick(which, Qt::Key_Down);
    QTRY_VERIFY(loss.isVisible() && !metric.isVisible());
    QTRY_COMPARE(loss.shownPoints(), std::int64_t{5});
    m_open->window().resize(1440, 900);
    QTRY_VERIFY(loss.isVisible() && metric.isVisible() && !which->isVisible());
  }

  // Where the words of the x axis have no room beside each other they stand in a list, and none is cut; so it is with
  // states in the table.
  void wordsStandWholeInANarrowWindowWithLargeText() {
    addEvents(addRun("a", {{"name", "SGD"}}), 5);
    m_open->window().resize(1440, 900);
    showPage("runs");
    auto* segments = m_open->part<SegmentedControl>("runs-x-axis");
    auto* field = m_open->part<ChoiceField>("runs-x-axis-field");
    QVERIFY(segments->isVisible() && !field->isVisible());
    const int state = table().columnWidth(RunsModel::state);
    segments->setFocus();
    Theme::of().setTextSize(150);
    const auto usual = qScopeGuard([] { Theme::of().setTextSize(100); });
    m_open->window().resize(1024, 700);
    QTRY_VERIFY(field->isVisible() && !segments->isVisible());
    QVERIFY2(field->width() >= field->sizeHint().width(), qPrintable(QString::number(field->width())));
    QVERIFY(field->hasFocus());
    QTest::keyClick(field, Qt::Key_Down);
    QCOMPARE(page().lossChart().axis()->unit(), XUnit::epoch);
    QTRY_COMPARE(table().columnWidth(RunsModel::state), state * 3 / 2);
    m_open->window().resize(1440, 900);
    Theme::of().setTextSize(100);
    QTRY_VERIFY(segments->isVisible() && !field->isVisible());
    QCOMPARE(segments->current(), static_cast<int>(page().lossChart().axis()->unit()));
    QTRY_COMPARE(table().columnWidth(RunsModel::state), state);
  }

  void aFilterThatLeavesNothingSaysSo() {
    addEvents(addRun("a", {{"name", "SGD"}}), 5);
    showPage("runs");
    auto* field = m_open->part<QLineEdit>("runs-filter");
    field->setText("nobody");
    QTRY_COMPARE(table().model()->rowCount(), 0);
    auto* charts = page().findChild<ChartStack*>();
    QTRY_COMPARE(charts->panels().front()->emptyText(), QString("No run matches the filter"));
    field->clear();
    QTRY_VERIFY(charts->panels().front()->emptyText() != "No run matches the filter");
  }

  // It has axes and a word, in whatever they count.
  void aRunWithoutAStepHasAxesFromZeroToOne() {
    const QString id = addRun("a", {{"name", "SGD"}});
    workspace().setCurrentRun(id);
    showPage("training");
    ChartStack& curves = training().curves().stack();
    for (const XUnit unit : {XUnit::step, XUnit::epoch, XUnit::samples, XUnit::relative}) {
      training().curves().setUnit(unit);
      QTRY_COMPARE(curves.panels().front()->emptyText(), QString("Ended before its first step"));
      QCOMPARE(curves.axis()->full(), (Interval{0, 1}));
    }
    showPage("runs");
    ChartStack* const charts = page().findChild<ChartStack*>();
    QTRY_COMPARE(charts->panels().front()->emptyText(), QString("Nothing was measured yet in what is ticked"));
    QCOMPARE(charts->axis()->full(), (Interval{0, 1}));
  }

  // What is typed key by key begins as a word, which nothing has.
  void aMistakeInTheFilterLeavesTheLastGoodOne() {
    addRun("a", {{"name", "Momentum"}, {"learning_rate", 0.05}});
    addRun("b", {{"name", "LARS"}, {"learning_rate", 6.4}});
    showPage("runs");
    auto* field = m_open->part<QLineEdit>("runs-filter");
    auto* fault = m_open->part<QLabel>("runs-filter-fault");
    field->setFocus();
    const auto type = [&](const QString& text) {
      QTest::keyClicks(field, text);
      if (QWidget* const offers = QApplication::activePopupWidget()) offers->close();
    };
    for (const QChar each : QStringLiteral("lr > 1")) type(each);
    QTRY_VERIFY(fault->isVisible());
    QCOMPARE(table().model()->rowCount(), 2);
    field->clear();
    type("optimizer == LARS");
    QCOMPARE(table().model()->rowCount(), 1);
    for (const QChar each : QStringLiteral(" and lr > 1")) type(each);
    QTRY_VERIFY(fault->isVisible());
    QCOMPARE(table().model()->rowCount(), 1);
    field->selectAll();
    field->insert("lr > 1");  // at once: no part of it was a filter
    QCOMPARE(table().model()->rowCount(), 1);
    field->clear();
    QCOMPARE(table().model()->rowCount(), 2);
  }

  // The row with the bar is the one that the keys mean.
  void keysMeanTheRowWithTheBar() {
    const QString a = addRun("a", {{"name", "SGD"}});
    showPage("runs");
    m_open->activate();
    table().setFocus();
    QVERIFY(table().currentIndex().isValid() && table().selectionModel()->selectedRows().isEmpty());
    QTest::keyClick(&table(), Qt::Key_Space);
    QVERIFY(!page().model().isShown(a));
    // They are the registry's: shown in the menu, and others where a person changed them.
    Commands& commands = m_open->window().commands();
    QCOMPARE(keysText(*commands.find("runs.open")), QString("Return or Enter"));
    commands.setKeys("runs.draw", {QKeySequence("V")});
    QTest::keyClick(&table(), Qt::Key_Space);
    QVERIFY(!page().model().isShown(a));
    QTest::keyClick(&table(), Qt::Key_V);
    QVERIFY(page().model().isShown(a));
    commands.resetKeys("runs.draw");
    for (const auto& [key, modifiers] : {std::pair(Qt::Key_Slash, Qt::NoModifier), {Qt::Key_F, Qt::ControlModifier}}) {
      table().setFocus();
      QTest::keyClick(&m_open->window(), key, modifiers);
      QCOMPARE(QApplication::focusWidget()->objectName(), QString("runs-filter"));
    }
    table().setFocus();
    QTest::keyClick(&table(), Qt::Key_Delete);
    QTRY_COMPARE(row(a), -1);
  }

  // A window that is low: curves keep their height, and what is not seen is scrolled to.
  void aLowWindowScrollsTheCurves() {
    const QString id = addRun("a", {{"name", "SGD"}});
    addEvents(id, 20);
    workspace().setCurrentRun(id);
    m_open->window().resize(1024, 700);
    showPage("training");
    QTRY_VERIFY(training().curves().loss().shownPoints() > 0);
    m_open->window().messages().show("one", MessageBars::Kind::warning, "A sentence");
    m_open->window().messages().show("two", MessageBars::Kind::warning, "A sentence");
    QCoreApplication::processEvents();
    // Two labels of two lines stand beside the curves.
    for (const LineChart* chart : {&training().curves().loss(), &training().curves().metric()})
      QVERIFY2(chart->plot().height() >= 70, qPrintable(QString::number(chart->plot().height())));
    auto* scroll = m_open->part<QScrollArea>("curves-scroll");
    QVERIFY(scroll->verticalScrollBar()->maximum() > 0);
    QVERIFY(!scroll->horizontalScrollBar()->isVisible());
  }

  // The line of the model has its room before there is one: the tabs stay where they are.
  void tabsStayWhereTheyAreWhenAModelComes() {
    const QString id = addRun("a", {{"name", "SGD"}});
    addEvents(id, 5);
    store().setState(id, RunState::running);
    workspace().setCurrentRun(id);
    m_open->window().resize(1024, 700);
    showPage("training");
    auto* tabs = m_open->part<QTabBar>("training-tabs");
    auto* line = m_open->part<QWidget>("model-line");
    QTRY_VERIFY(line->isVisible());
    QVERIFY(!m_open->part<QAbstractButton>("copy-model-path")->isVisible());
    QCoreApplication::processEvents();
    const int before = tabs->mapTo(&training(), QPoint()).y();
    m_open->write("p/runs/a/checkpoints/step-00000005.safetensors", "x");
    m_open->write("p/runs/a/checkpoints/best.json", R"({"file": "step-00000005.safetensors"})");
    workspace().setCurrentRun({});
    workspace().setCurrentRun(id);
    QTRY_VERIFY(m_open->part<QAbstractButton>("copy-model-path")->isVisible());
    QCoreApplication::processEvents();
    QCOMPARE(tabs->mapTo(&training(), QPoint()).y(), before);
  }

  // A better value is measured a moment before its weights are written: until then the model is told with its own step.
  void bestAndBestModelNeverContradictEachOther() {
    const QString id = addRun("a", {{"name", "SGD"}});
    addEvents(id, 5);
    store().setState(id, RunState::running);
    QVERIFY(store().find(id)->bestStep > 5);
    m_open->write("p/runs/a/checkpoints/step-00000005.safetensors", "x");
    m_open->write("p/runs/a/checkpoints/best.json", R"({"file": "step-00000005.safetensors"})");
    workspace().setCurrentRun(id);
    showPage("training");
    auto *place = m_open->part<QLabel>("model-place"), *when = m_open->part<QLabel>("best-when");
    QTRY_VERIFY2(place->text().startsWith("still of step 5, "), qPrintable(place->text()));
    QVERIFY2(when->text().contains("weights follow"), qPrintable(when->text()));
    const QString file = QString("step-%1.safetensors").arg(store().find(id)->bestStep, 8, 10, QChar('0'));
    m_open->write("p/runs/a/checkpoints/" + file, "x");
    m_open->write("p/runs/a/checkpoints/best.json", QString(R"({"file": "%1"})").arg(file).toUtf8());
    Event written;
    written.sequence = 100;
    written.attempt = 1;
    written.time = 1e9 + 200;
    written.kind = "checkpoint";
    written.body = {{"step", store().find(id)->bestStep}, {"file", file.toStdString()}, {"best", true}};
    store().append(id, toBatch({written}));
    QTRY_VERIFY2(!place->text().contains("still"), qPrintable(place->text()));
    QTRY_VERIFY2(when->text().contains("weights kept"), qPrintable(when->text()));
  }

  void theFilterCompletesNamesAndValues() {
    addRun("a", {{"name", "Momentum"}, {"learning_rate", 0.05}});
    addRun("b", {{"name", "LARS"}, {"learning_rate", 6.4}});
    showPage("runs");
    auto* field = m_open->part<QLineEdit>("runs-filter");
    auto* completer = field->findChild<FilterCompleter*>();
    QVERIFY(completer);
    QCOMPARE(completer->offers("learn").value(0), QString("learning_rate"));
    QCOMPARE(completer->offers("epochs > 1 and opti").value(0), QString("optimizer"));
    QCOMPARE(completer->offers("optimizer == \"L"), (QStringList{"\"LARS\""}));
    QVERIFY(completer->offers("learning_rate > ").contains("6.4"));
    QCOMPARE(completer->offers("epochs > 1 or not (opti").value(0), QString("optimizer"));
    QCOMPARE(completer->offers("optimizer in (\"LARS\", Mo"), (QStringList{"\"Momentum\""}));
    QVERIFY(completer->offers("optimizer ").contains("in ("));
    QVERIFY(completer->offers("nobody ").isEmpty());
    field->setFocus();
    QTest::keyClicks(field, "optimizer == la");
    auto* popup = m_open->window().findChild<QAbstractItemView*>("filter-offers");
    if (!popup) popup = qobject_cast<QAbstractItemView*>(QApplication::activePopupWidget());
    QVERIFY(popup && popup->isVisible());
    QTest::keyClick(popup, Qt::Key_Tab);
    QCOMPARE(field->text(), QString("optimizer == \"LARS\""));
    QTRY_COMPARE(table().model()->rowCount(), 1);
    field->clear();
  }

  void aThemeThatIsSwitchedReachesTheCharts() {
    const QString id = addRun("a", {{"name", "SGD"}});
    addEvents(id, 20);
    workspace().setCurrentRun(id);
    showPage("training");
    QTRY_COMPARE(training().curves().loss().shownPoints(), std::int64_t{21});
    const auto ground = [&](Colour colour) {
      LineChart& chart = training().curves().loss();
      return chart.grab().toImage().pixelColor(static_cast<int>(chart.plot().left()) + 30,
                                               static_cast<int>(chart.plot().bottom())) == Theme::of().colour(colour);
    };
    QTRY_VERIFY(ground(Colour::axis));
    Theme::of().setMode(ThemeMode::dark);
    QTRY_VERIFY(ground(Colour::axis));
    Theme::of().setMode(ThemeMode::light);
  }
};

}  // namespace loom

QTEST_MAIN(loom::RunsPageTest)
#include "runs_page_test.moc"
