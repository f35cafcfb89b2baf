#include "launcher/store/run_store.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "launcher/found_run.h"
#include "launcher/store/database.h"
#include "launcher/store/file_lock.h"

namespace loom {
namespace {

QCoreApplication& application() {
  static int count = 1;
  static char name[] = "test";
  static char* words[] = {name};
  static QCoreApplication application(count, words);
  return application;
}

// A log as the engine writes it: attempt 1 to step 100, killed; attempt 2 from 51 to 80, stopped; attempt 3 from 81 to
// 120.
class RunStoreTest : public testing::Test {
 protected:
  void SetUp() override { application(); }

  QString makeRun(const char* name, std::initializer_list<std::array<int, 3>> attempts) {
    const QString path = m_folder.filePath(name);
    QDir().mkpath(path);
    const RunFolder folder{path.toStdString()};
    for (const auto& [attempt, from, to] : attempts) {
      EventWriter writer(folder, attempt);
      writer.write(
          "started",
          {{"attempt", attempt}, {"steps_total", 120}, {"steps_per_epoch", 10}, {"epochs", 12}, {"device", "cpu"}});
      for (int step = from; step <= to; ++step) {
        Json loss = attempt * 1000.0 + step;
        if (step == 7) loss = "nan";
        if (step == 8) loss = "inf";
        writer.write("step", {{"step", step},
                              {"epoch", step / 10.0},
                              {"samples", step * 32},
                              {"loss", loss},
                              {"metrics", {{"accuracy", step / 200.0}}},
                              {"learning_rate", 0.1},
                              {"ms", 1.5}});
        if (step % 10 == 0)
          writer.write("validation", {{"step", step},
                                      {"epoch", step / 10.0},
                                      {"loss", 0.5},
                                      {"metrics", {{"accuracy", attempt + step / 1000.0}}}});
      }
    }
    return path;
  }
  static EventBatch whole(const QString& path) {
    return readBatch(RunFolder{path.toStdString()}.eventsFile(), 0, 1 << 20);
  }
  static RunRecord record(const char* id, const QString& folder) {
    RunRecord run;
    run.id = id;
    run.folder = folder;
    run.project = "/p.loom";
    return run;
  }
  QTemporaryDir m_folder;
};

TEST_F(RunStoreTest, eachStepOnceFromTheNewestAttemptThatHasIt) {
  const QString path = makeRun("a", {{1, 1, 100}, {2, 51, 80}, {3, 81, 90}});
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  store.append("a", whole(path));
  const SeriesView view = store.view("a", series::kLoss, Axis::step, {}, 2000);
  ASSERT_TRUE(view.exact);
  ASSERT_EQ(view.columns.size(), 100u);
  for (int step = 1; step <= 100; ++step) {
    const SeriesColumn& point = view.columns[step - 1];
    const int attempt = step <= 50 || step > 90 ? 1 : step <= 80 ? 2 : 3;
    EXPECT_EQ(point.lastStep, step);
    if (step == 7)
      EXPECT_TRUE(std::isnan(point.last));
    else if (step == 8)
      EXPECT_TRUE(std::isinf(point.last));
    else
      EXPECT_EQ(point.last, attempt * 1000.0 + step);
  }
  const auto validation = store.points("a", "validation.accuracy");
  ASSERT_EQ(validation.size(), 10u);
  EXPECT_EQ(validation[4].value, 1.05);
  EXPECT_EQ(validation[5].value, 2.06);
  EXPECT_EQ(validation[8].value, 3.09);
  EXPECT_EQ(validation[9].value, 1.1);
  const RunRecord& run = *store.find("a");
  EXPECT_EQ(run.metric, "accuracy");
  EXPECT_EQ(run.best, 3.09);
  EXPECT_EQ(run.bestStep, 90);
  EXPECT_DOUBLE_EQ(run.bestEpoch, 9);
  EXPECT_EQ(run.attempt, 3);
}

// As the engine chooses the weights that it keeps.
TEST_F(RunStoreTest, ofEqualOnesTheBestIsThatOfTheLowestLoss) {
  const QString path = m_folder.filePath("equal");
  QDir().mkpath(path);
  const RunFolder folder{path.toStdString()};
  EventWriter writer(folder, 1);
  writer.write("started",
               {{"attempt", 1}, {"steps_total", 50}, {"steps_per_epoch", 10}, {"epochs", 5}, {"device", "cpu"}});
  int epoch = 0;
  for (const auto& [accuracy, loss] : {std::pair{0.5, 0.9}, {1.0, 0.4}, {1.0, 0.6}, {1.0, 0.1}, {0.9, 0.05}}) {
    ++epoch;
    writer.write("validation",
                 {{"step", 10 * epoch}, {"epoch", epoch}, {"loss", loss}, {"metrics", {{"accuracy", accuracy}}}});
  }
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  store.append("a", whole(path));
  EXPECT_EQ(store.find("a")->best, 1);
  EXPECT_EQ(store.find("a")->bestStep, 40);
}

// Which way a metric is better is its layer's, whatever its node is called.
TEST_F(RunStoreTest, theBestIsWhatTheLayerOfTheMetricCallsBest) {
  const QString path = makeRun("a", {{1, 1, 100}});
  std::ofstream((path + "/run.json").toStdString())
      << R"({"run":1,"project":{"loom":1,"networks":{"main":{"nodes":[{"id":"accuracy","layer":"ErrorRate"}]}}}})";
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  store.append("a", whole(path));
  const RunRecord& run = *store.find("a");
  EXPECT_EQ(run.metric, "accuracy");
  EXPECT_EQ(run.bestStep, 10);
  EXPECT_EQ(run.best, 1.01);
  EXPECT_TRUE(store.metrics().isShare(run, "accuracy"));
  EXPECT_FALSE(store.metrics().isShare(run, "loss"));
}

// Runs are compared by a metric before a loss, also where less of it is better; by the accuracy whatever it is called.
TEST_F(RunStoreTest, comparesByAMetricWhicheverWayItIsBetter) {
  const QString path = makeRun("a", {{1, 1, 100}});
  std::ofstream((path + "/run.json").toStdString()) << R"({"run":1,"project":{"loom":1,"networks":{"main":{"nodes":[
      {"id":"off","layer":"RMSE"},{"id":"loss2","layer":"MeanSquaredError"},{"id":"right","layer":"Accuracy"}]}}}})";
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  const RunRecord& run = *store.find("a");
  EXPECT_EQ(store.metrics().comparedOf(run, {"loss", "loss2"}), "loss");
  EXPECT_EQ(store.metrics().comparedOf(run, {"loss", "loss2", "off"}), "off");
  EXPECT_EQ(store.metrics().comparedOf(run, {"loss", "off", "right"}), "right");
  EXPECT_EQ(store.metrics().comparedOf(run, {}), "");
  EXPECT_FALSE(store.metrics().higherIsBetter(run, "off"));
}

