// What a chart paints of runs whose curves lie in the database: nothing is read on the window's thread.
#include "app/store_series.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <thread>

#include "app/run_outline.h"
#include "engine/run/run_folder.h"
#include "launcher/store/database.h"
#include "tests/patience.h"

namespace loom {

class StoreSeriesTest : public QObject {
  Q_OBJECT

 private:
  static constexpr int kSteps = 20000;  // several blocks and levels
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<RunStore> m_store;

  QString storeFolder() const { return m_folder->filePath("store"); }
  void append(int from, int to) {
    EventBatch batch;
    batch.names = {series::kLoss, "training.part"};
    for (int step = from; step <= to; ++step) {
      const auto begin = static_cast<std::uint32_t>(batch.cells.size());
      batch.cells.emplace_back(0, step == 5000 ? std::nan("") : 1.0 / step);
      batch.cells.emplace_back(1, 0.25 / step);
      batch.rows.push_back({.sequence = step,
                            .attempt = 1,
                            .step = step,
                            .time = 1000.0 + step,
                            .isStep = true,
                            .begin = begin,
                            .end = begin + 2});
    }
    m_store->append("a", batch);
  }

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_store = std::make_unique<RunStore>(storeFolder());
    RunRecord run;
    run.id = "a";
    run.folder = m_folder->filePath("a");
    run.project = "/p.loom";
    m_store->add(run);
    append(1, kSteps);
    m_store->flush();
  }
  void cleanup() {
    m_store.reset();
    m_folder.reset();
  }

  void whatIsInMemoryIsThereAtOnce() {
    const StoreSeries loss(*m_store, "a", series::kLoss);
    QCOMPARE(loss.columns(XUnit::step, 0, kSteps, 300).points, std::int64_t{kSteps});
  }

  void whatLiesInTheDatabaseIsReadBesideTheWindow() {
    const ChartColumns wanted = StoreSeries(*m_store, "a", series::kLoss).columns(XUnit::step, 0, kSteps, 300);
    m_store.reset();
    m_store = std::make_unique<RunStore>(storeFolder());
    const StoreSeries loss(*m_store, "a", series::kLoss);
    int told = 0;
    loss.whenMore([&] { ++told; });
    QVERIFY2(loss.columns(XUnit::step, 0, kSteps, 300).columns.empty(), "read while painting");
    QTRY_COMPARE(told, 1);
    const ChartColumns read = loss.columns(XUnit::step, 0, kSteps, 300);
    QCOMPARE(read.columns.size(), wanted.columns.size());
    QCOMPARE(read.points, wanted.points);
    for (std::size_t i = 0; i < read.columns.size(); ++i) {
      QCOMPARE(read.columns[i].maximum, wanted.columns[i].maximum);
      QCOMPARE(read.columns[i].bad.has_value(), wanted.columns[i].bad.has_value());
    }
    // A closer look: what was drawn stays until the answer is there. The same question is not asked again.
    QCOMPARE(loss.columns(XUnit::step, 100, 200, 300).columns.size(), wanted.columns.size());
    QTRY_COMPARE(told, 2);
    QCOMPARE(loss.columns(XUnit::step, 100, 200, 300).points, std::int64_t{103});
    QTest::qWait(50);
    QCOMPARE(told, 2);
  }

  // A run went on while its page was hidden, and the store let go what nobody looked at.
  void aCurveThatGrewUnseenIsWholeAtOnce() {
    int last = kSteps;
    for (int flush = 0; flush < 3; ++flush) {
      append(last + 1, last + 10);
      last += 10;
      m_store->flush();
    }
    append(last + 1, last + 10);
    last += 10;
    const StoreSeries loss(*m_store, "a", series::kLoss);
    for (int frame = 0; frame < 2; ++frame)
      QCOMPARE(loss.columns(XUnit::step, 0, last, 300).points, std::int64_t{last});
  }

