#include <QMutex>
#include <random>
#include <thread>

#include "launcher/remote/engine_installer.h"
#include "launcher/remote/models.h"
#include "tests/launcher/remote_fixture.h"
#include "tests/patience.h"

using namespace loom;

class RemoteTest : public RemoteFixture {
  Q_OBJECT

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() { tearDown(); }

  void trainsOnTheHost() {
    QSignalSpy points(m_store.get(), &RunStore::pointsAdded), stages(m_launcher.get(), &Launcher::stageChanged);
    m_launcher->submit(job("a", {"steps=60", "ms=5"}));
    QCOMPARE(state("a"), RunState::starting);
    QTRY_COMPARE(state("a"), RunState::running);
    QTRY_VERIFY(!points.isEmpty());
    QVERIFY(m_store->find("a")->step < 60);
    QTRY_COMPARE(state("a"), RunState::finished);
    QTRY_COMPARE(m_launcher->running(), 0);
    isWhole("a", 60);
    QVERIFY(!stages.isEmpty());
    QCOMPARE(line().facts().engine, "fake loom");
    // The data went as one file under its hash, and the project names it there.
    const QStringList packs = QDir(m_folder->filePath("there/data")).entryList({"*.pack"});
    QCOMPARE(packs.size(), 1);
    QFile project(runThere("a") + "/project.loom");
    QVERIFY(project.open(QIODevice::ReadOnly));
    QVERIFY(project.readAll().contains((m_folder->filePath("there/data/") + packs[0]).toUtf8()));
    QFile log(m_store->find("a")->folder + "/log.txt");
    QVERIFY(log.open(QIODevice::ReadOnly));
    QCOMPARE(log.readAll(), "fake loom, attempt 1\n");
  }

  void aCutLineLosesNoPointAndDoublesNone() {
    m_launcher->submit(job("a", {"steps=300", "ms=8"}));
    for (const int at : {20, 60, 100}) {
      QTRY_VERIFY(m_store->find("a")->step > at);
      m_line.cut = true;
      QTRY_VERIFY(!m_line.cut);
    }
    QTRY_VERIFY(m_store->find("a")->step > 140);  // the line stands: what came before its marker would be passed over
    m_line.garbage = true;
    QTRY_VERIFY(!m_line.garbage);
    QTRY_COMPARE(state("a"), RunState::finished);
    isWhole("a", 300);
    QVERIFY(m_line.opened >= 5);
  }

  void aHostThatStopsAnsweringIsTriedAgain() {
    m_launcher->submit(job("a", {"steps=150", "ms=10"}));
    QTRY_VERIFY(m_store->find("a")->step > 10);
    m_line.dead = true;
    m_line.silent = true;
    QTRY_COMPARE(line().state(), LineState::waiting);
    QVERIFY2(line().sentence().contains("no route") || line().sentence().contains("not answered"),
             qPrintable(line().sentence()));
    QVERIFY(line().nextTry() > 0);
    QCOMPARE(state("a"), RunState::running);  // as far as anybody knows
    m_line.silent = false;
    QTRY_VERIFY(m_line.opened > 3);
    m_line.dead = false;
    QTRY_COMPARE(state("a"), RunState::finished);
    isWhole("a", 150);
  }

