#include "launcher/launcher.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <set>

#include "engine/base/error.h"
#include "engine/run/run_lock.h"
#include "launcher/local_process.h"
#include "tests/patience.h"

using namespace loom;

// Drives a stand-in for loom (fake_loom.cpp) through every state.
class LauncherTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<Launcher> m_launcher;

  void open() {
    m_store = std::make_unique<RunStore>(m_folder->filePath("store"));
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.program = FAKE_LOOM});
  }
  void close() {
    m_launcher.reset();
    m_store.reset();
  }
  Job job(const QString& id, const QStringList& overrides) {
    return {.id = id,
            .name = id,
            .project = m_folder->filePath("p.loom"),
            .snapshot = R"({"loom":1,"datasets":{"training":{"csv":"data/t.csv"}}})",
            .dataFolder = m_folder->path(),
            .overrides = overrides};
  }
  RunState state(const QString& id) { return m_store->find(id)->state; }
  QString message(const QString& id) { return m_store->find(id)->message; }
  ProcessIdentity process(const QString& id) {
    RunRecord run;
    JobFile file;
    readJobFile(m_store->find(id)->folder, run, file);
    return {file.process, file.processStart, file.bootId};
  }

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    open();
  }
  void cleanup() {
    for (const RunRecord& run : m_store->runs()) sendSignal(process(run.id), SIGKILL);
    close();
    m_folder.reset();
  }

  void trainsToTheEnd() {
    QSignalSpy points(m_store.get(), &RunStore::pointsAdded);
    m_launcher->submit(job("a", {"steps=60", "ms=5"}));
    QCOMPARE(m_launcher->running(), 1);
    QTRY_COMPARE(state("a"), RunState::running);
    QTRY_VERIFY(!points.isEmpty());
    QVERIFY(m_store->find("a")->step < 60);  // points come while it trains
    QTRY_COMPARE(state("a"), RunState::finished);
    QTRY_COMPARE(m_launcher->running(), 0);
    QCOMPARE(m_store->points("a", series::kLoss).size(), std::size_t{60});
    QCOMPARE(m_store->find("a")->best, 0.6);
    QFile snapshot(m_store->find("a")->folder + "/project.loom");
    QVERIFY(snapshot.open(QIODevice::ReadOnly));
    QVERIFY(snapshot.readAll().contains((m_folder->path() + "/data/t.csv").toUtf8()));
  }

  void aPointIsThereWithinATenthOfASecond() {
    m_launcher->submit(job("a", {"steps=400", "ms=20"}));
    QTRY_VERIFY(m_store->find("a")->step > 3);
    QTest::qWait(100);  // settle into the steady rhythm
    double worst = 0;
    for (int i = 0; i < 10; ++i) {
      const std::int64_t before = m_store->find("a")->step;
      while (m_store->find("a")->step == before) QTest::qWait(1);
      worst = std::max(worst, QDateTime::currentMSecsSinceEpoch() / 1000.0 - m_store->find("a")->lastTime);
    }
    QVERIFY2(worst < 0.5, qPrintable(QString::number(worst)));  // under 0.1 on a quiet machine
  }

  void submittingTwiceIsOnce() {
    m_launcher->submit(job("a", {"steps=20"}));
    m_launcher->submit(job("a", {"steps=20"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    m_launcher->submit(job("a", {"steps=20"}));
    QCOMPARE(m_store->runs().size(), 1);
    QTRY_COMPARE(m_launcher->running(), 0);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{1});
  }

  void othersWaitTheirTurn() {
    m_launcher->submit(job("a", {"steps=30", "ms=5"}));
    m_launcher->submit(job("b", {"steps=10"}));
    m_launcher->submit(job("c", {"steps=10"}));
    QCOMPARE(state("b"), RunState::queued);
    QCOMPARE(m_launcher->waiting(), 2);
    m_launcher->stop("c");
    QCOMPARE(state("c"), RunState::stopped);
    QTRY_COMPARE(state("b"), RunState::finished);
    QCOMPARE(state("a"), RunState::finished);
    QVERIFY(m_store->find("b")->started >= m_store->find("a")->ended);
    QVERIFY(!QFile::exists(m_store->find("c")->folder + "/events.jsonl"));
  }

  void aSharedRunGivesWayAndGoesOnLater() {
    Job shared = job("shared", {"steps=120", "ms=4"}), other = job("other", {"steps=10"});
    shared.priority = other.priority = Priority::shared;
    m_launcher->submit(shared);
    m_launcher->submit(other);
    QTRY_VERIFY(m_store->find("shared")->step > 20);
    m_launcher->submit(job("urgent", {"steps=30", "ms=4"}));
    QCOMPARE(m_launcher->queue(), QStringList({"urgent", "other"}));
    QCOMPARE(state("shared"), RunState::stopping);
    QTRY_COMPARE(state("urgent"), RunState::running);
    QCOMPARE(state("shared"), RunState::queued);
    QVERIFY(message("shared").contains("Gave way at step"));
    QCOMPARE(m_launcher->queue(), QStringList({"shared", "other"}));
    close();  // the window closes meanwhile; who waits goes on waiting
    open();
    m_launcher->attach();
    QTRY_COMPARE(state("urgent"), RunState::finished);
    QTRY_COMPARE(state("shared"), RunState::finished);
    QTRY_COMPARE(state("other"), RunState::finished);
    QCOMPARE(m_store->find("shared")->attempt, std::int64_t{2});
    QVERIFY(m_store->find("other")->started >= m_store->find("shared")->ended);
    const auto points = m_store->points("shared", series::kLoss);
    QCOMPARE(points.size(), std::size_t{120});
    for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, static_cast<std::int64_t>(i) + 1);
  }

  void waitingRunsChangePlaces() {
    m_launcher->submit(job("a", {"steps=4000", "ms=5"}));
    for (const char* id : {"b", "c", "d"}) m_launcher->submit(job(id, {"steps=10"}));
    m_launcher->moveInQueue("d", -1);
    QCOMPARE(m_launcher->queue(), QStringList({"b", "d", "c"}));
    m_launcher->setPriority("b", Priority::shared);
    QCOMPARE(m_launcher->queue(), QStringList({"d", "c", "b"}));
    m_launcher->moveInQueue("b", -2);  // not before those that are exclusive
    QCOMPARE(m_launcher->queue(), QStringList({"d", "c", "b"}));
    m_launcher->moveInQueue("c", -1);
    const QStringList order = m_launcher->queue();
    QCOMPARE(order, QStringList({"c", "d", "b"}));
    close();
    open();
    m_launcher->attach();
    QCOMPARE(m_launcher->queue(), order);
    QCOMPARE(m_launcher->priority("b"), Priority::shared);
    QTRY_COMPARE(m_launcher->running(), 1);
    m_launcher->setPriority("a", Priority::shared);  // the run that goes: it gives way to those that wait
    QTRY_COMPARE(state("c"), RunState::finished);
    QTRY_COMPARE(state("d"), RunState::finished);
    QTRY_COMPARE(state("a"), RunState::running);
    m_launcher->kill("a");
    QTRY_COMPARE(state("b"), RunState::finished);
  }

  void stopsAndResumesAsANewAttempt() {
    m_launcher->submit(job("a", {"steps=90", "ms=4"}));
    QTRY_VERIFY(m_store->find("a")->step > 25);
    m_launcher->stop("a");
    QCOMPARE(state("a"), RunState::stopping);
    QTRY_COMPARE(state("a"), RunState::stopped);
    const std::int64_t stoppedAt = m_store->find("a")->step;
    QVERIFY(stoppedAt < 90);
    QTRY_COMPARE(m_launcher->running(), 0);
    m_launcher->resume("a");
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    const auto points = m_store->points("a", series::kLoss);
    QCOMPARE(points.size(), std::size_t{90});
    const std::int64_t from = stoppedAt / 10 * 10;
    for (std::size_t i = 0; i < points.size(); ++i) {
      QCOMPARE(points[i].step, static_cast<std::int64_t>(i + 1));
      QCOMPARE(points[i].value > 150, points[i].step > from);
    }
  }

  void stopsAfterTheEpochAndChangesTheRate() {
    m_launcher->submit(job("a", {"steps=200", "ms=4"}));
    QTRY_VERIFY(m_store->find("a")->step > 5);
    m_launcher->setLearningRate("a", 0.025);
    QTRY_COMPARE(m_store->lastValue("a", series::kRate).value_or(0), 0.025);
    m_launcher->stopAfterEpoch("a");
    QVERIFY(m_launcher->stopsAfterEpoch("a"));
    QTRY_COMPARE(state("a"), RunState::stopped);
    QCOMPARE(m_store->find("a")->step % 10, std::int64_t{0});
  }

  void whatMayBeAsked_data() {
    QTest::addColumn<int>("state");
    QTest::addColumn<QString>("allowed");  // stop, after epoch, rate, resume, kill
    const char* allowed[] = {"s....", "s...k", "ser.k", "....k", ".....", "...R.", "...R."};
    for (int i = 0; i < 7; ++i) QTest::newRow(toKey(static_cast<RunState>(i))) << i << allowed[i];
  }
  void whatMayBeAsked() {
    QFETCH(int, state);
    QFETCH(QString, allowed);
    const RunAction actions[] = {RunAction::stop, RunAction::stopAfterEpoch, RunAction::setLearningRate,
                                 RunAction::resume, RunAction::kill};
    for (int i = 0; i < 5; ++i) QCOMPARE(Launcher::may(static_cast<RunState>(state), actions[i]), allowed[i] != '.');
    m_store->add([&] {
      RunRecord run;
      run.id = "x", run.folder = m_folder->path(), run.state = static_cast<RunState>(state);
      return run;
    }());
    if (allowed[3] == '.') QVERIFY_EXCEPTION_THROWN(m_launcher->resume("x"), Error);
    if (allowed[2] == '.') QVERIFY_EXCEPTION_THROWN(m_launcher->setLearningRate("x", 1), Error);
    QVERIFY_EXCEPTION_THROWN(m_launcher->stop("nobody"), Error);
  }

  void aKilledRunSaysSo() {
    m_launcher->submit(job("a", {"steps=500", "ms=4"}));
    QTRY_VERIFY(m_store->find("a")->step > 10);
    const auto started = m_store->events("a").front();
    QCOMPARE(::kill(started.body["pid"].get<int>(), SIGKILL), 0);  // loom itself, as the system does when memory ends
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("signal 9"), qPrintable(message("a")));
    QVERIFY2(message("a").contains("at step"), qPrintable(message("a")));
    QVERIFY2(message("a").contains("fake loom, attempt 1"), qPrintable(message("a")));
    const auto logged = m_store->points("a", series::kLoss).size();
    QCOMPARE(static_cast<std::int64_t>(logged), m_store->find("a")->step);  // nothing that was written is lost
    m_launcher->resume("a");
    QTRY_COMPARE(m_store->find("a")->attempt, std::int64_t{2});
  }

  void fallingOverAndFailingAreToldApart() {
    m_launcher->submit(job("a", {"die=12"}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("signal 6") && message("a").contains("about to fall over"),
             qPrintable(message("a")));
    m_launcher->submit(job("b", {"fail=train.csv line 812: no such file"}));
    QTRY_COMPARE(state("b"), RunState::failed);
    QCOMPARE(message("b"), "train.csv line 812: no such file");
  }

  void killIsNoFault() {
    m_launcher->submit(job("a", {"hang=1"}));
    QTRY_COMPARE(state("a"), RunState::running);
    m_launcher->kill("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    QVERIFY(message("a").contains("Killed"));
    QVERIFY(!isAlive(process("a")));
  }

  void noProgramIsAnError() {
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.program = m_folder->filePath("nothing")});
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("127") || message("a").contains("not found"), qPrintable(message("a")));
  }

  void closingTheWindowEndsNothing() {
    m_launcher->submit(job("a", {"steps=150", "ms=8"}));
    m_launcher->submit(job("b", {"steps=10"}));
    QTRY_VERIFY(m_store->find("a")->step > 5);
    const ProcessIdentity running = process("a");
    close();
    QTest::qWait(100);
    QVERIFY(isAlive(running));
    open();
    QCOMPARE(state("a"), RunState::running);
    m_launcher->attach();
    QCOMPARE(m_launcher->running(), 1);
    QCOMPARE(m_launcher->waiting(), 1);
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->points("a", series::kLoss).size(), std::size_t{150});
    QTRY_COMPARE(state("b"), RunState::finished);
  }

  void whatEndedMeanwhileGetsItsLastWord() {
    m_launcher->submit(job("a", {"steps=40", "ms=5"}));
    QTRY_VERIFY(m_store->find("a")->step > 3);
    const ProcessIdentity first = process("a");
    close();
    QTRY_VERIFY(!isAlive(first));
    open();
    m_launcher->attach();
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->points("a", series::kLoss).size(), std::size_t{40});

    m_launcher->submit(job("c", {"steps=4000", "ms=5"}));
    QTRY_VERIFY(m_store->find("c")->step > 3);
    const ProcessIdentity second = process("c");
    close();
    sendSignal(second, SIGKILL);
    QTRY_VERIFY(!isAlive(second));
    open();
    m_launcher->attach();
    QTRY_COMPARE(state("c"), RunState::failed);
    QVERIFY2(message("c").contains("without a last word"), qPrintable(message("c")));
  }

  void opensAFolderMadeElsewhere() {
    const QString folder = m_folder->filePath("elsewhere/run7");
    QDir().mkpath(folder);
    const RunFolder run{folder.toStdString()};
    auto lock = std::make_unique<RunLock>(run);
    EventWriter writer(run, 1);
    writer.write("started", {{"steps_total", 9}});
    for (int step = 1; step <= 3; ++step) writer.write("step", {{"step", step}, {"loss", 1.0}});
    const QString id = m_launcher->openFolder(folder);
    QCOMPARE(m_launcher->openFolder(folder + "/../run7/"), id);
    QTRY_COMPARE(m_store->points(id, series::kLoss).size(), std::size_t{3});
    QTRY_COMPARE(state(id), RunState::running);
    writer.write("step", {{"step", 4}, {"loss", 1.0}});
    QTRY_COMPARE(m_store->points(id, series::kLoss).size(), std::size_t{4});
    QVERIFY_EXCEPTION_THROWN(m_launcher->kill(id), Error);  // not ours
    QTRY_COMPARE(m_launcher->running(), 1);
    lock.reset();
    QTRY_COMPARE(state(id), RunState::failed);
    QVERIFY_EXCEPTION_THROWN(m_launcher->openFolder(m_folder->path()), Error);
    QVERIFY_EXCEPTION_THROWN(m_launcher->openFolder("/nowhere"), Error);
  }

  // It waits in somebody else's queue.
  void aFolderThatWaitsIsNotStartedByWhoOpensIt() {
    m_launcher->submit(job("a", {"steps=4000", "ms=5"}));
    m_launcher->submit(job("b", {"steps=10"}));
    const QString waits = m_store->find("b")->folder, copy = m_folder->filePath("elsewhere/b");
    QVERIFY(QDir().mkpath(copy));
    for (const QString& each : QDir(waits).entryList(QDir::Files))
      QVERIFY(QFile::copy(waits + '/' + each, copy + '/' + each));
    const QString id = m_launcher->openFolder(copy);
    QTRY_VERIFY(!m_launcher->isReading(id));
    QCOMPARE(m_launcher->queue(), QStringList("b"));
    QVERIFY(!isLive(state(id)) && state(id) != RunState::queued);
    QTRY_COMPARE(state("a"), RunState::running);
    m_launcher->kill("a");
    QTRY_COMPARE(state("b"), RunState::finished);
    QVERIFY(!QFile::exists(copy + "/events.jsonl"));
  }

  void aLostStoreIsReadAgain() {
    m_launcher->submit(job("a", {"steps=30"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    m_store->change("a", [](RunRecord& run) { run.name = "renamed"; });
    close();
    QDir store(m_folder->filePath("store"));
    for (const QString& each : store.entryList({"runs.db*"})) store.remove(each);
    open();
    QVERIFY(m_store->notice().contains("read again"));
    m_launcher->attach();
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->points("a", series::kLoss).size(), std::size_t{30});
    QCOMPARE(m_store->find("a")->project, m_folder->filePath("p.loom"));
  }

  // Its window goes on with what its folder has.
  void aListThatIsDamagedUnderOurHandsIsReadAgain() {
    m_launcher->submit(job("done", {"steps=30"}));
    QTRY_COMPARE(state("done"), RunState::finished);
    m_launcher->submit(job("goes", {"steps=400", "ms=5"}));
    QTRY_VERIFY(m_store->find("goes")->step > 20);
    m_store->flush();
    close();
    QFile file(m_folder->filePath("store/runs.db"));
    QVERIFY(file.open(QIODevice::ReadWrite));
    open();
    m_launcher->attach();
    QTRY_VERIFY(m_store->find("goes")->step > 40);
    file.seek(4096);
    file.write(QByteArray(static_cast<int>(file.size()) - 4096, '\x55'));
    file.close();
    QTRY_VERIFY(!m_store->notice().isEmpty());
    QTRY_VERIFY(m_store->find("goes") && m_store->find("done"));
    QTRY_COMPARE(state("done"), RunState::finished);
    QTRY_COMPARE(state("goes"), RunState::finished);
    QCOMPARE(m_store->points("goes", series::kLoss).size(), std::size_t{400});
    QCOMPARE(m_store->points("done", series::kLoss).size(), std::size_t{30});
  }

  // This machine went down without having written the end of the log, and the next attempt has the same numbers.
  void aLogThatLostItsEndIsReadAgain() {
    m_launcher->submit(job("a", {"steps=60"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    const QString log = m_store->find("a")->folder + "/events.jsonl";
    close();
    QVERIFY(QFile::resize(log, QFileInfo(log).size() / 2));
    const RunFolder folder{QFileInfo(log).path().toStdString()};
    const auto kept = lastEvent(folder)->body["step"].get<std::int64_t>();
    {
      EventWriter writer(folder, 1);
      for (std::int64_t step = kept + 1; step <= 100; ++step)
        writer.write("step", {{"step", step}, {"loss", 7.0}, {"epoch", 1}});
      writer.write("finished", {{"reason", "done"}, {"step", 100}});
    }
    open();
    m_store->change("a", [](RunRecord& run) { run.state = RunState::running; });
    m_launcher->attach();
    QTRY_COMPARE(state("a"), RunState::finished);
    const auto points = m_store->points("a", series::kLoss);
    QCOMPARE(points.size(), std::size_t{100});
    for (const SeriesPoint& point : points) QCOMPARE(point.value == 7.0, point.step > kept);
  }

  void aJobFileThatIsDamagedHasACopy() {
    m_launcher->submit(job("a", {"steps=30"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    const QString folder = m_store->find("a")->folder;
    QVERIFY(QFile::resize(folder + "/job.json", 0));
    RunRecord run;
    JobFile file;
    QVERIFY(readJobFile(folder, run, file));
    QCOMPARE(run.name, "a");
    QCOMPARE(file.overrides, QStringList("steps=30"));
    QCOMPARE(file.start, 1);
  }

  // A run may be training where nobody can be asked: it is not begun a second time.
  void aJobOfWhichNobodyTellsTheHostIsRefused() {
    m_launcher->submit(job("a", {"steps=4000", "ms=5"}));
    QTRY_VERIFY(m_store->find("a")->step > 3);
    m_launcher->stop("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    const QString folder = m_store->find("a")->folder;
    close();
    for (const char* name : {"/job.json", "/job.copy.json"}) QVERIFY(QFile::resize(folder + name, 0));
    QVERIFY(QFile::remove(m_folder->filePath("store/marks.jsonl")));
    open();
    m_launcher->attach();
    QVERIFY_EXCEPTION_THROWN(m_launcher->resume("a"), Error);
    QCOMPARE(state("a"), RunState::stopped);
    m_store->setHost("a", "");                // the list says that it was this machine
    qputenv("FAKE_LOOM", "steps=4000;ms=5");  // the job's own words are lost with its file
    const auto plain = qScopeGuard([] { qunsetenv("FAKE_LOOM"); });
    m_launcher->resume("a");
    QTRY_VERIFY(m_store->find("a")->attempt == 2);
    m_launcher->kill("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
  }

  // The memory killer may choose the shell around loom, which goes on then.
  void whereTheShellDiesTheRunGoesOn() {
    m_launcher->submit(job("a", {"steps=4000", "ms=5"}));
    QTRY_VERIFY(m_store->find("a")->step > 3);
    QCOMPARE(::kill(static_cast<pid_t>(process("a").id), SIGKILL), 0);
    const std::int64_t before = m_store->find("a")->step;
    QTRY_VERIFY(m_store->find("a")->step > before + 100);
    QCOMPARE(state("a"), RunState::running);
    close();
    open();
    m_launcher->attach();
    QTRY_COMPARE(m_launcher->running(), 1);
    m_launcher->stop("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    m_launcher->resume("a");
    QTRY_VERIFY(m_store->find("a")->attempt == 2);
    QCOMPARE(::kill(static_cast<pid_t>(process("a").id), SIGKILL), 0);
    m_launcher->kill("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
  }

  void aListThatIsReadAgainKnowsWhatWaitsAndWhatWasRemoved() {
    for (const char* id : {"a", "gone"}) {
      m_launcher->submit(job(id, {"steps=10"}));
      QTRY_COMPARE(state(id), RunState::finished);
    }
    QTRY_COMPARE(m_launcher->running(), 0);
    m_store->remove("gone");
    m_store->remove("a");
    m_store->restore("a");
    m_launcher->submit(job("long", {"steps=4000", "ms=5"}));
    m_launcher->submit(job("waits", {"steps=10"}));
    QTRY_VERIFY(m_store->find("long")->step > 3);
    close();
    QDir store(m_folder->filePath("store"));
    for (const QString& each : store.entryList({"runs.db*"})) store.remove(each);
    open();
    m_launcher->attach();
    QTRY_COMPARE(state("waits"), RunState::queued);
    QTRY_COMPARE(m_launcher->running(), 1);
    QTRY_COMPARE(state("long"), RunState::running);
    QVERIFY(m_store->find("a"));
    QVERIFY(!m_store->find("gone"));
    for (const QFileInfo& each : QDir(m_folder->filePath("runs")).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot))
      QVERIFY2(!m_launcher->takeIn(each.filePath(), m_folder->filePath("p.loom")), qPrintable(each.filePath()));
    QVERIFY(!m_store->find("gone"));
    m_launcher->kill("long");
    QTRY_COMPARE(state("waits"), RunState::finished);
  }

  // Two windows have the same queue: whoever comes first starts the run, and both see it.
  void twoWindowsStartARunOnce() {
    m_launcher->submit(job("a", {"steps=60", "ms=5"}));
    m_launcher->submit(job("b", {"steps=30", "ms=5"}));
    RunStore store(m_folder->filePath("store"));
    Launcher other(store, {.program = FAKE_LOOM});
    other.attach();
    QCOMPARE(other.waiting(), 1);
    QTRY_COMPARE(state("b"), RunState::finished);
    QTRY_COMPARE(store.find("b")->state, RunState::finished);
    QCOMPARE(m_store->find("b")->attempt, std::int64_t{1});
    QCOMPARE(store.find("b")->attempt, std::int64_t{1});
    QCOMPARE(store.points("b", series::kLoss).size(), std::size_t{30});
    RunRecord run;
    JobFile file;
    readJobFile(m_store->find("b")->folder, run, file);
    QCOMPARE(file.start, 1);
  }
};

QTEST_GUILESS_MAIN(LauncherTest)
#include "launcher_test.moc"