TEST_F(RunStoreTest, readingAgainNeitherLosesNorRepeats) {
  const QString path = makeRun("a", {{1, 1, 100}, {2, 51, 120}});
  RunStore once(m_folder.filePath("once"));
  once.add(record("a", path));
  once.append("a", whole(path));
  RunStore often(m_folder.filePath("often"));
  often.add(record("a", path));
  // Pieces of odd size, each twice, some from further back; then all from the beginning.
  const std::filesystem::path file = RunFolder{path.toStdString()}.eventsFile();
  std::int64_t offset = 0;
  std::mt19937 random(1);
  for (;;) {
    const EventBatch batch = readBatch(file, offset, 1 + random() % 40);
    if (batch.rows.empty() && batch.others.empty()) break;
    often.append("a", batch);
    often.append("a", batch);
    if (random() % 3 == 0) often.append("a", readBatch(file, 0, 1 + random() % 100));
    offset = batch.to;
  }
  often.append("a", whole(path));
  EXPECT_EQ(often.logOffset("a"), once.logOffset("a"));
  EXPECT_EQ(often.seriesNames("a"), once.seriesNames("a"));
  for (const std::string& name : once.seriesNames("a")) {
    const auto wanted = once.points("a", name), found = often.points("a", name);
    ASSERT_EQ(wanted.size(), found.size()) << name;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(wanted[i].step, found[i].step);
      EXPECT_TRUE(wanted[i].value == found[i].value || std::isnan(found[i].value));
    }
  }
  EXPECT_EQ(once.events("a").size(), often.events("a").size());
  EXPECT_EQ(once.events("a").size(), 2u + 10 + 7);
}

