#include "launcher/remote/engine_installer.h"
#include "tests/launcher/remote_fixture.h"
#include "tests/launcher/scripted_host.h"
#include "tests/patience.h"

using namespace loom;

// What may go wrong on a host and what may come from one, and that nothing is lost, doubled or believed because of it.
class RemoteTroubleTest : public RemoteFixture {
  Q_OBJECT

 private:
  ScriptedHost m_there;

  // Slurm, so that several go at once.
  void openScripted(const std::function<QByteArray(const Json&)>& script) {
    close();
    m_there.forget();
    m_there.script = script;
    m_options.transport = [this](const SshAsk&) { return m_there.transport(); };
    m_store = std::make_unique<RunStore>(m_folder->filePath("store"));
    m_hosts = std::make_unique<HostStore>(m_folder->filePath("store"));
    Host host = *m_hosts->find("there");
    host.kind = HostKind::slurm;
    m_hosts->change(host);
    m_lines = std::make_unique<HostLines>(*m_hosts, m_options);
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.program = FAKE_LOOM, .hosts = m_lines.get()});
  }
  QByteArray mirror(const QString& id) {
    QFile file(m_store->find(id)->folder + "/events.jsonl");
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() { tearDown(); }

  void aRunWhoseFolderIsGoneIsNotStartedAgain() {
    m_launcher->submit(job("a", {"steps=400", "ms=8"}));
    QTRY_VERIFY(m_store->find("a")->step > 10);
    close();
    const QString away = m_folder->filePath("away");
    QVERIFY(QDir().rename(runThere("a"), away));  // a home that is not mounted
    open();
    m_launcher->attach();
    QTRY_VERIFY(!m_launcher->doubt("a").isEmpty());
    QVERIFY2(m_launcher->doubt("a").contains("no longer there"), qPrintable(m_launcher->doubt("a")));
    QCOMPARE(state("a"), RunState::running);
    QVERIFY(!QFile::exists(runThere("a")));
    QVERIFY(QDir().rename(away, runThere("a")));  // and mounted again
    m_line.cut = true;
    QTRY_COMPARE(m_launcher->doubt("a"), QString());
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{1});
    isWhole("a", 400);
  }

  // Where the folder there is the trouble, the remedy looks at it: signing in again would tell nothing.
  void theRemedyOfAFolderLooksAtIt() {
    QFile inTheWay(m_folder->filePath("there")), bundle(m_folder->filePath("engine.tar.gz"));
    QVERIFY(inTheWay.open(QIODevice::WriteOnly) && bundle.open(QIODevice::WriteOnly));
    bundle.write("never unpacked");
    bundle.close();
    inTheWay.close();
    m_options.program.clear();
    m_options.bundle = bundle.fileName();
    close();
    open();
    QSignalSpy lines(&line(), &HostLine::checkLine), done(&line(), &HostLine::checkDone);
    line().check(0);
    QTRY_COMPARE(done.size(), 1);
    const auto last = lines.last()[0].value<CheckLine>();
    QCOMPARE(last.status, CheckLine::Status::failed);
    QVERIFY2(last.remedy.contains("df -h " + m_host.folder) && last.remedy.contains("findmnt") &&
                 last.remedy.contains("another folder"),
             qPrintable(last.finding + '\n' + last.remedy));
  }

  void aFileSystemThatRunsNothingIsNamed() {
    const EngineBundle bundle{.file = {}, .sha256 = QString(64, 'a'), .size = 1, .machine = {}};
    QDir(m_folder->path()).mkpath("there/engine/" + bundle.id() + "/bin");
    QFile program(m_folder->filePath("there/engine/" + bundle.id() + "/bin/loom"));
    QVERIFY(program.open(QIODevice::WriteOnly));
    program.close();
    QProcess shell;
    shell.start("/bin/sh", {"-c", agentCommand(m_host.folder, bundle)});
    QVERIFY(shell.waitForFinished());
    QCOMPARE(shell.exitCode(), 126);
    const QByteArray said = shell.readAllStandardError();
    QVERIFY2(said.contains("noexec") && said.contains("another folder"), said.constData());
  }

  void aHostThatLostTheEndOfItsLogIsReadFromThere() {
    m_launcher->submit(job("a", {"steps=400", "ms=5"}));
    QTRY_VERIFY(m_store->find("a")->step > 100);
    const JobFolder there(runThere("a").toStdString());
    const QString here = m_store->find("a")->folder;
    close();
    ::kill(static_cast<pid_t>(there.process()["process"].get<int>()), SIGKILL);  // the node's power
    QTRY_VERIFY(!there.run().running());
    QVERIFY(QFile::resize(runThere("a") + "/events.jsonl", QFileInfo(here + "/events.jsonl").size() - 3000));
    open();
    m_launcher->attach();
    QTRY_VERIFY(!isLive(state("a")));
    m_launcher->resume("a");
    QTRY_COMPARE(state("a"), RunState::finished);
    QCOMPARE(m_store->find("a")->attempt, std::int64_t{2});
    isWhole("a", 400);
    QVERIFY(QFileInfo(here + "/events.cut.jsonl").size() >= 3000);
  }

  void aPersonEndsWhatIsLost() {
    m_launcher->submit(job("a", {"steps=40", "ms=4"}));
    QTRY_VERIFY(m_store->find("a")->step > 5);
    close();
    QTRY_VERIFY(QFile::exists(runThere("a") + "/exit"));
    QVERIFY(QDir(runThere("a")).removeRecursively());  // a scratch folder that was purged
    open();
    m_launcher->attach();
    QTRY_VERIFY(!m_launcher->doubt("a").isEmpty());
    const QString fresh = m_launcher->submitAnew("a");
    QCOMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("by hand") && message("a").contains("no longer there"), qPrintable(message("a")));
    QTRY_COMPARE(state(fresh), RunState::finished);
    isWhole(fresh, 40);
    QVERIFY(!QFile::exists(runThere("a")));
    // To resume it would begin from nothing: that, too, is told.
    m_launcher->resume("a");
    QTRY_VERIFY(!m_launcher->doubt("a").isEmpty());
    m_launcher->kill("a");
    QTRY_COMPARE(state("a"), RunState::stopped);
    QCOMPARE(m_launcher->running(), 0);
  }

  void aRunOfWhichNothingIsKnownCanBeEnded() {
    m_launcher->submit(job("a", {"steps=4000", "ms=5"}));
    QTRY_VERIFY(m_store->find("a")->step > 5);
    const JobFolder there(runThere("a").toStdString());
    const int process = there.process()["process"].get<int>();
    QVERIFY(QFile::remove(runThere("a") + "/process.json"));
    QTRY_VERIFY(!m_launcher->doubt("a").isEmpty());
    QVERIFY_EXCEPTION_THROWN(m_launcher->resume("a"), Error);
    QSignalSpy changed(m_launcher.get(), &Launcher::doubtChanged);
    m_launcher->giveUp("a");
    QCOMPARE(changed.size(), 1);
    QCOMPARE(state("a"), RunState::failed);
    QCOMPARE(m_launcher->running(), 0);
    QVERIFY_EXCEPTION_THROWN(m_launcher->giveUp("a"), Error);
    ::kill(process, SIGKILL);
  }

  void twoRunsSendTheSameDataOnce() {
    openScripted([held = QByteArray()](const Json& request) mutable {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      if (verb != "put" && verb != "ping") return ScriptedHost::usual(request);
      // The answer takes its time: meanwhile the others are packed, too.
      held += ScriptedHost::usual(request);
      return verb == "put" ? QByteArray() : std::exchange(held, {});
    });
    for (const char* id : {"a", "b", "c"}) m_launcher->submit(job(id, {}));
    QTRY_COMPARE(m_there.count("start"), 3);
    QCOMPARE(m_there.count("put"), 1);
    QCOMPARE(m_there.count("chunk"), 1);
    for (const char* id : {"a", "b", "c"}) QCOMPARE(state(id), RunState::starting);
  }

  // The agent ends a line on which it hears nothing, however much it says itself.
  void aHostThatNeverPausesIsSpokenToAllTheSame() {
    m_there.chatters = true;
    openScripted([](const Json& request) { return ScriptedHost::usual(request); });
    line().connectNow();
    QTRY_VERIFY(m_there.count("ping") > 2);
    QCOMPARE(m_there.count("hello"), 1);
    m_there.chatters = false;
  }

  void aHostThatIsBusyForEverEndsTheCheck() {
    m_options.times.checkMs = 1000;
    openScripted([](const Json& request) {
      if (request.value("verb", "") == "hello") return ScriptedHost::usual(request);
      return ScriptedHost::frame({{"busy", true}, {"doing", "facts"}, {"seconds", 3}});
    });
    m_there.chatters = true;
    QSignalSpy lines(&line(), &HostLine::checkLine), done(&line(), &HostLine::checkDone);
    line().check(0);
    QTRY_COMPARE(done.size(), 1);
    const auto last = lines.back()[0].value<CheckLine>();
    QCOMPARE(last.status, CheckLine::Status::failed);
    QVERIFY2(last.finding.contains("no answer within 1 s"), qPrintable(last.finding));
    m_there.chatters = false;
  }

  void aHostThatHasMoreThanThereIsIsRefused() {
    openScripted([](const Json& request) {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      if (verb == "put") return ScriptedHost::answer(request, {{"have", std::int64_t{1} << 62}, {"done", false}});
      return ScriptedHost::usual(request);
    });
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("4611686018427387904 bytes of"), qPrintable(message("a")));
  }

  void wordsOfAHostAreShownAsWords() {
    openScripted([](const Json& request) {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      if (verb == "start")
        return ScriptedHost::answer(request,
                                    {{"ok", false}, {"message", "\x1b]0;pwned\x07" + std::string(100000, 'x')}});
      return ScriptedHost::usual(request);
    });
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(state("a"), RunState::failed);
    QVERIFY2(message("a").contains("\\x1b]0;pwned") && !message("a").contains('\x1b') && message("a").size() < 6000,
             qPrintable(message("a").left(200)));
  }

  void garbageBreaksTheLineAndNothingElse_data() {
    QTest::addColumn<QByteArray>("garbage");
    QTest::newRow("type") << ScriptedHost::frame({{"re", 2}, {"ok", 1}});
    QTest::newRow("state") << ScriptedHost::frame({{"re", 2}, {"ok", true}, {"state", {{"phase", 7}, {"start", "x"}}}});
    QTest::newRow("told") << ScriptedHost::frame({{"job", "a"}, {"events", "x"}});
    QTest::newRow("job") << ScriptedHost::frame({{"job", 1}, {"end", "x"}});
    const QByteArray deep = "{\"state\":" + QByteArray(2000000, '[') + QByteArray(2000000, ']') + "}";
    QByteArray head("LMF1");
    for (const qsizetype length : {deep.size(), qsizetype{0}})
      for (int shift = 0; shift < 32; shift += 8) head += static_cast<char>(length >> shift & 0xFF);
    QTest::newRow("depth") << head + deep;
  }
  void garbageBreaksTheLineAndNothingElse() {
    QFETCH(QByteArray, garbage);
    openScripted([garbage, spoil = true](const Json& request) mutable {
      const std::string verb = request.value("verb", "");
      if (verb == "state" && std::exchange(spoil, false)) return garbage;
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      return ScriptedHost::usual(request);
    });
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(m_there.count("hello"), 2);
    QTRY_COMPARE(m_there.count("start"), 1);
    QCOMPARE(state("a"), RunState::starting);
  }

  void aPieceThatDoesNotFitLeavesNoHole() {
    const QByteArray line = R"({"v":1,"attempt":1,"seq":1,"time":1,"kind":"started","steps_total":9})"
                            "\n";
    openScripted([line, tails = 0](const Json& request) mutable {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      if (verb != "tail") return ScriptedHost::usual(request);
      QByteArray all = ScriptedHost::answer(request, Json::object());
      if (tails++ > 0) return all;
      all += ScriptedHost::frame({{"job", "a"}, {"events", 0}}, line);
      all += ScriptedHost::frame({{"job", "a"}, {"events", 0}},
                                 QByteArray(line.size(), 'x'));  // what stands is not changed
      all += ScriptedHost::frame({{"job", "a"}, {"events", 100000}}, line);
      all += ScriptedHost::frame({{"job", "a"}, {"events", line.size()}}, line);  // on its way when it is called off
      all += ScriptedHost::frame({{"job", "a"}, {"log", -5}}, "log");
      return all;
    });
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(m_there.count("untail"), 1);
    QCOMPARE(mirror("a"), line);
    QTRY_COMPARE(m_there.count("tail"), 2);
    QCOMPARE(m_there.last("tail").value("events", qint64{-1}), line.size());
    QCOMPARE(mirror("a"), line);
  }

  void whatWaitsInSlurmIsStoppedAndHasNotFailed() {
    openScripted([](const Json& request) {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      QByteArray all = ScriptedHost::usual(request);
      if (verb == "tail")
        all +=
            ScriptedHost::frame({{"job", "a"}, {"state", {{"phase", "queued"}, {"start", 1}, {"detail", "waiting"}}}});
      if (verb == "cancel")
        all += ScriptedHost::frame(
            {{"job", "a"}, {"end", true}, {"state", {{"phase", "ended"}, {"start", 1}, {"code", 143}}}});
      return all;
    });
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(m_launcher->stage("a").sentence, "waiting");
    m_launcher->stop("a");
    QTRY_COMPARE(m_launcher->running(), 0);
    QCOMPARE(state("a"), RunState::stopped);
    QVERIFY2(message("a").contains("before it began"), qPrintable(message("a")));
  }

  // scontrol requeue, a preemption, a node that failed: what the run said of its end was not the last of it.
  void aRunThatSlurmStartsAgainIsFollowedOn() {
    struct Said {
      QMutex mutex;
      QByteArray next;
    };
    const auto said = std::make_shared<Said>();
    openScripted([said](const Json& request) {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      const QMutexLocker lock(&said->mutex);
      return ScriptedHost::usual(request) + std::exchange(said->next, {});
    });
    const auto say = [&said](const QByteArray& bytes) {
      const QMutexLocker lock(&said->mutex);
      said->next += bytes;
    };
    const auto state = [](Json state, bool end = false) {
      Json header = {{"job", "a"}, {"state", std::move(state)}};
      if (end) header["end"] = true;
      return ScriptedHost::frame(header);
    };
    qint64 length = 0;
    const auto events = [&](const QByteArray& lines) {
      const QByteArray frame = ScriptedHost::frame({{"job", "a"}, {"events", length}}, lines);
      length += lines.size();
      return frame;
    };
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(m_there.count("tail"), 1);
    say(state({{"phase", "running"}, {"start", 1}}) +
        events("{\"v\":1,\"attempt\":1,\"seq\":0,\"time\":1,\"kind\":\"started\",\"steps_total\":9}\n"));
    QTRY_COMPARE(this->state("a"), RunState::running);
    say(
        events("{\"v\":1,\"attempt\":1,\"seq\":1,\"time\":2,\"kind\":\"finished\",\"reason\":\"failed\",\"step\":4,"
               "\"message\":\"rank 0 ended\"}\n"));
    QTRY_COMPARE(message("a"), "rank 0 ended");
    QCOMPARE(this->state("a"), RunState::stopping);
    QVERIFY_EXCEPTION_THROWN(m_launcher->resume("a"), Error);
    say(state({{"phase", "queued"}, {"start", 1}, {"detail", "Slurm starts it again: BeginTime"}}));
    QTRY_COMPARE(this->state("a"), RunState::starting);
    QTRY_COMPARE(m_launcher->stage("a").sentence, "Slurm starts it again: BeginTime");
    QCOMPARE(m_launcher->running(), 1);
    say(state({{"phase", "running"}, {"start", 1}}) +
        events("{\"v\":1,\"attempt\":2,\"seq\":2,\"time\":3,\"kind\":\"started\",\"steps_total\":9}\n"));
    QTRY_COMPARE(this->state("a"), RunState::running);
    // One that was killed left no last word, and waits all the same.
    say(state({{"phase", "queued"}, {"start", 1}, {"detail", "waiting in Slurm's queue: nodes are drained"}}));
    QTRY_COMPARE(this->state("a"), RunState::starting);
    QTRY_COMPARE(m_launcher->stage("a").sentence, "waiting in Slurm's queue: nodes are drained");
    say(state({{"phase", "running"}, {"start", 1}}) +
        events("{\"v\":1,\"attempt\":3,\"seq\":3,\"time\":3.5,\"kind\":\"started\",\"steps_total\":9}\n"));
    QTRY_COMPARE(this->state("a"), RunState::running);
    // And what ends it for good is told with what the host knows.
    say(events(
        "{\"v\":1,\"attempt\":3,\"seq\":4,\"time\":4,\"kind\":\"finished\",\"reason\":\"stopped\",\"step\":7}\n"));
    QTRY_COMPARE(this->state("a"), RunState::stopping);
    say(state({{"phase", "ended"}, {"start", 1}, {"code", 3}, {"detail", "Slurm cancelled its job"}}, true));
    QTRY_COMPARE(this->state("a"), RunState::stopped);
    QCOMPARE(message("a"), "Slurm cancelled its job.");
    QCOMPARE(m_launcher->running(), 0);
  }

  void aFinishedRunWhoseFolderIsGoneKeepsNobodyWaiting() {
    openScripted([told = false](const Json& request) mutable {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      QByteArray all = ScriptedHost::usual(request);
      if (verb == "tail")
        all += ScriptedHost::frame(
            {{"job", "a"}, {"events", 0}},
            "{\"v\":1,\"attempt\":1,\"seq\":0,\"time\":1,\"kind\":\"started\"}\n"
            "{\"v\":1,\"attempt\":1,\"seq\":1,\"time\":2,\"kind\":\"finished\",\"reason\":\"done\"}\n");
      if (verb == "ping" && !std::exchange(told, true))
        all += ScriptedHost::frame({{"job", "a"}, {"state", {{"phase", "none"}}}});
      return all;
    });
    m_launcher->submit(job("a", {}));
    QTRY_COMPARE(state("a"), RunState::finished);
    QTRY_COMPARE(m_launcher->running(), 0);
    QCOMPARE(state("a"), RunState::finished);
    QCOMPARE(m_launcher->doubt("a"), QString());
  }

  void aWordOfANewerEngineIsNoEnd() {
    openScripted([](const Json& request) {
      const std::string verb = request.value("verb", "");
      if (verb == "state") return ScriptedHost::answer(request, {{"state", {{"phase", "none"}}}});
      QByteArray all = ScriptedHost::usual(request);
      if (verb == "tail")
        all += ScriptedHost::frame({{"job", "a"}, {"state", {{"phase", "hibernating"}, {"start", 1}, {"since", 3}}}});
      return all;
    });
    m_launcher->submit(job("a", {}));
    QTRY_VERIFY(m_launcher->doubt("a").contains("hibernating"));
    QCOMPARE(state("a"), RunState::starting);
  }
};

QTEST_GUILESS_MAIN(RemoteTroubleTest)
#include "remote_trouble_test.moc"
