#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <thread>

#include "engine/agent/job_folder.h"
#include "engine/base/json.h"
#include "launcher/launcher.h"
#include "launcher/remote/host_lines.h"
#include "launcher/ssh/ssh_connection.h"
#include "tests/launcher/ssh_server.h"
#include "tests/launcher/sshd.h"
#include "tests/patience.h"

using namespace loom;

// Signing in and running over real SSH connections on this machine.
class SshTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<Sshd> m_sshd;
  QStringList m_asked;
  QStringList m_refused;  // what each question said of the answer before it
  QString m_shown;        // the fingerprint
  QString m_remedy;       // of the last fault

  SshAsk yes() {
    return [this](const SshQuestion& question) -> std::optional<QString> {
      m_asked << question.text;
      if (!question.fingerprint.isEmpty()) m_shown = question.fingerprint;
      return question.kind == SshQuestion::Kind::newHostKey ? QStringLiteral("yes")
             : question.kind == SshQuestion::Kind::code     ? QStringLiteral("123456")
                                                            : QStringLiteral("geheim");
    };
  }
  SshAsk inTurn(const QStringList& answers) {
    return [this, left = answers](const SshQuestion& question) mutable -> std::optional<QString> {
      m_asked << question.text;
      m_refused << question.refused;
      return left.takeFirst();
    };
  }
  static SshAsk nobody() {
    return [](const SshQuestion&) { return std::nullopt; };
  }
  SshTarget target(const QByteArray& more = {}) { return SshConfig(m_sshd->clientConfig(more)).resolve("there"); }
  SshTarget targetOf(const SshServer& server) {
    SshTarget target = SshConfig("/none").resolve("127.0.0.1", "mara", server.port());
    target.agent = "none";
    target.identities = {"/no/key"};
    target.knownHosts = {m_sshd->path("known_server")};
    return target;
  }
  static QByteArray output(SshConnection& connection, const QByteArray& command) {
    const auto channel = connection.execute(command);
    QByteArray all;
    for (int i = 0; i < 2000 && !channel->ended(); ++i) {
      all += channel->read();
      QTest::qWait(5);
    }
    return all + channel->read();
  }
  std::pair<SshFault, QString> faultOf(SshTarget target, SshAsk ask) {
    m_remedy.clear();
    try {
      SshConnection connection(std::move(target), std::move(ask));
      connection.open();
    } catch (const SshError& error) {
      m_remedy = QString::fromStdString(error.remedy());
      return {error.fault(), QString(error.what())};
    }
    return {SshFault::refused, QStringLiteral("it went well")};
  }

 private Q_SLOTS:
  void initTestCase() {
    if (const QString why = Sshd::why(); !why.isEmpty()) QSKIP(qPrintable(why));
  }
  void init() {
    m_asked.clear();
    m_refused.clear();
    m_sshd = std::make_unique<Sshd>();
  }
  void cleanup() { m_sshd.reset(); }

  void aNewKeyIsAskedAboutOnce() {
    QCOMPARE(faultOf(target(), nobody()).first, SshFault::hostKey);
    SshConnection first(target(), yes());
    first.open();
    QCOMPARE(m_asked.size(), 1);
    QVERIFY2(m_asked[0].contains(QString("[127.0.0.1]:%1").arg(m_sshd->port())) && !m_asked[0].contains("SHA256"),
             qPrintable(m_asked[0]));
    QVERIFY2(m_shown.startsWith("ED25519 SHA256:"), qPrintable(m_shown));  // once
    QCOMPARE(first.method(), "with key id");
    QCOMPARE(output(first, "printf '%s' 'a b'"), "a b");
    QFile known(m_sshd->path("known_hosts"));
    QVERIFY(known.open(QIODevice::ReadOnly) && known.readAll().contains("ssh-ed25519"));
    SshConnection second(target(), nobody());
    second.open();
    QCOMPARE(second.fingerprint(), first.fingerprint());
  }

  void aChangedKeyIsAnErrorWithBothFingerprints() {
    SshConnection first(target(), yes());
    first.open();
    m_sshd->stop();
    m_sshd->makeHostKey();
    QVERIFY(m_sshd->start());
    m_asked.clear();
    const auto [fault, sentence] = faultOf(target(), yes());
    QCOMPARE(fault, SshFault::hostKey);
    QVERIFY(m_asked.isEmpty());  // there is nothing to say yes to
    QVERIFY2(sentence.contains(first.fingerprint()), qPrintable(sentence));
    QCOMPARE(sentence.count("ED25519 SHA256:"), 2);
    QVERIFY(sentence.contains("ssh-keygen -R"));
  }

  void everyFileAndEveryMarkerIsSeen() {
    SshConnection first(target(), yes());
    first.open();
    QFile known(m_sshd->path("known_hosts"));
    QVERIFY(known.open(QIODevice::ReadOnly));
    const QByteArray line = known.readAll().trimmed(), key = line.mid(line.indexOf(' ') + 1);
    const auto write = [this](const char* name, const QByteArray& text) {
      QFile file(m_sshd->path(name));
      if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
      file.write(text + '\n');
      return file.fileName();
    };
    const QString none = m_sshd->path("none");
    m_asked.clear();
    for (const bool global : {false, true}) {
      SshTarget wanted = target();
      wanted.knownHosts = global ? QStringList{none} : QStringList{none, known.fileName()};
      wanted.globalKnownHosts = global ? QStringList{known.fileName()} : QStringList{};
      SshConnection connection(wanted, nobody());
      connection.open();
      QCOMPARE(connection.fingerprint(), first.fingerprint());
    }
    SshTarget revoked = target();
    revoked.globalKnownHosts = {write("revoked", "@revoked * " + key)};
    auto [fault, sentence] = faultOf(revoked, yes());
    QCOMPARE(fault, SshFault::hostKey);
    QVERIFY2(sentence.contains("revoked") && sentence.contains(first.fingerprint()), qPrintable(sentence));
    SshTarget strict = target();
    strict.knownHosts = {none};
    strict.newHostKey = SshTarget::NewHostKey::refuse;
    QVERIFY(faultOf(strict, yes()).second.contains("StrictHostKeyChecking"));
    QVERIFY(m_asked.isEmpty());
    SshTarget signedBy = strict;
    signedBy.newHostKey = SshTarget::NewHostKey::ask;
    signedBy.globalKnownHosts = {write("authority", "@cert-authority * " + key)};
    QCOMPARE(faultOf(signedBy, nobody()).first, SshFault::hostKey);  // the authority's key is not the host's
    faultOf(signedBy, yes());
    QVERIFY2(m_asked.value(0).contains("authority"), qPrintable(m_asked.join('|')));
    m_asked.clear();
    QFile::remove(none);
    strict.newHostKey = SshTarget::NewHostKey::accept;
    SshConnection accepted(strict, nobody());
    accepted.open();
    QVERIFY(QFile::exists(none));
  }

  // The agent holds the key that the configuration names: no passphrase is asked for, and no other key of its is
  // offered.
  void ofTheAgentOnlyTheKeysThatAreNamed() {
    m_sshd = std::make_unique<Sshd>("LogLevel DEBUG1");
    QProcess agent;
    agent.start("ssh-agent", {"-D", "-a", m_sshd->path("agent")});
    QTRY_VERIFY(QFile::exists(m_sshd->path("agent")));
    QCOMPARE(QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", m_sshd->path("other")}), 0);
    for (const char* name : {"other", "id"}) {
      QProcess add;
      auto environment = QProcessEnvironment::systemEnvironment();
      environment.insert("SSH_AUTH_SOCK", m_sshd->path("agent"));
      add.setProcessEnvironment(environment);
      add.start("ssh-add", {"-q", m_sshd->path(name)});
      QVERIFY(add.waitForFinished());
    }
    QCOMPARE(QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "", "-N", "geheim", "-f", m_sshd->path("id")}), 0);
    SshTarget wanted = target();
    QVERIFY(wanted.identitiesOnly);
    wanted.agent = m_sshd->path("agent");
    SshConnection connection(wanted, yes());
    connection.open();
    QCOMPARE(m_asked.size(), 1);  // the host's key
    QCOMPARE(connection.method(), "with a key of the agent");
    QProcess print;
    print.start("ssh-keygen", {"-l", "-f", m_sshd->path("other.pub")});
    QVERIFY(print.waitForFinished());
    const QByteArray other = print.readAllStandardOutput().split(' ').value(1);
    QVERIFY2(other.startsWith("SHA256:"), other.constData());
    QFile log(m_sshd->path("sshd.log"));
    QVERIFY(log.open(QIODevice::ReadOnly));
    QVERIFY(!log.readAll().contains(other));
    agent.kill();
    agent.waitForFinished();
  }

  void aTelephoneIsWaitedForAndItsWordsAreShown() {
    const SshServer server(SshServer::Demand::push);
    SshTarget wanted = targetOf(server);
    wanted.connectTimeout = 1;  // which is not how long a person may take
    SshConnection connection(wanted, yes());
    connection.open();
    QVERIFY2(m_asked.contains("Duo\nLook at your telephone"), qPrintable(m_asked.join('|')));
  }

  void whatHoldsACodeIsNoPassword() {
    const SshServer server(SshServer::Demand::passwordWithCode);
    SshConnection connection(targetOf(server), yes());  // who answers a password with "geheim", a code with "123456"
    connection.open();
    QCOMPARE(server.attempts(), 1);
  }

  // With its fingerprint, which stands in the host's log, and with the command that puts this very key there.
  void aKeyThatIsNotLetInIsNamed() {
    QFile::remove(m_sshd->path("authorized"));
    const auto [fault, sentence] = faultOf(target(), yes());
    QCOMPARE(fault, SshFault::signIn);
    QProcess print;
    print.start("ssh-keygen", {"-l", "-f", m_sshd->path("id.pub")});
    QVERIFY(print.waitForFinished());
    const QString id = m_sshd->path("id"), offered = print.readAllStandardOutput().split(' ').value(1);
    QVERIFY2(sentence.contains(QStringLiteral("tried: key %1 (ED25519 %2)").arg(id, offered)), qPrintable(sentence));
    QVERIFY2(sentence.contains("chmod go-w"), qPrintable(sentence));
    QCOMPARE(m_remedy,
             QStringLiteral("ssh-copy-id -i %1 -p %2 %3@127.0.0.1").arg(id).arg(m_sshd->port()).arg(target().user));
    QVERIFY2(sentence.contains(m_remedy), qPrintable(sentence));
    // So the page shows it, as what is to be copied.
    Host host = hostFromText("there");
    HostLine line(host, {.program = FAKE_LOOM, .sshConfig = m_sshd->clientConfig()});
    QSignalSpy found(&line, &HostLine::checkLine);
    line.check(0);
    QTRY_COMPARE(found.size(), 1);
    QCOMPARE(found[0][0].value<CheckLine>().status, CheckLine::Status::failed);
    QCOMPARE(found[0][0].value<CheckLine>().remedy, m_remedy);
  }

  void aLockedKeyAsksForItsPassphrase() {
    QCOMPARE(QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "", "-N", "geheim", "-f", m_sshd->path("id")}), 0);
    SshConnection connection(target(), inTurn({"yes", "falsch", "geheim"}));
    connection.open();
    QCOMPARE(m_asked.size(), 3);
    QVERIFY(m_asked[1].contains("passphrase"));
    QCOMPARE(m_asked[2], m_asked[1]);
    QCOMPARE(m_refused, QStringList({"", "", "That passphrase does not open the key."}));
    const auto [fault, sentence] = faultOf(target(), nobody());
    QCOMPARE(fault, SshFault::signIn);
    QVERIFY2(sentence.contains("locked, its passphrase was not given"), qPrintable(sentence));
    QCOMPARE(m_remedy, "ssh-add " + m_sshd->path("id"));
    QVERIFY(faultOf(target(), inTurn({"falsch", "falsch", "falsch"})).second.contains("its passphrase was wrong"));
  }

  void aKeyThatIsNotThereIsNamed() {
    SshTarget wanted = target();
    wanted.identities = {m_sshd->path("none")};
    const auto [fault, sentence] = faultOf(wanted, yes());
    QCOMPARE(fault, SshFault::signIn);
    QVERIFY2(sentence.contains("there is no such file"), qPrintable(sentence));
    QCOMPARE(m_remedy, "ssh-keygen -t ed25519 -f " + m_sshd->path("none"));
  }

  void anAgentSignsIn() {
    QProcess agent;
    agent.start("ssh-agent", {"-D", "-a", m_sshd->path("agent")});
    QTRY_VERIFY(QFile::exists(m_sshd->path("agent")));
    QProcess add;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("SSH_AUTH_SOCK", m_sshd->path("agent"));
    add.setProcessEnvironment(environment);
    add.start("ssh-add", {"-q", m_sshd->path("id")});
    QVERIFY(add.waitForFinished());
    SshTarget wanted = target();
    wanted.agent = m_sshd->path("agent");
    wanted.identities = {"/no/key"};
    wanted.identitiesOnly = false;
    SshConnection connection(wanted, yes());
    connection.open();
    QCOMPARE(connection.method(), "with a key of the agent");
    agent.kill();
    agent.waitForFinished();
  }

  void passwordsAndCodesAreAsked() {
    const SshServer password(SshServer::Demand::password);
    SshConnection one(targetOf(password), yes());
    one.open();
    QCOMPARE(one.method(), "with a password");
    const SshServer both(SshServer::Demand::passwordThenCode);
    m_asked.clear();
    SshConnection two(targetOf(both), yes());
    two.open();
    QCOMPARE(m_asked.size(), 3);  // its key, the password, the code
    QCOMPARE(m_asked[2], "Verification code:");
    QCOMPARE(two.method(), "with a password and with what it asked for");
  }

  void aWrongPasswordIsTriedThreeTimes() {
    const SshServer server(SshServer::Demand::password);
    const auto [fault, sentence] = faultOf(targetOf(server), inTurn({"yes", "falsch", "falsch", "falsch", "geheim"}));
    QCOMPARE(fault, SshFault::signIn);
    QCOMPARE(server.attempts(), 3);
    QVERIFY2(sentence.contains("a password (refused)") && !sentence.contains("falsch"), qPrintable(sentence));
    QVERIFY2(m_remedy.startsWith("ssh -p "), qPrintable(m_remedy));
    const auto [unasked, silence] = faultOf(targetOf(server), nobody());
    QVERIFY2(silence.contains("a password (not given)"), qPrintable(silence));
  }

  // Who asks again says why.
  void aWrongAnswerIsAskedAgainWithAWord() {
    const SshServer server(SshServer::Demand::passwordThenCode);
    SshConnection connection(targetOf(server), inTurn({"yes", "falsch", "geheim", "000000", "123456"}));
    connection.open();
    const QString there = targetOf(server).shown();
    QCOMPARE(m_refused, QStringList({"", "", there + " refused the password.", "", there + " refused the answer."}));
  }

  void aKeyThatOthersMayReadIsNotUsed() {
    QFile(m_sshd->path("id")).setPermissions(QFile::Permissions(0x6666));
    const auto [fault, sentence] = faultOf(target(), yes());
    QCOMPARE(fault, SshFault::signIn);
    QVERIFY2(sentence.contains("others may read it: chmod 600 " + m_sshd->path("id")), qPrintable(sentence));
    QCOMPARE(m_remedy, "chmod 600 " + m_sshd->path("id"));
  }

  // What ended is told as such, also by a signal; and one program at a time is enough.
  void aHostMayAllowOneProgramAtATime() {
    m_sshd = std::make_unique<Sshd>("MaxSessions 1");
    SshConnection connection(target(), yes());
    connection.open();
    for (int i = 0; i < 5; ++i) QCOMPARE(output(connection, "printf x"), "x");
    const auto killed = connection.execute("kill -SEGV $$");
    QTRY_VERIFY((killed->read(), killed->ended()));
    QCOMPARE(killed->exitCode().value_or(0), 128 + SIGSEGV);
  }

  void aJumpHostIsAChannel() {
    const Sshd gate;
    const SshTarget through =
        SshConfig(m_sshd->clientConfig("  ProxyJump gate\nHost gate\n  HostName 127.0.0.1\n  Port " +
                                       QByteArray::number(gate.port()) + "\n  IdentityFile " +
                                       gate.path("id").toUtf8() + "\n  IdentityAgent none\n"))
            .resolve("there");
    SshConnection connection(through, yes());
    connection.open();
    QCOMPARE(m_asked.size(), 2);  // both keys
    QVERIFY(connection.jumps().contains(QString::number(gate.port())));
    QCOMPARE(output(connection, "head -c 3000000 /dev/zero | tr '\\0' x").size(), 3000000);
    SshTarget nowhere = through;
    nowhere.port = 1;
    const auto [fault, sentence] = faultOf(nowhere, yes());
    QCOMPARE(fault, SshFault::unreachable);
    QVERIFY2(sentence.contains("jump host"), qPrintable(sentence));
  }

  void nobodyThereAndNoSshThere() {
    QTcpServer silent;  // accepts, and says nothing
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    SshTarget wanted = target();
    wanted.port = 1;
    QVERIFY(faultOf(wanted, yes()).second.contains("refused"));
    wanted.host = "no-such-host.invalid";
    QVERIFY(faultOf(wanted, yes()).second.contains("no address"));
    wanted.host = "127.0.0.1";
    wanted.port = silent.serverPort();
    SshConnection connection(wanted, yes());
    std::thread caller([&] {
      QThread::msleep(300);
      connection.abort();
    });
    QElapsedTimer clock;
    clock.start();
    QVERIFY_EXCEPTION_THROWN(connection.open(), SshError);
    caller.join();
    QVERIFY(clock.elapsed() < 10000);  // called off, long before the time-out
  }

  // A login shell that prints banners, is csh, and has a fixed command of its own before ours.
  void runsOverSsh_data() {
    QTest::addColumn<QString>("shell");
    QTest::newRow("sh") << "";
    QTest::newRow("banner")
        << "#!/bin/sh\necho 'Welcome; quota 91 %'\necho more >&2\nexec /bin/bash -c \"$SSH_ORIGINAL_COMMAND\"\n";
    if (QFile::exists("/usr/bin/tcsh") || QFile::exists("/bin/tcsh"))
      QTest::newRow("csh") << "#!/bin/sh\nexec tcsh -c \"$SSH_ORIGINAL_COMMAND\"\n";
  }
  void runsOverSsh() {
    QFETCH(QString, shell);
    QTemporaryDir folder;
    if (!shell.isEmpty()) {
      QFile file(folder.filePath("shell"));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(shell.toUtf8());
      file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
      file.close();
      m_sshd = std::make_unique<Sshd>("ForceCommand " + folder.filePath("shell").toUtf8());
    }
    QDir().mkpath(folder.filePath("b/bin"));
    QVERIFY(QFile::copy(FAKE_LOOM, folder.filePath("b/bin/loom")));
    QCOMPARE(QProcess::execute("tar", {"-czf", folder.filePath("engine.tar.gz"), "-C", folder.filePath("b"), "bin"}),
             0);

    RunStore store(folder.filePath("store"));
    HostStore hosts(folder.filePath("store"));
    Host host = hostFromText("there");
    host.folder = folder.filePath("there");
    hosts.add(host);
    HostLines lines(hosts, {.bundle = folder.filePath("engine.tar.gz"),
                            .sshConfig = m_sshd->clientConfig(),
                            .firstWaitMs = 100,
                            .longestWaitMs = 400});
    int questions = 0;
    connect(&lines, &HostLines::question, this, [&](const QString& id, int number, const SshQuestion&) {
      ++questions;
      lines.line(id)->answer(number, QStringLiteral("yes"));
    });
    Launcher launcher(store, {.hosts = &lines});
    launcher.submit({.id = "a",
                     .project = folder.filePath("p.loom"),
                     .snapshot = "{}",
                     .overrides = {"steps=300", "ms=10"},
                     .host = "there"});
    QTRY_VERIFY(store.find("a")->step > 20);
    m_sshd->stop();  // the cable is cut
    QTRY_COMPARE(lines.line("there")->state(), LineState::waiting);
    QVERIFY(m_sshd->start());
    QTRY_COMPARE_WITH_TIMEOUT(store.find("a")->state, RunState::finished, 40000);
    QCOMPARE(questions, 1);
    const auto points = store.points("a", series::kLoss);
    QCOMPARE(points.size(), std::size_t{300});
    for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, static_cast<std::int64_t>(i + 1));
    // The engine is there now: a second run's first point comes soon (under 4 s is the aim; a loaded machine gets
    // more).
    QElapsedTimer clock;
    clock.start();
    launcher.submit({.id = "b",
                     .project = folder.filePath("p.loom"),
                     .snapshot = "{}",
                     .overrides = {"steps=10"},
                     .host = "there"});
    QTRY_VERIFY(store.find("b")->step > 0);
    qInfo("from submit to the first point: %lld ms", clock.elapsed());
    QTRY_COMPARE(store.find("b")->state, RunState::finished);
  }
};

QTEST_GUILESS_MAIN(SshTest)
#include "ssh_test.moc"