  // Somebody holds the database: the painting goes on, and the curve comes when it can.
  void aDatabaseThatDoesNotAnswerHoldsNoPaintingUp() {
    m_store.reset();
    m_store = std::make_unique<RunStore>(storeFolder());
    auto other = std::make_unique<Database>(storeFolder() + "/runs.db");
    other->run("PRAGMA locking_mode = EXCLUSIVE");
    const StoreSeries loss(*m_store, "a", series::kLoss);
    int told = 0;
    loss.whenMore([&] { ++told; });
    QElapsedTimer timer;
    timer.start();
    for (int frame = 0; frame < 100; ++frame) loss.columns(XUnit::step, 0, kSteps, 300 + frame);
    QVERIFY2(timer.elapsed() < 1500, qPrintable(QString::number(timer.elapsed())));
    other.reset();
    QTRY_VERIFY(told > 0);
    QTRY_COMPARE(loss.columns(XUnit::step, 0, kSteps, 300).points, std::int64_t{kSteps});
  }

  // The names of the series and where they lie, which a page asks ten times a second, wait for the disk as little.
  void whichCurvesThereAreIsReadBesideTheWindow() {
    m_store.reset();
    m_store = std::make_unique<RunStore>(storeFolder());
    int told = 0;
    const auto question = outlineQuestion(*m_store, "a", [&] { ++told; });
    const RunOutline::Asked asked{XUnit::step, {1, 400}};
    QElapsedTimer timer;
    timer.start();
    for (int frame = 0; frame < 100; ++frame) QVERIFY2(!question->ask(asked), "read on the window's thread");
    QVERIFY2(timer.elapsed() < 1500, qPrintable(QString::number(timer.elapsed())));
    QTRY_COMPARE(told, 1);
    const RunOutline* outline = question->ask(asked);
    QVERIFY(outline && outline->loss && outline->has(series::kLoss) && outline->has("training.part") &&
            !outline->has("training.other"));
    QCOMPARE(outline->lastStep, std::int64_t{kSteps});
    QCOMPARE(outline->loss->second - outline->x.at(400), double(kSteps - 400));
    for (int frame = 0; frame < 100; ++frame) QVERIFY(question->ask(asked));
    QTest::qWait(50);
    QCOMPARE(told, 1);  // the same question is not asked again
    // Of another axis: what is known stands until the answer is there, and says for what it holds.
    outline = question->ask({XUnit::relative, {}});
    QVERIFY(outline && question->answered()->unit == XUnit::step);
    QTRY_COMPARE(told, 2);
    QVERIFY(question->ask({XUnit::relative, {}}) && question->answered()->unit == XUnit::relative);
    // A run that grows is answered from memory, each time anew.
    append(kSteps + 1, kSteps + 5);
    QCOMPARE(question->ask({XUnit::step, {}})->loss->second, double(kSteps + 5));
    append(kSteps + 6, kSteps + 7);
    QCOMPARE(question->ask({XUnit::step, {}})->loss->second, double(kSteps + 7));
  }

  void theDifferenceOfTwoCurvesComesTheSameWay() {
    m_store.reset();
    m_store = std::make_unique<RunStore>(storeFolder());
    const StoreDifference difference(*m_store, "a", series::kLoss, {"training.part"});
    int told = 0;
    difference.whenMore([&] { ++told; });
    QVERIFY(difference.columns(XUnit::step, 0, 100, 300).columns.empty());
    QTRY_COMPARE(told, 2);
    const ChartColumns read = difference.columns(XUnit::step, 0, 100, 300);
    QCOMPARE(read.columns[9].last, 0.075);
  }

  void allPointsAreReadOnTheThreadThatWritesThem() {
    m_store.reset();
    m_store = std::make_unique<RunStore>(storeFolder());
    std::function<ChartColumns()> all;
    {
      const StoreSeries loss(*m_store, "a", series::kLoss);
      all = loss.reader(XUnit::step);
    }
    ChartColumns read;
    std::thread([&] { read = all(); }).join();
    QCOMPARE(read.columns.size(), std::size_t{kSteps});
    QCOMPARE(read.columns[9].last, 0.1);
    // What is not saved yet belongs to it.
    append(kSteps + 1, kSteps + 5);
    QCOMPARE(StoreSeries(*m_store, "a", series::kLoss).reader(XUnit::step)().columns.size(), std::size_t{kSteps + 5});
  }
};

}  // namespace loom

QTEST_GUILESS_MAIN(loom::StoreSeriesTest)
#include "store_series_test.moc"
