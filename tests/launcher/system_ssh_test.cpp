#include "launcher/ssh/system_ssh.h"

#include <QFile>
#include <QProcess>
#include <QScopeGuard>
#include <QTest>

#include "launcher/remote/host_line.h"
#include "tests/launcher/sshd.h"
#include "tests/patience.h"

using namespace loom;

// The system's own ssh in the place of the library, over real connections on this machine.
class SystemSshTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<Sshd> m_sshd;
  QList<SshQuestion> m_asked;

  SshAsk yes() {
    return [this](const SshQuestion& question) -> std::optional<QString> {
      m_asked << question;
      return question.kind == SshQuestion::Kind::newHostKey ? QStringLiteral("yes") : QStringLiteral("gehe im");
    };
  }
  static SshAsk nobody() {
    return [](const SshQuestion&) { return std::nullopt; };
  }
  SystemSsh::Place place(const QByteArray& more = {}) {
    return {.address = "there", .config = m_sshd->clientConfig(more)};
  }
  static QByteArray output(SystemSsh& ssh, const QByteArray& command, std::optional<int>* code = nullptr) {
    const auto channel = ssh.execute(command);
    QByteArray all;
    for (int i = 0; i < 2000 && !channel->ended(); ++i) {
      all += channel->read();
      QTest::qWait(5);
    }
    if (code) *code = channel->exitCode();
    return all + channel->read();
  }
  std::pair<SshFault, QString> faultOf(const SystemSsh::Place& place, SshAsk ask) {
    try {
      SystemSsh ssh(place, std::move(ask));
      ssh.open();
    } catch (const SshError& error) {
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
    m_sshd = std::make_unique<Sshd>();
  }
  void cleanup() { m_sshd.reset(); }

  void asksOnceAndRunsPrograms() {
    QCOMPARE(faultOf(place(), nobody()).first, SshFault::hostKey);
    SystemSsh ssh(place(), yes());
    ssh.open();
    QCOMPARE(m_asked.size(), 1);
    QCOMPARE(m_asked[0].kind, SshQuestion::Kind::newHostKey);
    QVERIFY2(m_asked[0].fingerprint.startsWith("ED25519 SHA256:"), qPrintable(m_asked[0].fingerprint));
    QVERIFY2(m_asked[0].text.endsWith("is not known yet.") && !m_asked[0].text.contains("SHA256"),
             qPrintable(m_asked[0].text));
    std::optional<int> code;
    QCOMPARE(output(ssh, "printf '%s' 'a b'; exit 7", &code), "a b");
    QCOMPARE(code.value_or(-1), 7);
    QCOMPARE(output(ssh, "head -c 3000000 /dev/zero | tr '\\0' x").size(), 3000000);
    const auto echo = ssh.execute("exec cat");
    QCOMPARE(echo->write("hello", 5), qint64{5});
    QByteArray back;
    QTRY_COMPARE((back += echo->read()), QByteArray("hello"));
    m_sshd->stop();  // the cable: no end of the far program
    QTRY_VERIFY((echo->read(), echo->ended()));
    QVERIFY(!echo->exitCode());
    QCOMPARE(faultOf(place(), yes()).first, SshFault::unreachable);
  }

  void aLockedKeyAsksForItsPassphrase() {
    QCOMPARE(QProcess::execute("ssh-keygen", {"-q", "-p", "-P", "", "-N", "gehe im", "-f", m_sshd->path("id")}), 0);
    SystemSsh ssh(place(), [this](const SshQuestion& question) -> std::optional<QString> {
      m_asked << question;
      return question.kind == SshQuestion::Kind::newHostKey ? "yes" : m_asked.size() == 2 ? "falsch" : "gehe im";
    });
    ssh.open();
    QCOMPARE(m_asked.size(), 3);
    QCOMPARE(m_asked[1].kind, SshQuestion::Kind::passphrase);
    QCOMPARE(m_asked[1].refused, QString());
    QCOMPARE(m_asked[2].refused, QString("That passphrase does not open the key."));
    QCOMPARE(output(ssh, "echo in"), "in\n");
    const auto [fault, sentence] = faultOf(place(), nobody());
    QCOMPARE(fault, SshFault::signIn);
    QVERIFY2(sentence.contains("Permission denied"), qPrintable(sentence));
  }

  // What the library cannot: a command of the configuration as the way there.
  void aProxyCommandIsFollowed() {
    const QByteArray port = QByteArray::number(m_sshd->port());
    SystemSsh ssh(
        place("  ProxyCommand bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "; cat <&3 & cat >&3; kill %%1'\n"),
        yes());
    ssh.open();
    QCOMPARE(output(ssh, "echo through"), "through\n");
  }

  void theKeyOfTheHostIsTaken() {
    QVERIFY(QFile::rename(m_sshd->path("id"), m_sshd->path("own")));  // the configuration names one that is not there
    QCOMPARE(faultOf(place(), yes()).first, SshFault::signIn);
    SystemSsh::Place wanted = place();
    wanted.key = m_sshd->path("own");
    SystemSsh ssh(wanted, yes());
    ssh.open();
    QCOMPARE(output(ssh, "echo in"), "in\n");
  }

  // "~/cluster" is a file of this person's home here, as for the library.
  void theKeyOfTheFormReachesIt() {
    QVERIFY(QFile::rename(m_sshd->path("id"), m_sshd->path("own")));
    const auto home = qScopeGuard([before = qgetenv("HOME")] { qputenv("HOME", before); });
    qputenv("HOME", m_sshd->path(".").toUtf8());
    Host host = hostFromText("there");
    host.systemSsh = true;
    host.key = "~/own";
    HostLine line(hostFromJson(toJson(host)), {.program = FAKE_LOOM, .sshConfig = m_sshd->clientConfig()});
    connect(&line, &HostLine::question, this,
            [&](int id, const SshQuestion&) { line.answer(id, QStringLiteral("yes")); });
    line.connectNow();
    QTRY_COMPARE(line.state(), LineState::online);
    QCOMPARE(line.facts().method, "by the system's ssh");
  }

  void aHostAsksForIt() {
    Host host = hostFromText("there");
    host.systemSsh = true;
    const Host back = hostFromJson(toJson(host));
    QVERIFY(back.systemSsh);
    HostLine line(back, {.program = FAKE_LOOM, .sshConfig = m_sshd->clientConfig()});
    connect(&line, &HostLine::question, this,
            [&](int id, const SshQuestion&) { line.answer(id, QStringLiteral("yes")); });
    line.connectNow();
    QTRY_COMPARE(line.state(), LineState::online);
    QCOMPARE(line.facts().method, "by the system's ssh");
  }
};

QTEST_GUILESS_MAIN(SystemSshTest)
#include "system_ssh_test.moc"