TEST_F(RunStoreTest, theSecondHalfMayComeFirst) {
  const QString path = makeRun("a", {{1, 1, 60}});
  const std::filesystem::path file = RunFolder{path.toStdString()}.eventsFile();
  const EventBatch first = readBatch(file, 0, 30), second = readBatch(file, first.to, 1000);
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  store.append("a", second);
  store.append("a", first);
  const auto points = store.points("a", series::kRate);
  ASSERT_EQ(points.size(), 60u);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(points[i].step, i + 1);
}

TEST_F(RunStoreTest, aNewWindowGoesOnWhereTheLastOneWas) {
  const QString path = makeRun("a", {{1, 1, 100}});
  const std::filesystem::path file = RunFolder{path.toStdString()}.eventsFile();
  {
    RunStore store(m_folder.filePath("store"));
    store.add(record("a", path));
    store.append("a", readBatch(file, 0, 57));
    store.change("a", [](RunRecord& run) {
      run.name = "b", run.tags = {"x", "y"}, run.note = "n", run.settings = {{"batch", 3}};
    });
  }
  RunStore store(m_folder.filePath("store"));
  ASSERT_TRUE(store.find("a"));
  EXPECT_EQ(store.find("a")->name, "b");
  EXPECT_EQ(store.find("a")->tags, QStringList({"x", "y"}));
  EXPECT_EQ(store.find("a")->settings, Json({{"batch", 3}}));
  EXPECT_TRUE(std::isnan(RunRecord(*store.find("a")).loss) || store.find("a")->loss > 0);
  EXPECT_GT(store.logOffset("a"), 0);
  store.append("a", readBatch(file, store.logOffset("a"), 100000));
  EXPECT_EQ(store.points("a", series::kLoss).size(), 100u);
  EXPECT_TRUE(std::isnan(store.points("a", series::kLoss)[6].value));
  EXPECT_TRUE(std::isinf(store.points("a", series::kLoss)[7].value));
}

TEST_F(RunStoreTest, garbageInTheLogIsPassedOver) {
  const QString path = makeRun("a", {{1, 1, 20}});
  const std::filesystem::path file = RunFolder{path.toStdString()}.eventsFile();
  std::ofstream(file, std::ios::app)
      << "{\"seq\":\n\x01\x02\xff\n{\"kind\":\"step\"}\n[]\n"
      << R"({"v":1,"seq":900,"attempt":1,"kind":"step","step":"x","loss":1})" << '\n'
      << R"({"v":1,"seq":901,"attempt":1,"kind":"step","step":21,"loss":{"a":1},"metrics":[1]})" << '\n'
      << R"({"v":1,"seq":902,"attempt":1,"kind":"step","step":22,"loss":5,"metrics":{"accuracy":"no"}})" << '\n'
      << R"({"v":1,"seq":903,"attempt":1,"kind":"step","st)";
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  const EventBatch batch = whole(path);
  EXPECT_EQ(batch.skipped, 4);
  store.append("a", batch);
  const auto points = store.points("a", series::kLoss);
  ASSERT_EQ(points.size(), 21u);
  EXPECT_EQ(points.back().step, 22);
}

