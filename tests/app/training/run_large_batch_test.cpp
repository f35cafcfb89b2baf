// A person looks at a run as who trains with large batches does: noise scale, trust ratios, loss scale, waiting,
// buckets.
#include "app/pages/training/run_large_batch.h"

#include <QHelpEvent>
#include <QLabel>
#include <QTabBar>
#include <QToolTip>

#include "app/pages/training/large_batch_parts.h"
#include "app/pages/training/rank_bars.h"
#include "app/pages/training/training_page.h"
#include "engine/planner/critical_batch.h"
#include "tests/app/training/told_run.h"
#include "tests/patience.h"
#include "widgets/chart/chart_stack.h"

namespace loom {

class RunLargeBatchTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;
  std::unique_ptr<ToldRuns> m_runs;

  QString text(const char* label) { return m_open->part<QLabel>(label)->text(); }
  RunLargeBatch& tab() { return *m_open->part<RunLargeBatch>("large-batch"); }
  bool seen(const char* name) { return m_open->part<QWidget>(name)->isVisible(); }
  void openTab(const QString& id) {
    m_open->workspace().setCurrentRun(id);
    m_open->window().showPage("training");
    QTRY_VERIFY(m_open->window().settled());
    auto* tabs = m_open->part<QTabBar>("training-tabs");
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(6).center());
    QTRY_VERIFY(tab().isVisible());
  }
  void tellStart(const QString& id, int ranks) {
    m_runs->tell(id, "started",
                 {{"steps_total", 100}, {"epochs", 2}, {"batch", 512}, {"ranks", ranks}, {"logical_ranks", ranks}});
  }
  // Half of a step's 10 ms is waiting for other ranks, a tenth for data.
  void tellSteps(const QString& id, int from, int to, const Json& more) {
    for (int step = from; step <= to; ++step) {
      Json body = {{"step", step}, {"epoch", step / 50.0}, {"samples", step * 512}, {"loss", 2.0 / step},
                   {"ms", 10.0},   {"learning_rate", 0.1}, {"data_ms", 1.0}};
      body.update(more);
      m_runs->tell(id, "step", body);
    }
  }
  void shot(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_SHOTS");
    if (folder.isEmpty()) return;
    for (const auto& [mode, word] : {std::pair(ThemeMode::light, "light"), std::pair(ThemeMode::dark, "dark")}) {
      Theme::of().setMode(mode);
      for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
        m_open->window().resize(size);
        QTest::qWait(400);
        m_open->window().grab().save(QString("%1/%2-%3-%4.png").arg(folder, name, word).arg(size.width()));
      }
    }
    Theme::of().setMode(ThemeMode::light);
    m_open->window().resize(1440, 900);
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kToldProject));
    QTRY_VERIFY(m_open->workspace().document());
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    m_runs = std::make_unique<ToldRuns>(*m_open);
  }
  void cleanup() { m_open.reset(); }

  void noiseStandsBesideTheBatchWithWhatTwiceTheRanksBring() {
    const QString id = m_runs->add({{"watch_gradients", true}, {"accumulate", 1}}, RunState::running);
    tellStart(id, 4);
    tellSteps(id, 1, 40, {{"exchange_ms", 5.0}, {"noise_scale", 300.0}});
    openTab(id);
    QTRY_COMPARE(text("live-noise"), QString("300"));
    QCOMPARE(text("live-noise-words"), QString::fromStdString(tradeSentence(300, 512)));
    QVERIFY(!seen("watch-gradients"));
    const LineChart& chart = *tab().stack().panels()[0];
    QTRY_COMPARE(chart.lines().size(), std::size_t{2});  // and the batch
    QVERIFY(chart.isLogarithmic());
    // It goes on while one looks.
    tellSteps(id, 41, 60, {{"exchange_ms", 5.0}, {"noise_scale", 1200.0}});
    QTRY_COMPARE(text("live-noise"), QString("1,200"));
    QCOMPARE(text("live-noise-words"), QString::fromStdString(tradeSentence(1200, 512)));
    QTRY_VERIFY2(text("wait-words").contains("10" + QString(QChar(0x202F)) + "ms, mean of the newest 60 steps"),
                 qPrintable(text("wait-words")));
    QVERIFY(!text("wait-words").contains("one rank"));
    m_open->workspace().store().setState(id, RunState::stopped);
  }

  void ratiosMagnitudesAndSkippedStepsAreThoseOfTheNewestEvents() {
    const QString id = m_runs->add({{"watch_gradients", true}, {"precision", "f16"}}, RunState::running);
    tellStart(id, 2);
    tellSteps(id, 1, 30, {{"loss_scale", 65536.0}, {"trust_ratio_least", 0.2}, {"trust_ratio_median", 0.7}});
    tellSteps(id, 31, 32, {{"loss_scale", 65536.0}, {"skipped", 1}});
    tellSteps(id, 33, 60, {{"loss_scale", 16384.0}, {"trust_ratio_least", 0.3}, {"trust_ratio_median", 0.8}});
    const auto gradients = [](int step, double ratio) {
      return Json{
          {"step", step},
          {"trust_ratios", {{{"name", "conv/weight"}, {"ratio", ratio}}, {{"name", "fc/weight"}, {"ratio", 2.5}}}},
          {"magnitudes",
           {{"from", -40},
            {"counts", {10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 30, 20, 10, 5, 3, 2}},
            {"zeros", 4},
            {"lost", 0.3},
            {"scale", 16384.0},
            {"lost_scaled", 0.1}}}};
    };
    m_runs->tell(id, "gradients", gradients(1, 0.5));
    openTab(id);
    auto* table = m_open->part<QTableWidget>("ratio-table");
    QTRY_COMPARE(table->rowCount(), 2);
    QCOMPARE(table->item(0, 0)->text(), QString("conv/weight"));
    QCOMPARE(table->item(0, 2)->text(), QString("0.500"));
    m_runs->tell(id, "gradients", gradients(60, 0.25));
    QTRY_COMPARE(table->item(0, 2)->text(), QString("0.250"));
    QVERIFY(text("ratio-words").contains("step 60"));
    const QString space(QChar(0x202F));
    QVERIFY2(text("magnitude-words").contains("30.00" + space + "%"), qPrintable(text("magnitude-words")));
    QVERIFY2(text("magnitude-words").contains("16,384 10.00" + space + "%"), qPrintable(text("magnitude-words")));
    QVERIFY(seen("magnitude-bars"));
    const LineChart& scale = *tab().stack().panels()[2];
    QTRY_COMPARE(scale.lines().size(), std::size_t{1});
    shot("large-batch");
    m_open->workspace().store().setState(id, RunState::stopped);
  }

  void bucketsAreShownOnRequestPredictedBesideMeasured() {
    const QString id = m_runs->add();
    tellStart(id, 4);
    tellSteps(id, 1, 9, {{"exchange_ms", 5.0}});
    const Json bucket = {{"label", "gradients of conv4/weight"},
                         {"numbers", 5000},
                         {"reduction", "ring"},
                         {"steps", 6},
                         {"bytes", 30000},
                         {"predicted_ms", 0.5},
                         {"least_ms", 0.75}};
    Json small = bucket;
    small.erase("predicted_ms");
    m_runs->tell(
        id, "exchange",
        {{"step", 8},
         {"updates", {{{"network", "main"}, {"reduction", "hybrid"}, {"wire", "f32"}, {"buckets", {bucket, small}}}}}});
    openTab(id);
    auto* table = m_open->part<QTableWidget>("bucket-table");
    QTRY_VERIFY(seen("show-buckets"));
    QVERIFY(!table->isVisible());
    tab().ensureWidgetVisible(m_open->part<QWidget>("show-buckets"));
    QCoreApplication::processEvents();
    m_open->click("show-buckets");
    QTRY_VERIFY(table->isVisible());
    const QString space(QChar(0x202F));
    QCOMPARE(table->item(0, 2)->text(), QString("ring"));
    QCOMPARE(table->item(0, 4)->text(), "500" + space + "µs");
    QCOMPARE(table->item(0, 5)->text(), "750" + space + "µs");
    QCOMPARE(table->item(1, 4)->text(), QString("–"));
    QVERIFY(text("bucket-words").contains("2 buckets by hybrid"));
    shot("large-batch-buckets");
    m_open->click("show-buckets");
    QTRY_VERIFY(!table->isVisible());
  }

  // In the column at the right; in a narrow window, which has none, in this tab.
  void eachRankHasABarAndTheSlowestIsNamed() {
    const QString id = m_runs->add({}, RunState::running);
    tellStart(id, 4);
    tellSteps(id, 1, 9, {{"exchange_ms", 5.0}});
    const auto in = [this](const char* card, const char* label) {
      return m_open->part<QWidget>(card)->findChild<QLabel*>(label)->text();
    };
    openTab(id);
    QTRY_COMPARE(in("rank-card", "rank-words"), QString("Told behind the eighth step."));
    auto& bars = *m_open->part<QWidget>("rank-card")->findChild<RankBars*>();
    QVERIFY(!bars.isVisible());
    m_runs->tell(id, "ranks",
                 {{"step", 8},
                  {"steps", 7},
                  {"computing_ms", {100, 99, 106, 101}},
                  {"exchanging_ms", {10, 10, 10, 10}},
                  {"waiting_ms", {6, 7, 0, 5}},
                  {"data_ms", {0, 0, 0, 0}},
                  {"hosts", Json::parse(R"([["node01", 2], ["node02", 2]])")}});
    QTRY_COMPARE(in("rank-card", "rank-words"), "Rank 2 on node02 is 6" + QString(QChar(0x202F)) + "% behind");
    QCOMPARE(in("rank-card", "rank-consequence"),
             "It sets the pace; the others wait 6.0" + QString(QChar(0x202F)) + "ms a step.");
    QVERIFY(bars.isVisible());
    // Hosts stand apart, and a bar under the mouse says what it is.
    QVERIFY(bars.barOf(2).left() - bars.barOf(1).right() > bars.barOf(1).left() - bars.barOf(0).right() + 4);
    const QPoint at = bars.barOf(2).center().toPoint();
    QTest::mouseMove(&bars, at);
    QHelpEvent help(QEvent::ToolTip, at, bars.mapToGlobal(at));
    QApplication::sendEvent(&bars, &help);
    QVERIFY2(QToolTip::text().startsWith("Rank 2 on node02") && QToolTip::text().contains("waiting under 0.1 ms"),
             qPrintable(QToolTip::text()));
    QToolTip::hideText();
    shot("ranks");
    m_open->window().resize(1024, 700);
    auto* inTab = m_open->part<QWidget>("ranks-of-step");
    QTRY_VERIFY(inTab->isVisible() && !m_open->part<QWidget>("rank-card")->isVisible());
    QCOMPARE(in("ranks-of-step", "rank-words"), in("rank-card", "rank-words"));
    m_open->window().resize(1440, 900);
    QTRY_VERIFY(!inTab->isVisible() && bars.isVisible());
    m_open->workspace().store().setState(id, RunState::stopped);
    // A sentence where there is nothing to compare.
    const QString alone = m_runs->add();
    tellStart(alone, 1);
    openTab(alone);
    QTRY_COMPARE(in("rank-card", "rank-words"), QString("One rank: it waits for nobody."));
    QVERIFY(!bars.isVisible());
  }

  // More ranks than bars have room for: each bar is the slowest of some, so the slowest of all is always seen.
  void ofThousandsOfRanksTheSlowestIsSeen() {
    const QString id = m_runs->add();
    tellStart(id, 4096);
    Json computing = Json::array(), rest = Json::array();
    for (int i = 0; i < 4096; ++i) computing.push_back(i == 1234 ? 130 : 100), rest.push_back(i == 1234 ? 0 : 30);
    m_runs->tell(id, "ranks",
                 {{"step", 8},
                  {"steps", 7},
                  {"computing_ms", computing},
                  {"exchanging_ms", Json::array()},
                  {"waiting_ms", rest},
                  {"data_ms", Json::array()},
                  {"hosts", Json::array()}});
    openTab(id);
    const auto& bars = *m_open->part<QWidget>("rank-card")->findChild<RankBars*>();
    QTRY_VERIFY(!bars.barOf(1234).isEmpty());
    QVERIFY(bars.barOf(1234).right() <= bars.width());
    QVERIFY(m_open->part<QWidget>("rank-card")->findChild<QLabel*>("rank-words")->text().startsWith("Rank 1234 is 30"));
    shot("many-ranks");
  }

  void whereNothingWasMeasuredItSaysWhatToSwitchOn() {
    const QString plain = m_runs->add({{"watch_gradients", false}});
    tellStart(plain, 1);
    tellSteps(plain, 1, 5, Json::object());
    openTab(plain);
    QCOMPARE(text("live-noise"), QString("–"));
    QVERIFY(text("live-noise-words").contains("Watch gradients"));
    QVERIFY(!seen("ratio-table") && !seen("magnitude-bars") && !seen("bucket-table") && !seen("show-buckets"));
    QTRY_VERIFY(text("wait-words").contains("one rank exchanges nothing"));
    shot("large-batch-empty");
    // The link leads to the field.
    m_open->click("watch-gradients");
    QTRY_COMPARE(m_open->window().currentPage(), QString("settings"));
    // One that watched, but whose steps have one part, says that.
    const QString whole = m_runs->add({{"watch_gradients", true}, {"accumulate", 1}});
    tellStart(whole, 1);
    openTab(whole);
    QTRY_VERIFY(text("live-noise-words").contains("several ranks, virtual ranks or accumulation"));
    QVERIFY(!seen("watch-gradients"));
  }

  void whatAForeignFolderSaysIsLookedAtFirst() {
    const QString id = m_runs->add();
    tellSteps(id, 1, 3, {{"noise_scale", -5.0}});
    m_runs->tell(id, "gradients",
                 {{"step", "x"},
                  {"trust_ratios", {1, {{"name", "a"}, {"ratio", -1}}, {{"name", 3}, {"ratio", 1}}, {{"ratio", 1}}}},
                  {"magnitudes", {{"counts", "many"}}}});
    m_runs->tell(id, "exchange", {{"updates", {3, {{"buckets", {1, "x", {{"label", 5}}}}}}}});
    openTab(id);
    QCOMPARE(text("live-noise"), QString("–"));
    QVERIFY(!seen("ratio-table") && !seen("magnitude-bars"));
  }

  void theKeyboardLeadsThere() {
    m_open->workspace().setCurrentRun(m_runs->add());
    m_open->window().showPage("training");
    QTRY_VERIFY(m_open->window().settled());
    m_open->activate();
    QTest::keyClick(m_open->window().page("training"), Qt::Key_G);
    QTRY_VERIFY(tab().isVisible());
  }
};

int testLargeBatch(int argc, char** argv) {
  RunLargeBatchTest test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace loom

#include "run_large_batch_test.moc"
