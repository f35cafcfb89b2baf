// A machine that trains stays awake, and sleeps again afterwards: against a bus of the test's own with a stand-in for
// logind.
#include "app/keep_awake.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <QDBusConnection>
#include <QDBusUnixFileDescriptor>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include "launcher/launcher.h"
#include "launcher/store/run_store.h"
#include "tests/patience.h"

// Hands out one end of a pipe, as logind does: whoever holds it open inhibits.
class Logind : public QObject {
  Q_OBJECT
  Q_CLASSINFO("D-Bus Interface", "org.freedesktop.login1.Manager")

 public:
  QStringList what, mode;
  int watched = -1;
  bool held() const {
    pollfd end{watched, POLLIN, 0};
    return watched >= 0 && (::poll(&end, 1, 0) == 0 || !(end.revents & POLLHUP));
  }

 public Q_SLOTS:
  QDBusUnixFileDescriptor Inhibit(const QString& kinds, const QString&, const QString&, const QString& how) {
    what << kinds;
    mode << how;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    watched = ends[0];
    QDBusUnixFileDescriptor given(ends[1]);  // a copy
    ::close(ends[1]);
    return given;
  }
};

namespace loom {

class KeepAwakeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whileARunGoesHere() {
    const QString program = QStandardPaths::findExecutable("dbus-daemon");
    if (program.isEmpty()) QSKIP("there is no dbus-daemon here (installer/setup.sh names its package)");
    QProcess daemon;
    daemon.start(program, {"--session", "--nofork", "--nopidfile", "--print-address"});
    QVERIFY(daemon.waitForStarted());
    while (!daemon.canReadLine()) QVERIFY(daemon.waitForReadyRead(20000));
    const QString address = QString::fromUtf8(daemon.readLine()).trimmed();
    Logind logind;
    QDBusConnection there = QDBusConnection::connectToBus(address, "logind"),
                    here = QDBusConnection::connectToBus(address, "gradloom");
    QVERIFY(there.isConnected() && here.isConnected());
    QVERIFY(there.registerObject("/org/freedesktop/login1", &logind, QDBusConnection::ExportAllSlots));
    QVERIFY(there.registerService("org.freedesktop.login1"));

    const QTemporaryDir folder;
    RunStore store(folder.filePath("store"));
    Launcher launcher(store, {.program = FAKE_LOOM});
    const KeepAwake awake(launcher, here);
    QVERIFY(!awake.holds());
    const auto job = [&](const QString& id, const QStringList& overrides) {
      return Job{.id = id,
                 .name = id,
                 .project = folder.filePath("p.loom"),
                 .snapshot = "{}",
                 .dataFolder = folder.path(),
                 .overrides = overrides};
    };
    launcher.submit(job("a", {"steps=4000", "ms=5"}));
    launcher.submit(job("b", {"steps=4000", "ms=5"}));
    QTRY_VERIFY(awake.holds());
    QVERIFY(logind.held());
    QCOMPARE(logind.what, QStringList{"sleep:idle"});
    QCOMPARE(logind.mode, QStringList{"block"});
    QTRY_COMPARE(store.find("a")->state, RunState::running);
    launcher.kill("a");
    QTRY_COMPARE(store.find("b")->state, RunState::running);  // from one run to the next it is held on
    QVERIFY(awake.holds());
    launcher.kill("b");
    QTRY_COMPARE(launcher.running(), 0);
    QVERIFY(!awake.holds());
    QTRY_VERIFY(!logind.held());
    QVERIFY(logind.what.size() <= 2);  // asked once, or anew where the first run was gone before the second began
    QDBusConnection::disconnectFromBus("logind");
    QDBusConnection::disconnectFromBus("gradloom");
    daemon.kill();
    daemon.waitForFinished();
  }

  void withoutABusNothingHappens() {
    const QTemporaryDir folder;
    RunStore store(folder.filePath("store"));
    Launcher launcher(store, {.program = FAKE_LOOM});
    const KeepAwake awake(launcher, QDBusConnection("no such bus"));
    launcher.submit({.id = "a",
                     .name = "a",
                     .project = folder.filePath("p.loom"),
                     .snapshot = "{}",
                     .dataFolder = folder.path(),
                     .overrides = {"steps=20"}});
    QTRY_COMPARE(store.find("a")->state, RunState::finished);
    QVERIFY(!awake.holds());
  }
};

}  // namespace loom

QTEST_MAIN(loom::KeepAwakeTest)
#include "keep_awake_test.moc"