TEST_F(RunStoreTest, foldedColumnsAreExactOnEveryAxis) {
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", m_folder.path()));
  std::mt19937 random(9);
  EventBatch batch;
  batch.names = {series::kLoss, series::kEpochAxis, series::kTimeAxis, series::kSamplesAxis};
  std::vector<double> values;
  const int count = 120000;
  double time = 1e9;
  for (int step = 1; step <= count; ++step) {
    double value = std::normal_distribution<>(0, 1)(random);
    if (step == 77777) value = std::nan("");
    values.push_back(value);
    time += 0.01 * (1 + random() % 100);
    const auto begin = static_cast<std::uint32_t>(batch.cells.size());
    batch.cells.insert(batch.cells.end(), {{0, value}, {1, step / 1000.0}, {2, time}, {3, step * 8.0}});
    batch.rows.push_back({step, 1, step, time, true, begin, begin + 4});
  }
  store.append("a", batch);
  store.flush();
  for (const Axis axis : {Axis::step, Axis::epoch, Axis::samples, Axis::time, Axis::relative})
    for (const auto& [from, to] : {std::pair{1, count}, {500, 700}, {30000, 90000}}) {
      SeriesRange range;
      if (to - from < count - 1) range = {store.xOf("a", axis, from), store.xOf("a", axis, to)};
      const SeriesView view = store.view("a", series::kLoss, axis, range, 700);
      ASSERT_FALSE(view.columns.empty());
      EXPECT_LE(view.columns.size(), 1410u);
      EXPECT_EQ(view.exact, to - from < 1000);
      EXPECT_LE(view.columns.front().firstStep, from);
      EXPECT_GE(view.columns.back().lastStep, to);
      std::int64_t next = view.columns.front().firstStep;
      double before = -1e300;
      for (const SeriesColumn& column : view.columns) {
        ASSERT_EQ(column.firstStep, next);  // nothing left out, nothing twice
        next = column.lastStep + 1;
        double low = 1e300, high = -1e300;
        for (std::int64_t step = column.firstStep; step <= column.lastStep; ++step)
          if (std::isfinite(values[step - 1]))
            low = std::min(low, values[step - 1]), high = std::max(high, values[step - 1]);
        if (column.count > 1) {
          ASSERT_EQ(column.min, low);
          ASSERT_EQ(column.max, high);
        }
        ASSERT_TRUE(column.last == values[column.lastStep - 1] || std::isnan(column.last));
        ASSERT_EQ(column.badStep, column.firstStep <= 77777 && 77777 <= column.lastStep ? 77777 : -1);
        ASSERT_DOUBLE_EQ(column.x, store.xOf("a", axis, column.lastStep));
        ASSERT_GE(column.x, before);
        before = column.x;
      }
      EXPECT_EQ(store.stepOf("a", axis, store.xOf("a", axis, 4321)), 4321);
    }
}

TEST_F(RunStoreTest, relativeTimeLeavesPausesOut) {
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", m_folder.path()));
  std::vector<Event> events;
  const auto add = [&](int attempt, double time, const char* kind, int step) {
    Event event{static_cast<std::int64_t>(events.size()), attempt, time, kind, {}};
    event.body = {{"seq", event.sequence}, {"attempt", attempt}, {"time", time},
                  {"kind", kind},          {"step", step},       {"loss", 1.0}};
    events.push_back(event);
  };
  add(1, 1000, "started", 0);
  for (int step = 1; step <= 10; ++step) add(1, 1000 + step, "step", step);
  add(2, 5000, "started", 5);
  for (int step = 6; step <= 12; ++step) add(2, 5000 + (step - 5), "step", step);
  store.append("a", toBatch(events));
  EXPECT_DOUBLE_EQ(store.xOf("a", Axis::relative, 5), 5);
  EXPECT_DOUBLE_EQ(store.xOf("a", Axis::relative, 6), 6);
  EXPECT_DOUBLE_EQ(store.xOf("a", Axis::relative, 12), 12);
  EXPECT_DOUBLE_EQ(store.xOf("a", Axis::time, 6), 5001);
  EXPECT_DOUBLE_EQ(store.find("a")->duration, 17);
}

