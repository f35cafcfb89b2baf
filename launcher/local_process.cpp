#include "launcher/local_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/foreign.h"
#include "engine/run/process.h"

extern char** environ;

namespace loom {
namespace {

// The shell ignores what ends its child, so that it lives to write down how. Its own words ("Killed") belong in no log.
constexpr const char* kAround =
    "trap : INT TERM HUP; folder=$1; shift; \"$@\" & child=$!; exec 2>/dev/null; "
    "while :; do wait $child; code=$?; kill -0 $child 2>/dev/null || break; done; "
    "echo $code > \"$folder/exit.part\" && mv \"$folder/exit.part\" \"$folder/exit\" || rm -f \"$folder/exit.part\"; "
    "exit $code";

std::optional<ProcessEnd> readExitFile(const QString& folder) {
  QFile file(folder + "/exit");
  if (!file.open(QIODevice::ReadOnly)) return {};
  bool ok = false;
  const int code = file.readAll().trimmed().toInt(&ok);
  if (!ok) return {};
  return code > 128 && code < 128 + 65 ? ProcessEnd{0, code - 128} : ProcessEnd{code, 0};
}

}  // namespace

ProcessIdentity startDetached(const QString& folder, const QString& program, const QStringList& arguments) {
  QFile::remove(folder + "/exit");
  const QByteArray log = QFile::encodeName(folder + "/log.txt");
  std::vector<QByteArray> words{"sh", "-c", kAround, "loom", QFile::encodeName(folder), QFile::encodeName(program)};
  for (const QString& each : arguments) words.push_back(QFile::encodeName(each));
  std::vector<char*> pointers;
  for (QByteArray& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.constData(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigset_t set;
  sigfillset(&set);
  posix_spawnattr_setsigdefault(&attributes, &set);
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  pid_t process = 0;
  const int fault = posix_spawn(&process, "/bin/sh", &files, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (fault != 0) throwErrno(fault, "start a process that writes", log.toStdString());

  const ProcessName name = nameOf(process);
  return {name.id, name.start, QString::fromStdString(name.boot)};
}

bool isAlive(const ProcessIdentity& process) {
  const ProcessName name{process.id, process.start, process.bootId.toStdString(), {}};
  return isAlive(name) || (name.id > 0 && name.boot == bootId() && groupLives(name.id, name.start));
}

bool sendSignal(const ProcessIdentity& process, int signal) {
  return isAlive(process) && ::kill(-static_cast<pid_t>(process.id), signal) == 0;
}

std::optional<ProcessEnd> processEnd(const ProcessIdentity& process, const QString& folder) {
  int status = 0;
  pid_t reaped = 0;
  if (process.id > 0) {
    do reaped = ::waitpid(static_cast<pid_t>(process.id), &status, WNOHANG);
    while (reaped < 0 && errno == EINTR);
  }
  if (reaped == 0 && process.id > 0) return {};
  if (isAlive(process)) return {};  // not our child: started before the IDE was; or the shell was ended alone
  if (const auto noted = readExitFile(folder)) return noted;
  if (reaped > 0 && WIFSIGNALED(status)) return ProcessEnd{0, WTERMSIG(status)};
  if (reaped > 0) return ProcessEnd{WEXITSTATUS(status), 0};
  return ProcessEnd{-1, 0};  // gone, and nobody noted how: the whole group was killed, or the machine went down
}

QString describe(const ProcessEnd& end) {
  if (end.signal)
    return QStringLiteral("was ended by signal %1 (%2)")
        .arg(end.signal)
        .arg(QString::fromLocal8Bit(strsignal(end.signal)).toLower());
  if (end.code < 0) return QStringLiteral("is gone without a last word: it was killed, or the machine went down");
  return QStringLiteral("ended with exit code %1").arg(end.code);
}

QString lastLineOf(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  constexpr qint64 kEnd = 8192;
  constexpr std::size_t kLongest = 400;
  if (file.size() > kEnd) file.seek(file.size() - kEnd);
  QList<QByteArray> lines = file.readAll().replace('\r', '\n').split('\n');
  while (!lines.isEmpty() && lines.back().trimmed().isEmpty()) lines.removeLast();
  return lines.isEmpty() ? QString()
                         : QString::fromStdString(shownText(lines.back().trimmed().toStdString(), kLongest));
}

QString findLoom() {
  const QString named = qEnvironmentVariable("GRADLOOM_PROGRAM");
  if (!named.isEmpty()) return QFileInfo(named).isExecutable() ? named : QString();
  const QString here = QCoreApplication::applicationDirPath();
  for (const QString& place : {here + "/loom", here + "/../bin/loom"})
    if (QFileInfo(place).isExecutable()) return QFileInfo(place).canonicalFilePath();
  return QStandardPaths::findExecutable("loom");
}

}  // namespace loom
