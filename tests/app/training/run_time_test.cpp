// A person asks where the time of a run's step goes, and sees it on the canvas.
#include "app/pages/training/run_time.h"

#include <QLabel>
#include <QTabBar>
#include <QTableWidget>

#include "app/pages/network/measured_layers.h"
#include "app/pages/network/network_page.h"
#include "app/pages/training/training_page.h"
#include "tests/app/opened_window.h"
#include "tests/app/training/told_run.h"
#include "widgets/canvas/cost_legend.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/segmented_control.h"

namespace loom {
namespace {

// 8 ms of 10 in layers, 1 in the update.
const Json kLayers = {
    {"steps", 5},
    {"step", 8},
    {"step_ms", 10.0},
    {"ms", {{"out", 6.0}, {"loss", 2.0}}},
    {"other_ms", 1.0},
    {"ops_ms", {{"matmul", 5.0}, {"bias_gradient", 1.0}, {"softmax_cross_entropy", 2.0}, {"update", 1.0}}},
    {"predicted",
     {{"ms", {{"out", 5.0}, {"loss", 2.5}}},
      {"other_ms", 1.5},
      {"ops_ms", {{"matmul", 4.0}, {"update", 1.5}}},
      {"from", "from 9 stages measured on 2026-11-23 by gradloom 1"}}}};

}  // namespace

class RunTimeTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;
  std::unique_ptr<ToldRuns> m_runs;