TEST_F(RunStoreTest, coloursStayForLifeAndTheFirstFreeOneIsTaken) {
  RunStore store(m_folder.filePath("store"));
  for (const char* id : {"a", "b", "c"}) store.add(record(id, m_folder.filePath(id)));
  EXPECT_EQ(store.find("c")->colour, 2);
  store.remove("b");
  EXPECT_EQ(store.runs("/p.loom").size(), 2);
  store.add(record("d", m_folder.filePath("d")));
  EXPECT_EQ(store.find("d")->colour, 1);
  EXPECT_EQ(store.find("c")->colour, 2);
  store.restore("b");
  EXPECT_EQ(store.runs("/p.loom").size(), 4);
  EXPECT_EQ(store.add(record("other", m_folder.filePath("a"))), "a");  // the same folder is the same run
}

TEST_F(RunStoreTest, aDamagedDatabaseIsBuiltAnewFromTheFolders) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("a", path));
    store.append("a", whole(path));
  }
  for (const bool gone : {false, true}) {
    for (const char* end : {"-wal", "-shm"}) QFile::remove(folder + "/runs.db" + end);
    QFile file(folder + "/runs.db");
    if (gone) {
      file.remove();
    } else {
      ASSERT_TRUE(file.open(QIODevice::WriteOnly));
      file.write(QByteArray(5000, 'x'));
      file.close();
    }
    RunStore store(folder);
    EXPECT_FALSE(store.notice().isEmpty());
    EXPECT_EQ(store.foldersToRead(), QStringList(path));
    EXPECT_TRUE(store.runs().isEmpty());
    store.add(record("a", path));
    store.append("a", whole(path));
    EXPECT_EQ(store.points("a", series::kLoss).size(), 30u);
  }
  EXPECT_EQ(QDir(folder).entryList({"runs.db.damaged-*"}).size(), 1);
}

// A person's names, notes, tags and colours stand in no run folder that may only be read.
TEST_F(RunStoreTest, whatAPersonGaveARunOutlivesTheDatabase) {
  const QString a = makeRun("a", {{1, 1, 10}}), b = makeRun("b", {{1, 1, 10}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("first", m_folder.filePath("first")));
    store.add(record("a", a));
    store.add(record("b", b));
    store.remove("first");
    store.change("b", [](RunRecord& run) {
      run.name = "größer", run.note = "line\nline", run.tags = {"x", "y"}, run.project = "/moved.loom", run.colour = 7;
    });
    store.setHost("b", "atlas");
  }
  for (const char* end : {"", "-wal", "-shm"}) QFile::remove(folder + "/runs.db" + end);
  RunStore store(folder);
  EXPECT_EQ(store.foldersToRead(), QStringList({a, b}));
  for (const FoundRun& lost : lostRuns(store)) store.add(lost.record);
  EXPECT_TRUE(store.foldersToRead().isEmpty());
  const RunRecord* const run = store.findFolder(b);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->name, "größer");
  EXPECT_EQ(run->note, "line\nline");
  EXPECT_EQ(run->tags, QStringList({"x", "y"}));
  EXPECT_EQ(run->project, "/moved.loom");
  EXPECT_EQ(run->colour, 7);
  EXPECT_EQ(store.mark(b)->host, "atlas");
  EXPECT_EQ(store.findFolder(a)->colour, 1) << "not the first one that is free now";
}

// Whoever opened the new database first may have ended before it read a folder.
TEST_F(RunStoreTest, aListThatIsNewStillKnowsWhatItLacks) {
  const QString path = makeRun("a", {{1, 1, 10}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("a", path));
  }
  for (const char* end : {"", "-wal", "-shm"}) QFile::remove(folder + "/runs.db" + end);
  for (int i = 0; i < 2; ++i) {
    RunStore store(folder);
    EXPECT_EQ(store.foldersToRead(), QStringList(path));
    EXPECT_EQ(store.notice().isEmpty(), i == 1);
  }
}

