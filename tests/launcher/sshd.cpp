#include "tests/launcher/sshd.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>
#include <csignal>

namespace loom {
namespace {

constexpr const char* kProgram = "/usr/sbin/sshd";

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write %s", qPrintable(path));
  file.write(text);
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
}

void makeKey(const QString& path) {
  QFile::remove(path);
  if (QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", path}) != 0) qFatal("ssh-keygen");
}

quint16 freePort() {
  QTcpServer server;
  server.listen(QHostAddress::LocalHost);
  return server.serverPort();
}

}  // namespace

QString Sshd::why() {
  if (!QFile::exists(kProgram)) return QStringLiteral("there is no %1 (package openssh-server)").arg(kProgram);
  if (::geteuid() == 0) QDir().mkpath("/run/sshd");
  return {};
}

Sshd::Sshd(const QByteArray& options) : m_options(options), m_port(freePort()) {
  makeHostKey();
  makeKey(path("id"));
  QFile::copy(path("id.pub"), path("authorized"));
  start();
}

Sshd::~Sshd() {
  stop();
}

void Sshd::makeHostKey() {
  makeKey(path("host"));
}

bool Sshd::start() {
  write(path("sshd_config"), "Port " + QByteArray::number(m_port) + "\nListenAddress 127.0.0.1\nHostKey " +
                                 path("host").toUtf8() + "\nPidFile " + path("pid").toUtf8() + "\nAuthorizedKeysFile " +
                                 path("authorized").toUtf8() +
                                 "\nStrictModes no\nPermitRootLogin yes\nUsePAM no\nPasswordAuthentication "
                                 "no\nKbdInteractiveAuthentication no\nAllowTcpForwarding yes\n" +
                                 m_options + "\n");
  m_process.setProcessChannelMode(QProcess::MergedChannels);
  m_process.setStandardOutputFile(path("sshd.log"));
  // A test that falls over leaves nothing behind.
  m_process.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });
  m_process.start(kProgram, {"-D", "-e", "-f", path("sshd_config")});
  for (int tries = 0; tries < 200; ++tries) {
    QTcpSocket probe;
    probe.connectToHost("127.0.0.1", m_port);
    if (probe.waitForConnected(100)) return true;
    QTest::qWait(20);
  }
  return false;
}

// Ends what a process has started, and what that has started.
static void endChildren(qint64 process) {
  QFile list(QStringLiteral("/proc/%1/task/%1/children").arg(process));
  if (!list.open(QIODevice::ReadOnly)) return;
  for (const QByteArray& each : list.readAll().split(' '))
    if (const int child = each.trimmed().toInt(); child > 0) {
      endChildren(child);
      ::kill(child, SIGKILL);
    }
}

void Sshd::stop() {
  if (m_process.state() == QProcess::NotRunning) return;
  // Its connections are children that live on when the listener ends; since OpenSSH 9.8 they have children of their
  // own.
  endChildren(m_process.processId());
  m_process.kill();
  m_process.waitForFinished();
}

QString Sshd::clientConfig(const QByteArray& more) const {
  const QString file = path("config");
  write(file, "Host there\n  HostName 127.0.0.1\n  Port " + QByteArray::number(m_port) + "\n  IdentityFile " +
                  path("id").toUtf8() + "\n  IdentitiesOnly yes\n  IdentityAgent none\n" + more +
                  "\nHost *\n  UserKnownHostsFile " + path("known_hosts").toUtf8() + "\n");
  return file;
}

}  // namespace loom