  void aBannerAndAModuleSystemDoNoHarm() {
    m_line.before = "echo 'Welcome to there; LMF1 \"quota\": 91 %'; echo warning >&2; printf 'no newline'; ";
    m_launcher->submit(job("a", {"steps=20"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    isWhole("a", 20);
  }

  void submittingTwiceIsOnceAlsoAfterTheAnswerWasLost() {
    m_launcher->submit(job("a", {"steps=60", "ms=10"}));
    m_launcher->submit(job("a", {"steps=60", "ms=10"}));
    QTRY_VERIFY(QFile::exists(runThere("a") + "/launch.json"));
    m_line.cut = true;  // perhaps before the answer came
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{1});
    isWhole("a", 60);
  }

  void stopsChangesTheRateAndResumes() {
    m_launcher->submit(job("a", {"steps=120", "ms=6"}));
    QTRY_VERIFY(m_store->find("a")->step > 15);
    m_launcher->setLearningRate("a", 0.025);
    QTRY_COMPARE(m_store->lastValue("a", series::kRate).value_or(0), 0.025);
    m_launcher->stop("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    QTRY_COMPARE(m_launcher->running(), 0);
    m_launcher->resume("a");
    QTRY_VERIFY(!m_launcher->running() && state("a") != RunState::queued);
    QVERIFY2(state("a") == RunState::finished, qPrintable(message("a")));
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    isWhole("a", 120);
  }

  void killEndsEverythingThere() {
    m_launcher->submit(job("a", {"hang=1"}));
    QTRY_COMPARE(state("a"), RunState::running);
    const int process = m_store->events("a").front().body["pid"].get<int>();
    m_launcher->kill("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    QTRY_VERIFY(::kill(process, 0) != 0);
  }

  void aRunThatFallsOverSaysSo() {
    m_launcher->submit(job("a", {"die=12"}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("signal 6") && message("a").contains("about to fall over"),
             qPrintable(message("a")));
    isWhole("a", 11);
  }

  void closingTheWindowEndsNothingThere() {
    m_launcher->submit(job("a", {"steps=200", "ms=8"}));
    m_launcher->submit(job("b", {"steps=10"}));
    QCOMPARE(m_launcher->waiting(), 1);
    QTRY_VERIFY(m_store->find("a")->step > 10);
    close();
    QTest::qWait(100);
    open();
    QCOMPARE(state("a"), RunState::running);
    m_launcher->attach();
    QTRY_COMPARE(state("a"), RunState::finished);
    isWhole("a", 200);
    QTRY_COMPARE(state("b"), RunState::finished);
    // What ended while nobody looked gets its last word.
    m_launcher->submit(job("c", {"steps=30", "ms=5"}));
    QTRY_VERIFY(m_store->find("c")->step > 3);
    close();
    QTRY_VERIFY(QFile::exists(runThere("c") + "/exit"));
    open();
    m_launcher->attach();
    QTRY_COMPARE(state("c"), RunState::finished);
    isWhole("c", 30);
  }

  void twoLaunchersFollowOneRun() {
    m_launcher->submit(job("a", {"steps=150", "ms=8"}));
    QTRY_VERIFY(m_store->find("a")->step > 10);
    HostLines lines(*m_hosts, m_options);
    RunStore store(m_folder->filePath("store2"));
    Launcher other(store, {.hosts = &lines});
    RunRecord run = *m_store->find("a");
    store.add(run);
    other.attach();
    QTRY_COMPARE(store.find("a")->state, RunState::finished);
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(store.points("a", series::kLoss).size(), std::size_t{150});
    isWhole("a", 150);
  }

  void whatTheHostRefusesIsOneSentence() {
    QVERIFY_EXCEPTION_THROWN(m_launcher->submit([&] {
      Job lost = job("x", {});
      lost.host = "nowhere";
      return lost;
    }()),
                             Error);
    QFile::remove(m_folder->filePath("t w;o.csv"));
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("t w;o.csv"), qPrintable(message("a")));
    QTRY_COMPARE(m_launcher->running(), 0);
  }

  void aFolderWithoutPermissionIsOneSentence() {
    // A file in the place of the folder: what root, too, cannot go round.
    QFile there(m_folder->filePath("there"));
    QVERIFY(there.open(QIODevice::WriteOnly));
    there.close();
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("there"), qPrintable(message("a")));
  }

  void noEngineThereNeedsAPerson() {
    m_options.program = "/no/such/loom";
    close();
    open();
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(line().state(), LineState::needsPerson);
    QVERIFY2(line().sentence().contains("engine does not start"), qPrintable(line().sentence()));
    m_launcher->kill("a");
  }

  void theEngineIsInstalledOnceAndVerified() {
    // A bundle as installer/bundle.sh makes it: bin/loom and what it needs.
    QDir().mkpath(m_folder->filePath("b/bin"));
    QVERIFY(QFile::copy(FAKE_LOOM, m_folder->filePath("b/bin/loom")));
    QFile other(m_folder->filePath("b/bin/further"));
    QVERIFY(other.open(QIODevice::WriteOnly) && other.write("a module") == 8);
    other.close();
    QCOMPARE(
        QProcess::execute("tar", {"-czf", m_folder->filePath("engine.tar.gz"), "-C", m_folder->filePath("b"), "bin"}),
        0);
    m_options.program.clear();
    m_options.bundle = m_folder->filePath("engine.tar.gz");
    m_line.before = "echo banner; ";
    const EngineBundle bundle = readBundle(m_options.bundle);
    // Half of it lies there from a try that broke off, and is damaged: it is thrown away, and sent again.
    LocalTransport transport;
    bool calledOff = false;
    try {
      installEngine(transport, m_host.folder, bundle, [&](qint64, qint64) { return !(calledOff = true); });
    } catch (const SshError&) {
    }
    QVERIFY(calledOff);
    const QDir engines(m_folder->filePath("there/engine"));
    QTRY_COMPARE(engines.entryList({"*.part"}).size(), 1);
    close();
    open();
    QSignalSpy changes(&line(), &HostLine::stateChanged);
    m_launcher->submit(job("a", {"steps=20"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    QVERIFY(QFile::exists(engines.filePath(bundle.id() + "/bin/loom")));
    QVERIFY(engines.entryList({"*.part"}).isEmpty());
    // Among what lies there it is the one that is used.
    QVERIFY(QDir().mkpath(engines.filePath("0123456789abcdef/bin")));
    QSignalSpy remains(&line(), &HostLine::remains);
    line().tidy();
    QTRY_COMPARE(remains.size(), 1);
    QStringList used, unused;
    for (const HostRemain& each : remains[0][0].value<QVector<HostRemain>>())
      if (each.path.startsWith("engine/")) (each.isUsed ? used : unused) << each.path;
    QCOMPARE(used, QStringList("engine/" + bundle.id()));
    QCOMPARE(unused, QStringList("engine/0123456789abcdef"));
    const auto before = QFileInfo(engines.filePath(bundle.id())).lastModified();
    int progress = 0;
    installEngine(transport, m_host.folder, bundle, [&](qint64, qint64) { return ++progress; });
    QCOMPARE(progress, 0);
    QCOMPARE(QFileInfo(engines.filePath(bundle.id())).lastModified(), before);
    // A purge of old files or a full disk takes something of it: it is brought anew, and nothing of the old one stays.
    const QString program = engines.filePath(bundle.id() + "/bin/loom"),
                  further = engines.filePath(bundle.id() + "/bin/further"),
                  complete = engines.filePath(bundle.id() + "/.complete");
    QFile whole(program);
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray content = whole.readAll();
    const auto cut = [](const QString& name) {  // another file of that name: the program may be running still
      QFile file(name);
      const auto permissions = file.permissions();
      if (!file.open(QIODevice::ReadOnly)) return false;
      const QByteArray half = file.read(file.size() / 2);
      file.close();
      return file.remove() && file.open(QIODevice::WriteOnly) && file.write(half) == half.size() &&
             file.setPermissions(permissions);
    };
    const auto runsAgain = [&](const char* id) {
      close();
      open();
      m_launcher->submit(job(id, {"steps=5"}));
      QTRY_COMPARE(state(id), RunState::finished);
      QFile now(program);
      QVERIFY(now.open(QIODevice::ReadOnly) && now.readAll() == content);
      QCOMPARE(engines.entryList({"*.part*"}), QStringList());
    };
    QVERIFY(cut(program));
    runsAgain("cut");
    QVERIFY(QFile::remove(further));  // the agent itself starts without it
    runsAgain("lost");
    QVERIFY(QFile::exists(further));
    QVERIFY(cut(complete) && QFile::remove(program));
    runsAgain("list");
    QVERIFY(cut(further));  // only a check reads it all
    QSignalSpy done(&line(), &HostLine::checkDone);
    line().check(0);
    QTRY_COMPARE(done.size(), 1);
    QCOMPARE(QFileInfo(further).size(), qint64{8});
  }

  // Three checks of a host that nobody has used: they share what is left of a try that broke off.
  void threeBringOneEngineAtOnce() {
    QFile bundle(m_folder->filePath("engine.tar.gz"));
    QVERIFY(QDir().mkpath(m_folder->filePath("b/bin")));
    QFile content(m_folder->filePath("b/bin/loom"));
    QVERIFY(content.open(QIODevice::WriteOnly));
    QByteArray noise(6 << 20, Qt::Uninitialized);  // what does not get smaller
    std::independent_bits_engine<std::mt19937, 8, unsigned> random(7);
    for (char& each : noise) each = static_cast<char>(random());
    content.write(noise);
    content.close();
    QCOMPARE(QProcess::execute("tar", {"-czf", bundle.fileName(), "-C", m_folder->filePath("b"), "bin"}), 0);
    const EngineBundle whole = readBundle(bundle.fileName());
    const QByteArray before = qgetenv("TMPDIR");
    qputenv("TMPDIR", QFile::encodeName(m_folder->path()));
    std::atomic<int> sent{0}, brought{0};
    QMutex mutex;
    QStringList faults;
    std::vector<std::thread> all;
    for (int i = 0; i < 3; ++i)
      all.emplace_back([&] {
        LocalTransport transport;
        bool sends = false;
        try {
          installEngine(transport, m_host.folder, whole, [&](qint64 done, qint64) {
            sends |= done > 0;
            return true;
          });
          ++brought;
        } catch (const std::exception& error) {
          const QMutexLocker lock(&mutex);
          faults << error.what();
        }
        sent += sends;
      });
    for (std::thread& each : all) each.join();
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join("; ")));
    QCOMPARE(brought.load(), 3);
    QCOMPARE(sent.load(), 1);
    const QDir engines(m_folder->filePath("there/engine"));
    QCOMPARE(engines.entryList(QDir::AllEntries | QDir::NoDotAndDotDot), QStringList(whole.id()));
    QCOMPARE(QDir(m_folder->path()).entryList({"gradloom-install-*"}), QStringList());
    before.isEmpty() ? qunsetenv("TMPDIR") : qputenv("TMPDIR", before);
  }

  // A disk that is full for a while, a file server that hangs: nobody has to come because of that.
  void anEngineThatDoesNotStartIsTriedAgain() {
    QFile bad(m_folder->filePath("bad"));
    QVERIFY(bad.open(QIODevice::WriteOnly));
    m_line.before = "[ ! -e " + bad.fileName().toUtf8() + " ] || exit 1; ";
    m_launcher->submit(job("a", {"steps=20"}));
    QTRY_COMPARE(line().state(), LineState::needsPerson);
    QVERIFY2(line().sentence().contains("does not start"), qPrintable(line().sentence()));
    QVERIFY(bad.remove());
    QTRY_COMPARE(state("a"), RunState::finished);
  }

  void aSlowLoginIsNoClockThatIsWrong() {
    m_line.before = "sleep 2; ";
    line().connectNow();
    QTRY_COMPARE(line().state(), LineState::online);
    QVERIFY2(std::abs(line().facts().clockAhead) < 0.5, qPrintable(QString::number(line().facts().clockAhead)));
  }

  void anEngineIsNotPutWhereItDoesNotBelong_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("says");
    QTest::addColumn<QString>("refusal");
    QTest::newRow("machine") << "uname"
                             << "aarch64"
                             << "aarch64 machine";
    QTest::newRow("owner") << "id"
                           << "4242"
                           << "belongs to another person";
  }
  void anEngineIsNotPutWhereItDoesNotBelong() {
    QFETCH(QString, program);
    QFETCH(QString, says);
    QFETCH(QString, refusal);
    QDir().mkpath(m_folder->filePath("bin"));
    QFile fake(m_folder->filePath("bin/" + program)), bundle(m_folder->filePath("engine.tar.gz"));
    QVERIFY(fake.open(QIODevice::WriteOnly) && bundle.open(QIODevice::WriteOnly));
    fake.write("#!/bin/sh\necho " + says.toUtf8() + '\n');
    fake.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    fake.close();
    bundle.write("never unpacked");
    bundle.close();
    m_line.before = "PATH=" + m_folder->filePath("bin").toUtf8() + ":$PATH; export PATH; ";
    m_options.program.clear();
    m_options.bundle = bundle.fileName();
    close();
    open();
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(line().state(), LineState::needsPerson);
    QVERIFY2(line().sentence().contains(refusal), qPrintable(line().sentence()));
    QVERIFY(QDir(m_folder->filePath("there/engine")).entryList({"*.part"}).isEmpty());
    m_launcher->kill("a");
  }

  void aDamagedBundleIsThrownAway() {
    QFile file(m_folder->filePath("engine.tar.gz"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(300000, 'x'));
    file.close();
    EngineBundle bundle = readBundle(file.fileName());
    LocalTransport transport;
    const auto fault = [&] {
      try {
        installEngine(transport, m_host.folder, bundle, [](qint64, qint64) { return true; });
      } catch (const SshError& error) {
        return QString(error.what());
      }
      return QString();
    };
    QVERIFY2(fault().contains("unpacked"), qPrintable(fault()));
    bundle.sha256 = QString(64, 'a');
    QVERIFY2(fault().contains("damaged"), qPrintable(fault()));
    m_host.folder = "/tmp/a b";
    QVERIFY_EXCEPTION_THROWN(installEngine(transport, m_host.folder, bundle, [](qint64, qint64) { return true; }),
                             Error);
  }

  void checkTellsLineByLine() {
    QSignalSpy lines(&line(), &HostLine::checkLine), done(&line(), &HostLine::checkDone);
    line().check(1 << 20);
    QTRY_COMPARE(done.size(), 1);
    QStringList names;
    for (const auto& each : lines) {
      const auto found = each[0].value<CheckLine>();
      names << found.name;
      QVERIFY2(found.status == CheckLine::Status::well || !found.remedy.isEmpty(), qPrintable(found.name));
    }
    for (const char* name :
         {"SSH", "Engine", "Open MPI", "Accelerators", "Open files", "Disk", "Shared memory", "Clocks", "Real start"})
      QVERIFY2(names.contains(name), name);
    lines.clear();
    line().disconnectNow();
    QTRY_COMPARE(line().state(), LineState::offline);
    m_line.dead = true;
    line().check(0);
    QTRY_COMPARE(done.size(), 2);
    QCOMPARE(lines.last()[0].value<CheckLine>().status, CheckLine::Status::failed);
    QVERIFY(lines.last()[0].value<CheckLine>().finding.contains("no route"));
  }

  void whatMayGoGoesAndTheRestIsOffered() {
    QDir there(m_folder->filePath("there"));
    for (const char* each :
         {"engine/0123456789abcdef/bin", "runs/check-1-aaaa", "runs/check-2-bbbb", "runs/mine", "data"})
      there.mkpath(each);
    for (const char* each : {"data/old.part", "data/new.part", "data/x.pack"}) {
      QFile file(there.filePath(each));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(QByteArray(100000, 'x'));
    }
    for (const char* each : {"data/old.part", "runs/check-1-aaaa"})
      QCOMPARE(QProcess::execute("touch", {"-d", "10 days ago", there.filePath(each)}), 0);
    QSignalSpy done(&line(), &HostLine::checkDone), remains(&line(), &HostLine::remains);
    line().check(0);
    QTRY_COMPARE(done.size(), 1);
    QCOMPARE(QDir(there.filePath("runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot),
             QStringList({"check-2-bbbb", "mine"}));
    QCOMPARE(QDir(there.filePath("data")).entryList(QDir::Files), QStringList({"new.part", "x.pack"}));
    line().tidy();
    QTRY_COMPARE(remains.size(), 1);
    QStringList paths;
    for (const HostRemain& each : remains[0][0].value<QVector<HostRemain>>()) {
      paths << each.path;
      if (each.path == "data/x.pack") QVERIFY(each.bytes >= 90000 && each.bytes < 300000);
    }
    paths.sort();
    QCOMPARE(paths, QStringList(
                        {"data/new.part", "data/x.pack", "engine/0123456789abcdef", "runs/check-2-bbbb", "runs/mine"}));
    line().tidy({"runs/mine"});
    QTRY_COMPARE(remains.size(), 2);
    QVERIFY(!there.exists("runs/mine"));
    line().tidy({"../store"});
    QTRY_COMPARE(remains.size(), 3);
    QVERIFY(!remains[2][1].toString().isEmpty());
    QVERIFY(m_folder->isValid() && QDir(m_folder->filePath("store")).exists());
  }

  void aFetchedRunGoesOnHere() {
    m_launcher->submit(job("a", {"steps=400", "ms=5", "model=1000"}));
    QTRY_VERIFY(m_store->find("a")->step > 25);
    m_launcher->stop("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    QVERIFY_EXCEPTION_THROWN(m_launcher->resumeHere("a"), Error);  // nothing of it is here to go on from
    QCOMPARE(state("a"), RunState::stopped);
    Models models(*m_store, m_lines.get());
    QSignalSpy fetched(&models, &Models::fetched);
    models.fetch("a", Models::Which::newest);
    QTRY_COMPARE(fetched.size(), 1);
    QVERIFY(models.newestIsHere("a"));
    const qint64 there = QFileInfo(runThere("a") + "/events.jsonl").size();
    QSignalSpy moved(m_launcher.get(), &Launcher::hostChanged);
    m_launcher->resumeHere("a");
    QCOMPARE(moved.size(), 1);
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    const auto points = m_store->points("a", series::kLoss);
    QCOMPARE(points.size(), std::size_t{400});
    for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, static_cast<std::int64_t>(i + 1));
    QVERIFY(points.back().value > 200);  // of the second attempt
    QCOMPARE(QFileInfo(runThere("a") + "/events.jsonl").size(), there);
    // The next time, too, it is a run of this machine.
    RunRecord read;
    JobFile file;
    QVERIFY(readJobFile(m_store->find("a")->folder, read, file));
    QVERIFY(file.host.isEmpty());
  }

  void aHostTakenFromTheListEndsNothingThere() {
    m_launcher->submit(job("a", {"steps=200", "ms=8"}));
    m_launcher->submit(job("b", {"steps=5"}));  // waits
    QTRY_VERIFY(m_store->find("a")->step > 10);
    m_hosts->remove("there");
    QCOMPARE(m_launcher->running(), 0);
    QCOMPARE(state("a"), RunState::running);
    QVERIFY2(message("a").contains("taken from the list"), qPrintable(message("a")));
    QVERIFY_EXCEPTION_THROWN(m_launcher->kill("a"), Error);
    QVERIFY_EXCEPTION_THROWN(m_launcher->stop("a"), Error);
    QCOMPARE(state("b"), RunState::failed);
    QVERIFY2(message("b").contains("not in the list"), qPrintable(message("b")));
    QTest::qWait(50);  // the line is gone
    m_hosts->add(m_host);
    QTRY_COMPARE(state("a"), RunState::finished);
    isWhole("a", 200);
  }

  void aProgramThatEndedTakesWhatIsWritten() {
    LocalTransport transport;
    const auto channel = transport.execute("exec sh -c 'exec 0<&-; echo over'");
    QTRY_VERIFY((channel->read(), channel->ended()));
    // Without care for it the signal of the broken pipe would end this program.
    for (int i = 0; i < 3; ++i) QCOMPARE(channel->write("abc", 3), qint64{3});
  }

  // The list of runs was lost while a run goes on there: only its host can tell what became of it.
  void aLostListOfRunsEndsNothingThere() {
    m_launcher->submit(job("a", {"steps=200", "ms=8"}));
    m_launcher->submit(job("b", {"steps=10"}));  // waits
    QTRY_VERIFY(m_store->find("a")->step > 10);
    close();
    QDir store(m_folder->filePath("store"));
    for (const QString& each : store.entryList({"runs.db*"})) store.remove(each);
    open();
    m_launcher->attach();
    QTRY_COMPARE(state("b"), RunState::queued);
    QTRY_VERIFY(m_launcher->running() == 1);
    QCOMPARE(state("a"), RunState::running);
    QTRY_COMPARE(state("a"), RunState::finished);
    isWhole("a", 200);
    QTRY_COMPARE(state("b"), RunState::finished);
  }

  void anIdleLineIsNotTriedForEver() {
    line().connectNow();
    QTRY_COMPARE(line().state(), LineState::online);
    m_line.dead = true;
    m_line.cut = true;
    QTRY_COMPARE(line().state(), LineState::offline);
    QCOMPARE(m_line.opened, 1);
    line().connectNow();  // a person sees why it fails
    QTRY_COMPARE(line().state(), LineState::needsPerson);
    QVERIFY2(line().sentence().contains("no route"), qPrintable(line().sentence()));
    QTest::qWait(300);
    QCOMPARE(m_line.opened, 2);
    m_line.dead = false;
    m_launcher->submit(job("a", {"steps=10"}));
    QTRY_COMPARE(state("a"), RunState::finished);
  }

  void bringsAFileOfTheRun() {
    m_launcher->submit(job("a", {"steps=20"}));
    QTRY_COMPARE(state("a"), RunState::finished);
    QSignalSpy fetched(&line(), &HostLine::fetched), failed(&line(), &HostLine::fetchFailed);
    QFile big(runThere("a") + "/big file;");
    QVERIFY(big.open(QIODevice::WriteOnly));
    const QByteArray bytes = QByteArray("0123456789abcdef").repeated(200000);
    big.write(bytes);
    big.close();
    const QString to = m_folder->filePath("fetched");
    line().fetch("a", "big file;", to);
    QTRY_COMPARE(fetched.size(), 1);
    QFile copy(to);
    QVERIFY(copy.open(QIODevice::ReadOnly));
    QCOMPARE(copy.readAll(), bytes);
    // What lies here already comes once more only when it is another; a part that is spoiled is thrown away.
    line().fetch("a", "big file;", to);
    QTRY_COMPARE(fetched.size(), 2);
    QFile spoiled(m_folder->filePath("again.part"));
    QVERIFY(spoiled.open(QIODevice::WriteOnly));
    spoiled.write("these are other bytes");
    spoiled.close();
    line().fetch("a", "big file;", m_folder->filePath("again"));
    QTRY_COMPARE(fetched.size(), 3);
    QFile again(m_folder->filePath("again"));
    QVERIFY(again.open(QIODevice::ReadOnly));
    QCOMPARE(again.readAll(), bytes);
    QVERIFY(!spoiled.exists());
    line().fetch("a", "../../secret", m_folder->filePath("no"));
    QTRY_COMPARE(failed.size(), 1);
  }
};

QTEST_GUILESS_MAIN(RemoteTest)
#include "remote_test.moc"