// A crash may leave the last line of folders.txt open, and the list of folders itself may be lost.
TEST_F(RunStoreTest, theListOfFoldersIsMadeWholeAgain) {
  const QString a = makeRun("a", {{1, 1, 10}}), b = makeRun("b", {{1, 1, 10}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("a", a));
  }
  QFile list(folder + "/folders.txt");
  ASSERT_TRUE(list.resize(list.size() - 1));
  {
    RunStore store(folder);
    store.add(record("b", b));
  }
  QFile::remove(folder + "/folders.txt");
  { RunStore store(folder); }
  for (const char* end : {"", "-wal", "-shm"}) QFile::remove(folder + "/runs.db" + end);
  EXPECT_EQ(RunStore(folder).foldersToRead(), QStringList({a, b}));
}

// A list of an earlier version goes on with all that it has: a new version is no reason to read everything again.
TEST_F(RunStoreTest, anEarlierListIsBroughtUpToDate) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("a", path));
    store.add(record("b", m_folder.filePath("b")));
    store.append("a", whole(path));
    store.change("a", [](RunRecord& run) { run.note = "mine"; });
    store.remove("b");
  }
  {
    Database database(folder + "/runs.db");
    database.run("DROP INDEX events_in_order");
    for (const char* later : {"log_mark", "archived"})
      database.run(("ALTER TABLE runs DROP COLUMN " + std::string(later)).c_str());
    database.run("PRAGMA user_version = 1");
  }
  QFile::remove(folder + "/folders.txt");
  RunStore store(folder);
  EXPECT_EQ(store.notice(), QString());
  EXPECT_TRUE(store.foldersToRead().isEmpty());
  ASSERT_NE(store.find("a"), nullptr);
  EXPECT_EQ(store.find("a")->note, "mine");
  EXPECT_EQ(store.points("a", series::kLoss).size(), 30u);
  EXPECT_GT(store.find("b")->deleted, 0);
  EXPECT_TRUE(store.wasRemoved(m_folder.filePath("b")));
  Database database(folder + "/runs.db");
  Statement version(database, "PRAGMA user_version"),
      index(database, "SELECT count(*) FROM sqlite_master WHERE name = 'events_in_order'");
  ASSERT_TRUE(version.step() && index.step());
  EXPECT_EQ(version.integer(0), 4);
  EXPECT_EQ(index.integer(0), 1);
}

TEST_F(RunStoreTest, aListOfANewerVersionIsLeftAlone) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("a", path));
  }
  Database newer(folder + "/runs.db");
  newer.run("PRAGMA user_version = 99");
  for (int i = 0; i < 2; ++i) {
    RunStore store(folder);
    EXPECT_EQ(store.foldersToRead(), i == 0 ? QStringList(path) : QStringList());
    EXPECT_EQ(store.runs().size(), i);
    store.add(record("a", path));
  }
  Statement version(newer, "PRAGMA user_version");
  ASSERT_TRUE(version.step());
  EXPECT_EQ(version.integer(0), 99);
  EXPECT_TRUE(QDir(folder).entryList({"runs.db.damaged-*"}).isEmpty());
}

// What another window has open is not taken from under it.
TEST_F(RunStoreTest, aDamagedListThatAnotherWindowHasOpenStays) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  QDir().mkpath(folder);
  const FileLock other(folder + "/runs.lock", FileLock::Kind::shared);
  QFile file(folder + "/runs.db");
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray(5000, 'x'));
  file.close();
  RunStore store(folder);
  EXPECT_TRUE(store.notice().contains("another Gradloom")) << store.notice().toStdString();
  EXPECT_TRUE(QFile::exists(folder + "/runs.db"));
  store.add(record("a", path));
  store.append("a", whole(path));
  EXPECT_EQ(store.points("a", series::kLoss).size(), 30u);
}

