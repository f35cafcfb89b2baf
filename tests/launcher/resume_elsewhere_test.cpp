#include "launcher/remote/models.h"
#include "tests/launcher/remote_fixture.h"
#include "tests/launcher/scripted_host.h"
#include "tests/patience.h"

using namespace loom;

// A run goes on on a host where it did not run before: "there" and "other" have folders of their own.
class ResumeElsewhereTest : public RemoteFixture {
  Q_OBJECT

 private:
  ScriptedHost m_scripted;

  QString runOn(const QString& host, const QString& id) { return m_folder->filePath(host + "/runs/" + id); }
  static QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("cannot be read");
  }
  static void write(const QString& path, const QByteArray& text) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }
  JobFile jobOf(const QString& id) {
    RunRecord read;
    JobFile file;
    readJobFile(m_store->find(id)->folder, read, file);
    return file;
  }
  void stopAfter(const QString& id, std::int64_t step) {
    QTRY_VERIFY(m_store->find(id)->step > step);
    m_launcher->stop(id);
    QTRY_COMPARE(state(id), RunState::stopped);
    QTRY_COMPARE(m_launcher->running(), 0);
  }
  void fetchNewest(const QString& id) {
    Models models(*m_store, m_lines.get());
    QSignalSpy fetched(&models, &Models::fetched), failed(&models, &Models::failed);
    models.fetch(id, Models::Which::newest);
    QTRY_VERIFY(!fetched.isEmpty() || !failed.isEmpty());
    QVERIFY2(failed.isEmpty(), qPrintable(failed.value(0).value(1).toString()));
    QVERIFY(models.newestIsHere(id));
  }
  // What it is refused with; empty = it is not.
  QString refusal(const QString& id, const QString& host, int ranks = 0) {
    try {
      m_launcher->resumeOn(id, host, ranks);
      return {};
    } catch (const Error& error) {
      return QString::fromStdString(error.what());
    }
  }
  // Every step once, and the newest attempt's where it has one.
  void isWholeOn(const QString& host, const QString& id, int steps) {
    const auto points = m_store->points(id, series::kLoss);
    QCOMPARE(points.size(), static_cast<std::size_t>(steps));
    for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, static_cast<std::int64_t>(i + 1));
    QVERIFY(points.back().value > 100.0 * static_cast<double>(m_store->find(id)->attempt));
    if (host.isEmpty()) return;
    for (const char* file : {"/events.jsonl", "/log.txt"})
      QCOMPARE(contentOf(m_store->find(id)->folder + file), contentOf(runOn(host, id) + file));
  }

 private Q_SLOTS:
  void init() {
    setUp();
    Host other = hostFromText("other");
    other.folder = m_folder->filePath("other");
    m_hosts->add(other);
  }
  void cleanup() {
    for (const RunRecord& run : m_store->runs()) {
      const qint64 process =
          JobFolder(runOn("other", run.id).toStdString()).process().value("process", std::int64_t{0});
      if (process > 0) ::kill(static_cast<pid_t>(process), SIGKILL);
    }
    tearDown();
  }

  void fromOneHostToAnotherAndBack() {
    m_launcher->submit(job("a", {"steps=600", "ms=5", "model=1000"}));
    stopAfter("a", 25);
    const QString sentence = refusal("a", "other");  // nothing of it is here to go on from
    QVERIFY2(sentence.contains("the newest checkpoint of a, step-") &&
                 sentence.contains("is not on this machine: fetch it first"),
             qPrintable(sentence));
    QCOMPARE(state("a"), RunState::stopped);
    QCOMPARE(jobOf("a").host, "there");
    // Its best checkpoint is an older one.
    write(runOn("there", "a") + "/checkpoints/step-7.safetensors", "the best");
    write(runOn("there", "a") + "/checkpoints/best.json", R"({"file": "step-7.safetensors"})");
    fetchNewest("a");
    const QByteArray there = contentOf(runOn("there", "a") + "/events.jsonl");
    QSignalSpy moved(m_launcher.get(), &Launcher::hostChanged);
    m_launcher->resumeOn("a", "other");
    QCOMPARE(moved.size(), 1);
    stopAfter("a", 120);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    QVERIFY(m_store->find("a")->step < 600);
    QCOMPARE(contentOf(runOn("there", "a") + "/events.jsonl"), there);  // the copy there stays as it was
    QVERIFY(!jobOf("a").carry);
    QCOMPARE(contentOf(runOn("other", "a") + "/checkpoints/step-7.safetensors"), QByteArray("the best"));
    // The data went to this host as to any, the engine is told where they lie, and nothing of the run is left beside
    // them.
    const QStringList packs = QDir(m_folder->filePath("other/data")).entryList(QDir::Files);
    QCOMPARE(packs.size(), 1);
    const QByteArray launch = contentOf(runOn("other", "a") + "/launch.json");
    QVERIFY2(launch.contains(("training=" + m_folder->filePath("other/data/") + packs[0]).toUtf8()),
             launch.constData());
    // On the host where it is now it goes on without anything being brought.
    m_launcher->resume("a");
    stopAfter("a", 200);
    QVERIFY(!contentOf(runOn("other", "a") + "/launch.json").contains("training="));
    fetchNewest("a");
    m_launcher->resumeOn("a", "there");  // which has an older copy
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{4});
    QCOMPARE(jobOf("a").host, "there");
    isWholeOn("there", "a", 600);
  }

  void fromThisMachineToAHostAndBack() {
    Job here = job("a", {"steps=400", "ms=5", "model=1000"});
    here.host.clear();
    m_launcher->submit(here);
    stopAfter("a", 25);
    m_launcher->resumeOn("a", "there");
    stopAfter("a", 100);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    isWholeOn("there", "a", static_cast<int>(m_store->find("a")->step));
    fetchNewest("a");
    m_launcher->resumeOn("a", {});
    QTRY_COMPARE(state("a"), RunState::finished);
    QVERIFY(jobOf("a").host.isEmpty());
    isWholeOn({}, "a", 400);
  }

  // One that was begun on the command line has no snapshot beside it, but its project in run.json.
  void aRunOfTheCommandLineGoesOnOnAHost() {
    Job here = job("a", {"steps=200", "ms=5", "model=100"});
    here.host.clear();
    m_launcher->submit(here);
    stopAfter("a", 25);
    const QString folder = m_store->find("a")->folder;
    QVERIFY(QFile::remove(folder + "/project.loom"));
    QVERIFY2(refusal("a", "there").contains("run.json names no project"), qPrintable(refusal("a", "there")));
    write(folder + "/run.json", QByteArray::fromStdString(Json({{"project", Json::parse(here.snapshot.toStdString())},
                                                                {"project_folder", m_folder->path().toStdString()}})
                                                              .dump()));
    QCOMPARE(refusal("a", "there"), QString());
    QTRY_COMPARE(state("a"), RunState::finished);
    isWholeOn("there", "a", 200);
  }

  void whatIsMissingIsSaidAndNothingChanges() {
    Job here = job("a", {"steps=4000", "ms=5"});
    here.host.clear();
    m_launcher->submit(here);
    QTRY_VERIFY(m_store->find("a")->step > 5);
    QVERIFY2(refusal("a", "there").contains("a is running: it cannot be resumed now"),
             qPrintable(refusal("a", "there")));
    stopAfter("a", 5);
    QVERIFY2(refusal("a", "there").contains("has written no checkpoint yet"), qPrintable(refusal("a", "there")));
    m_launcher->submit(job("b", {"steps=4000", "ms=5", "model=100"}));
    stopAfter("b", 25);
    fetchNewest("b");
    QVERIFY2(refusal("b", "nowhere").contains("'nowhere' is not in the list of hosts"),
             qPrintable(refusal("b", "nowhere")));
    QVERIFY2(refusal("b", "other", 9).contains("9 ranks are asked for, but other offers 1"),
             qPrintable(refusal("b", "other", 9)));
    const QString csv = m_folder->filePath("t w;o.csv");
    QVERIFY(QFile::rename(csv, csv + ".away"));
    QVERIFY2(refusal("b", "other")
                 .contains("dataset 'training' is to be sent to other, but " + csv + " is not on this machine"),
             qPrintable(refusal("b", "other")));
    QVERIFY(QFile::rename(csv + ".away", csv));
    Host other = *m_hosts->find("other");
    other.dataFolder = "/data/own";
    m_hosts->change(other);
    m_store->change("b", [](RunRecord& run) { run.project = "/elsewhere/p.loom"; });
    QVERIFY2(refusal("b", "other").contains("the host's own data folder /data/own has no such place"),
             qPrintable(refusal("b", "other")));
    QCOMPARE(state("b"), RunState::stopped);
    QCOMPARE(jobOf("b").host, "there");
    QVERIFY(!jobOf("b").carry);
    QVERIFY(!QFile::exists(m_folder->filePath("other")));
    // The newest that is here is an older one.
    m_launcher->resume("b");
    stopAfter("b", 60);
    QVERIFY2(refusal("b", "other").contains("fetch it first"), qPrintable(refusal("b", "other")));
  }

  void aLineThatBreaksInBetweenCostsTimeAlone() {
    m_launcher->submit(job("a", {"steps=300", "ms=5", "model=8000000"}));
    stopAfter("a", 25);
    fetchNewest("a");
    QSet<QString> cut;
    connect(m_launcher.get(), &Launcher::stageChanged, this, [&](const QString& id) {
      const QString word = m_launcher->stage(id).sentence.section(' ', 0, 0);
      if (word == "Uploading" || word == "Handing" || word == "Starting")
        if (!m_line.cut && !cut.contains(word)) m_line.cut = true, cut.insert(word);
    });
    m_lines->line("there")->disconnectNow();
    QTRY_COMPARE(line().state(), LineState::offline);
    const int opened = m_line.opened;
    m_launcher->resumeOn("a", "other");
    QTRY_COMPARE_WITH_TIMEOUT(state("a"), RunState::finished, 40000);
    QVERIFY2(cut.size() >= 2, qPrintable(cut.values().join(' ')));  // the last one may come when it has begun
    QVERIFY2(m_line.opened >= opened + 3, qPrintable(QString::number(m_line.opened - opened)));
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    isWholeOn("other", "a", 300);
  }

  void aWindowThatIsClosedInBetweenGoesOnWithIt() {
    m_launcher->submit(job("a", {"steps=200", "ms=5", "model=1000"}));
    stopAfter("a", 25);
    fetchNewest("a");
    m_line.dead = true;
    m_launcher->resumeOn("a", "other");
    QTRY_COMPARE(state("a"), RunState::starting);
    close();
    QVERIFY(!QFile::exists(m_folder->filePath("other")));
    m_line.dead = false;
    open();
    m_launcher->attach();
    QTRY_COMPARE_WITH_TIMEOUT(state("a"), RunState::finished, 40000);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    isWholeOn("other", "a", 200);
  }

  void anEngineOfAnotherVersionIsNamed() {
    m_launcher->submit(job("a", {"steps=4000", "ms=5", "model=1000"}));
    stopAfter("a", 25);
    fetchNewest("a");
    close();
    m_scripted.script = [](const Json& request) {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      if (verb == "put")
        return ScriptedHost::answer(request, {{"have", 1}, {"done", true}, {"path", "/there/data/x.pack"}});
      if (verb != "place") return ScriptedHost::usual(request);
      return ScriptedHost::answer(
          request, {{"ok", false},
                    {"message", "this engine (loom 0.0.9) knows no 'place'; the launcher is of another version"}});
    };
    m_options.transport = [this](const SshAsk&) { return m_scripted.transport(); };
    open();
    m_launcher->resumeOn("a", "other");
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains(
                 "other cannot go on with a run of another machine: this engine (loom 0.0.9) knows no 'place'"),
             qPrintable(message("a")));
    QCOMPARE(m_scripted.count("start"), 0);
    // Its checkpoint is here: it goes on where it can.
    m_launcher->resumeOn("a", {});
    QTRY_VERIFY(m_store->find("a")->attempt == 2 && m_store->find("a")->step > 40);
    QVERIFY(!jobOf("a").carry);
    stopAfter("a", 40);
  }
};

QTEST_GUILESS_MAIN(ResumeElsewhereTest)
#include "resume_elsewhere_test.moc"