  Workspace& workspace() { return m_open->workspace(); }
  QString addRun(const std::vector<Json>& layers, RunState state = RunState::finished) {
    const QString id = m_runs->add({}, state);
    append(id, layers);
    return id;
  }
  void append(const QString& id, const std::vector<Json>& layers) {
    for (const Json& body : layers) m_runs->tell(id, "layers", body);
  }
  void openTime(const QString& id) {
    workspace().setCurrentRun(id);
    m_open->window().showPage("training");
    QTRY_VERIFY(m_open->window().settled());
    auto* tabs = m_open->part<QTabBar>("training-tabs");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(3).center());
    QCOMPARE(tabs->tabText(tabs->currentIndex()), QString("Time"));
  }
  QTableWidget& table() { return *m_open->part<QTableWidget>("time-table"); }
  QStringList row(int at) {
    QStringList texts;
    for (int c = 0; c < table().columnCount(); ++c)
      if (c != 1 && !table().isColumnHidden(c)) texts << table().item(at, c)->text();
    return texts;
  }
  QString text(const char* name) { return m_open->part<QLabel>(name)->text(); }
  void shot(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_SHOTS");
    if (folder.isEmpty()) return;
    QTest::qWait(400);
    m_open->window().grab().save(folder + '/' + name + ".png");
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kToldProject));
    QTRY_VERIFY(workspace().document());
    QTRY_COMPARE(workspace().errors(), 0);
    m_runs = std::make_unique<ToldRuns>(*m_open);
  }
  void cleanup() { m_open.reset(); }

  void theLongestStandsFirstMeasuredBesidePredicted() {
    openTime(addRun({kLayers}));
    QVERIFY(table().isVisible());
    QCOMPARE(table().rowCount(), 4);
    const QString space(QChar(0x202F));
    QCOMPARE(row(0), QStringList({"out", "6.0" + space + "ms", "60.0" + space + "%", "5.0" + space + "ms"}));
    QCOMPARE(row(1), QStringList({"loss", "2.0" + space + "ms", "20.0" + space + "%", "2.5" + space + "ms"}));
    const int update = row(2).first() == "Between stages" ? 3 : 2;
    QCOMPARE(row(update),
             QStringList({"Update of the weights", "1.0" + space + "ms", "10.0" + space + "%", "1.5" + space + "ms"}));
    QCOMPARE(row(5 - update), QStringList({"Between stages", "1.0" + space + "ms", "10.0" + space + "%", "–"}));
    QVERIFY2(text("time-title") == "A step takes 10" + space + "ms, predicted 9.0" + space + "ms",
             qPrintable(text("time-title")));
    QVERIFY2(text("time-detail").contains("5 steps up to step 8, on this machine; predicted from 9 stages"),
             qPrintable(text("time-detail")));
    shot("time-light");
    Theme::of().setMode(ThemeMode::dark);
    shot("time-dark");
    Theme::of().setMode(ThemeMode::light);
  }

  void operationsAreAClickAway() {
    openTime(addRun({kLayers}));
    auto* by = m_open->part<SegmentedControl>("time-by");
    QTest::mouseClick(by, Qt::LeftButton, {}, by->segment(1).center());
    QCOMPARE(table().rowCount(), 5);  // four, and what is between stages
    QCOMPARE(row(0).first(), QString("matmul"));
    const QString space(QChar(0x202F));
    QCOMPARE(row(0), QStringList({"matmul", "5.0" + space + "ms", "50.0" + space + "%", "4.0" + space + "ms"}));
    QCOMPARE(row(1).first(), QString("softmax_cross_entropy"));
    QCOMPARE(row(1).last(), QString("–"));  // nothing was predicted of it
    shot("time-operations");
    QTest::keyClick(by, Qt::Key_Left);
    QCOMPARE(row(0).first(), QString("out"));
  }

  void oneClickShowsItOnTheCanvasOfTheRunThatIsShown() {
    const QString shown = addRun({kLayers});
    Json other = kLayers;
    other["ms"] = {{"out", 1.0}, {"loss", 7.0}};
    openTime(addRun({other}));  // newer, and the one that the window has in hand
    QCOMPARE(row(0).first(), QString("loss"));
    // As a run that was just submitted is shown: the window's run is still the other.
    QVERIFY(m_open->window().page("training")->show({.page = "training", .run = shown}));
    auto* tabs = m_open->part<QTabBar>("training-tabs");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(0).center());
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(3).center());
    QCOMPARE(row(0).first(), QString("out"));
    m_open->click("time-on-canvas");
    QTRY_VERIFY(m_open->window().page("network")->isVisible());
    auto& page = *static_cast<NetworkPage*>(m_open->window().page("network"));
    QCOMPARE(page.scene().costKind(), CostKind::measuredTime);
    QTRY_COMPARE(page.scene().costs().nodes.count("out"), std::size_t{1});
    QCOMPARE(page.scene().costs().nodes.at("out").measured, 0.006);
    QCOMPARE(page.scene().costs().measuredBy, m_open->workspace().store().find(shown)->name.toStdString());
    // In colours: 6 and 2 ms, and the legend names them and the run.
    const auto step = [&](const char* node) { return page.scene().card(node)->content().step.value_or(-2); };
    QCOMPARE(step("out"), 4);
    QCOMPARE(step("loss"), 3);
    QCOMPARE(step("x"), CostScale::kNone);
    QCOMPARE(page.scene().card("loss")->content().cost, "2.0" + QString(QChar(0x202F)) + "ms");
    QVERIFY(page.view().costLegend().isVisible());
    QCOMPARE(page.view().costLegend().title(),
             "Measured time of a step, " + m_open->workspace().store().find(shown)->name);
    QCOMPARE(page.view().costLegend().steps()[3]->text(), QString("2–5"));
    shot("time-canvas");
  }

  void enterOnALayerLeadsToItsCard() {
    openTime(addRun({kLayers}));
    table().setCurrentCell(1, 0);
    table().setFocus();
    QTest::keyClick(&table(), Qt::Key_Return);
    QTRY_VERIFY(m_open->window().page("network")->isVisible());
    auto& page = *static_cast<NetworkPage*>(m_open->window().page("network"));
    QTRY_COMPARE(page.scene().pickedNodes(), std::vector<std::string>{"loss"});
  }

  void theKeyboardReachesAllOfIt() {
    workspace().setCurrentRun(addRun({kLayers}));
    m_open->window().showPage("training");
    QTRY_VERIFY(m_open->window().settled());
    m_open->activate();
    QTest::keyClick(m_open->window().page("training"), Qt::Key_T);
    QTRY_VERIFY(table().isVisible());
    QTest::keyClick(m_open->window().page("training"), Qt::Key_T, Qt::ShiftModifier);
    QTRY_VERIFY(m_open->window().page("network")->isVisible());
  }

  void aRunOfAnOlderVersionShowsWhatItHas() {
    openTime(addRun({Json{{"steps", 5}, {"step", 8}, {"ms", {{"out", 6.0}}}, {"other_ms", 2.0}}}));
    QCOMPARE(table().rowCount(), 2);
    QCOMPARE(row(0).size(), 3);  // no column of predictions
    QVERIFY(!text("time-title").contains("predicted"));
    auto* by = m_open->part<SegmentedControl>("time-by");
    QVERIFY(!by->isEnabled());
  }

  void aRunThatMeasuredNothingSaysWhy() {
    openTime(addRun({}));
    QVERIFY(!table().isVisible());
    QVERIFY(m_open->part<QWidget>("time-empty")->isVisible());
    shot("time-empty");
    const QString live = addRun({}, RunState::running);
    workspace().setCurrentRun(live);
    QVERIFY(!table().isVisible());
    append(live, {kLayers});  // as it arrives
    QTRY_VERIFY(table().isVisible());
    workspace().store().setState(live, RunState::stopped);
  }

  void whatAForeignFolderSaysIsLookedAtFirst() {
    openTime(addRun({kLayers, Json{{"ms", "all"}}, Json{{"ms", {{"out", -1}}}, {"other_ms", "much"}},
                     Json{{"ms", {{"out", 1e300}}}, {"predicted", 3}}}));
    QCOMPARE(row(0), QStringList({"out", "6.0" + QString(QChar(0x202F)) + "ms", "60.0" + QString(QChar(0x202F)) + "%",
                                  "5.0" + QString(QChar(0x202F)) + "ms"}));
  }
};

}  // namespace loom

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  loom::RunTimeTest times;
  const int failed = QTest::qExec(&times, argc, argv);
  return failed + loom::testLargeBatch(argc, argv) + loom::testRunWords(argc, argv);
}
#include "run_time_test.moc"