TEST_F(RunStoreTest, anAttemptThatAnotherWindowTookIsInTheRecordToo) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  RunStore(folder).add(record("a", path));
  RunStore store(folder);
  RunStore(folder).append("a", whole(path));
  store.append("a", whole(path));
  EXPECT_EQ(store.find("a")->stepsTotal, 120);
}

// Another window that writes makes this one neither wait for long nor forget.
TEST_F(RunStoreTest, whatCannotBeWrittenNowIsWrittenSoon) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  RunStore store(folder);
  QString told;
  QObject::connect(&store, &RunStore::noticeRaised, [&](const QString& sentence) { told = sentence; });
  {
    Database other(folder + "/runs.db");
    const Transaction writes(other);
    store.add(record("a", path));
    store.append("a", whole(path));
    store.flush();
  }
  EXPECT_EQ(told, QString());
  store.flush();
  RunStore again(folder);
  ASSERT_NE(again.find("a"), nullptr);
  EXPECT_EQ(again.points("a", series::kLoss).size(), 30u);
}

TEST_F(RunStoreTest, damageThatShowsLateIsToldAndEndsNothing) {
  const QString path = makeRun("a", {{1, 1, 30}}), folder = m_folder.filePath("store");
  {
    RunStore store(folder);
    store.add(record("a", path));
    EventBatch batch;
    batch.names = {series::kLoss};
    for (int step = 1; step <= 200000; ++step) {
      batch.cells.emplace_back(0, std::sin(step * 12.9898) * 43758.5453);
      batch.rows.push_back(
          {step, 1, step, 1.0, true, static_cast<std::uint32_t>(step - 1), static_cast<std::uint32_t>(step)});
    }
    store.append("a", batch);
  }
  QFile file(folder + "/runs.db");
  ASSERT_TRUE(file.open(QIODevice::ReadWrite));
  ASSERT_GT(file.size(), 500000);
  file.seek(200000);  // among the blocks: the table of runs is sound
  file.write(QByteArray(static_cast<int>(file.size()) - 200000, '\x55'));
  file.close();
  RunStore store(folder);
  QString told;
  QObject::connect(&store, &RunStore::noticeRaised, [&](const QString& sentence) { told = sentence; });
  for (int i = 0; i < 20 && told.isEmpty(); ++i) {
    store.view("a", series::kLoss, Axis::step, {}, 1000);
    QCoreApplication::processEvents();
  }
  EXPECT_TRUE(told.contains("built again")) << told.toStdString();
  EXPECT_EQ(store.foldersToRead(), QStringList(path));
}

TEST_F(RunStoreTest, manyPointsComeInPieces) {
  constexpr int kPoints = 200000;  // ten pieces
  const QString path = m_folder.filePath("long");
  QDir().mkpath(path);
  {
    std::ofstream file(RunFolder{path.toStdString()}.eventsFile());
    for (int step = 1; step <= kPoints; ++step)
      file << R"({"v":1,"seq":)" << step << R"(,"attempt":1,"time":17000000)" << step << R"(,"kind":"step","step":)"
           << step << R"(,"epoch":)" << step / 1000.0 << R"(,"loss":)" << 1.0 / step << R"(,"learning_rate":0.1})"
           << '\n';
  }
  RunStore store(m_folder.filePath("store"));
  store.add(record("a", path));
  std::int64_t offset = 0;
  for (;;) {
    const EventBatch batch = readBatch(RunFolder{path.toStdString()}.eventsFile(), offset, 20000);
    if (batch.rows.empty()) break;
    store.append("a", batch);
    offset = batch.to;
  }
  store.flush();
  const SeriesView view = store.view("a", series::kLoss, Axis::epoch, {}, 1000);
  EXPECT_EQ(view.points, kPoints);
  EXPECT_FALSE(view.exact);
  EXPECT_EQ(view.columns.front().max, 1.0);
}

}  // namespace
}  // namespace loom
