#include "launcher/remote/engine_installer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QSysInfo>

#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/run/file_lock.h"

namespace loom {
namespace {

constexpr int kScript = 2048;
constexpr const char* kBundle = "gradloom-engine.tar.gz";
// No login shell finds anything to interpret in this but two quoted words: sh, csh and fish read it alike. The script
// comes as input; dd takes it byte by byte, so that what follows is left for the script's own commands.
constexpr const char* kCommand = "exec /bin/sh -c 'eval \"$(dd bs=1 count=2048 2>/dev/null)\"'";
constexpr const char* kMarker = "GRADLOOM-SHELL-1 ";
constexpr int kSilenceMs = 60000;
constexpr int kTurnMs = 200;
constexpr qsizetype kMostSaid = 1 << 18;

// What both scripts begin with. The values are plain characters, checked below. `$id.$us.part` belongs to this machine
// alone, so that two launchers do not write into one file.
QByteArray prologue(const QString& base, const EngineBundle& bundle) {
  if (!isPlainPath(base.toStdString()))
    throwError(ErrorCode::badArgument, "the folder '{}' on the host may hold only letters, digits and ._-/~+@%=,",
               base.toStdString());
  const QByteArray us = QCryptographicHash::hash(QSysInfo::machineUniqueId() + QSysInfo::machineHostName().toUtf8(),
                                                 QCryptographicHash::Sha1)
                            .toHex()
                            .left(8);
  return "exec 2>&1; say() { echo \"" + QByteArray(kMarker) + "$*\"; }; cd; base=" + base.toUtf8() +
         "; id=" + bundle.id().toUtf8() + "; sum=" + bundle.sha256.toUtf8() + "; part=$id." + us +
         ".part; size=" + QByteArray::number(bundle.size) +
         "; umask 077; mkdir -p \"$base/engine\" && cd \"$base/engine\" || { say failed the folder $base/engine cannot "
         "be "
         "made; exit 1; }; own() { set -- $(ls -ldn \"$1\"); [ \"$3\" = \"$(id -u)\" ]; }; for f in . $id; do "
         "[ ! -e $f ] || own $f || { say failed $base/engine belongs to another person: name another folder for this "
         "host; exit 1; }; done; ";
}

QByteArray padded(QByteArray script) {
  script += "\n";
  if (script.size() > kScript)
    throwError(ErrorCode::internal, "the installing script has {} bytes, {} are the most", script.size(), kScript);
  return script.leftJustified(kScript, ' ');
}

// One program of this machine at a time brings an engine to a place: they share what a try that broke off left there.
// The others wait, and find it complete. Goes with whoever holds it.
class Turn {
 public:
  Turn(const QString& fingerprint, const QString& base, const EngineBundle& bundle, const InstallProgress& progress) {
    const QByteArray place = (fingerprint + ' ' + base + ' ' + bundle.id()).toUtf8();
    m_path = QFile::encodeName(QDir::tempPath()) + "/gradloom-install-" + QByteArray::number(::geteuid()) + '-' +
             QCryptographicHash::hash(place, QCryptographicHash::Sha1).toHex().left(16);
    for (;;) {
      m_file = ::open(m_path.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (m_file < 0) return;  // then at worst each sends it
      switch (takeLock(m_file, LockKind::exclusive)) {
        case LockOutcome::taken:
          if (isThere()) return;  // not the file that whoever had it before took away
          break;
        case LockOutcome::elsewhere:
          if (!progress(0, bundle.size)) throw SshError(SshFault::unreachable, "it was called off");
          ::poll(nullptr, 0, kTurnMs);
          break;
        default:
          return;
      }
      ::close(m_file);
    }
  }
  ~Turn() {
    if (m_file < 0) return;
    ::unlink(m_path.constData());
    ::close(m_file);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool isThere() const {
    struct stat mine {
    }, there{};
    return ::fstat(m_file, &mine) == 0 && ::stat(m_path.constData(), &there) == 0 && mine.st_ino == there.st_ino;
  }
  QByteArray m_path;
  int m_file = -1;
};

// Sends, listens for the marked line, answers what stands behind the marker.
class Shell {
 public:
  explicit Shell(HostTransport& transport) : m_channel(transport.execute(kCommand)) { m_quiet.start(); }

  void send(const QByteArray& bytes) {
    for (qint64 sent = 0; sent < bytes.size();) {
      const qint64 put = m_channel->write(bytes.constData() + sent, bytes.size() - sent);
      sent += put;
      if (put > 0)
        m_quiet.restart();
      else
        pause(20);
      listen();
      if (m_channel->ended() || !m_answer.isEmpty()) return;  // it has given up: its words tell why
    }
  }
  void closeInput() { m_channel->closeInput(); }

  QString answer() {
    while (m_answer.isEmpty() && !m_channel->ended()) {
      pause(200);
      listen();
    }
    if (m_answer.isEmpty())
      throw SshError(SshFault::refused, fmt::format("the host's shell did not do as it should: {}",
                                                    shownText(m_said.right(300).toStdString(), 300, ShownLines::one)));
    return m_answer;
  }
  bool hasAnswer() const { return !m_answer.isEmpty(); }

 private:
  void pause(int milliseconds) {
    if (m_quiet.elapsed() > kSilenceMs)
      throw SshError(SshFault::unreachable, fmt::format("the host has not answered for {} s", kSilenceMs / 1000));
    pollfd file{m_channel->descriptor(), POLLIN, 0};
    ::poll(&file, 1, milliseconds);
  }
  void listen() {
    const QByteArray bytes = m_channel->read();
    if (bytes.isEmpty()) return;
    m_quiet.restart();
    m_said += bytes;
    const auto marker = m_said.indexOf(kMarker);
    const auto end = marker < 0 ? -1 : m_said.indexOf('\n', marker);
    if (end >= 0 && m_answer.isEmpty()) {
      const auto begin = marker + static_cast<qsizetype>(qstrlen(kMarker));
      m_answer = QString::fromStdString(
          shownText(m_said.mid(begin, end - begin).trimmed().toStdString(), kMostSaid, ShownLines::one));
    }
    if (m_said.size() > kMostSaid) m_said = m_said.right(1 << 16);
  }
  std::unique_ptr<ByteChannel> m_channel;
  QElapsedTimer m_quiet;
  QByteArray m_said;
  QString m_answer;
};

}  // namespace

QString findBundle(const QString& program) {
  if (const QString named = qEnvironmentVariable("GRADLOOM_BUNDLE"); !named.isEmpty()) return named;
  const QString beside = QFileInfo(program).absolutePath();
  for (const QString& folder : {beside, beside + "/../share/gradloom"})
    if (QFileInfo::exists(folder + '/' + kBundle)) return QFileInfo(folder + '/' + kBundle).canonicalFilePath();
  return {};
}

EngineBundle readBundle(const QString& path) {
  QFile file(path);
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file))
    throwError(ErrorCode::missingFile, "the engine's bundle {} cannot be read: {}", path.toStdString(),
               file.errorString().toStdString());
  QString machine = QSysInfo::buildCpuArchitecture();
  if (machine == "arm64") machine = QStringLiteral("aarch64");
  return {path, QString::fromLatin1(hash.result().toHex()), file.size(), machine};
}

QByteArray agentCommand(const QString& base, const EngineBundle& bundle) {
  return "exec /bin/sh -c 'p=" + base.toUtf8() + "/engine/" + bundle.id().toUtf8() +
         "/bin/loom; [ -e \"$p\" ] || exit 127; [ -O \"$p\" ] || { echo \"$p belongs to another person\" >&2; exit "
         "126; }; [ -x \"$p\" ] || { echo \"$p may not be run: its file system is mounted noexec. Name another folder "
         "for this host\" >&2; exit 126; }; "
         "exec \"$p\" agent'";
}

namespace {

// Answers what is wrong where what lay there and what came do not make one whole: bytes of a line that broke may arrive
// when it is mended, among those of another.
QString bringEngine(HostTransport& transport, const QString& base, const EngineBundle& bundle,
                    const InstallProgress& progress) {
  qint64 have = 0;
  {
    Shell shell(transport);
    shell.send(
        padded(prologue(base, bundle) + "m=$(uname -m); [ $m = " + bundle.machine.toUtf8() +
               " ] || { say failed this host is a $m "
               "machine, but the engine that this Gradloom brings runs on " +
               bundle.machine.toUtf8() +
               " only: choose a host of that kind; exit 1; }; "
               "find . -maxdepth 1 -name '*.part*' -mtime +7 -exec rm -rf {} + 2>/dev/null; "
               "if [ -e $id/.complete ]; then (cd $id && [ $(find . ! -type d ! -name .complete | wc -l) -eq $(wc "
               "-l < .complete) ] && sha256sum -c .complete >/dev/null 2>&1) && { say complete; exit; }; rm -f "
               "$id/.complete; fi; [ -e $part ] || : > $part || { say failed "
               "$base/engine may not be written; exit 1; }; "
               "have=$(wc -c < $part); [ $have -gt $size ] && { : > $part; have=0; }; say have $have"));
    const QString answer = shell.answer();
    if (answer == "complete") return {};
    if (!answer.startsWith("have "))
      throw SshError(SshFault::refused, fmt::format("the engine cannot be installed: {}", answer.toStdString()));
    have = answer.mid(5).trimmed().toLongLong();
  }
  QFile file(bundle.file);
  if (!file.open(QIODevice::ReadOnly) || !file.seek(have))
    throwError(ErrorCode::missingFile, "the engine's bundle {} cannot be read", bundle.file.toStdString());
  Shell shell(transport);
  shell.send(padded(
      prologue(base, bundle) +
      "cat >> $part || { say failed $base/engine is full or may not be written; exit 1; }; have=$(wc -c < $part); "
      "[ $have -eq $size ] || { say partly $have; exit 1; }; "
      "got=$(sha256sum < $part) || { say failed there is no sha256sum to verify it with; exit 1; }; case $got in "
      "$sum*) ;; "
      "*) rm -f $part; say failed it arrived damaged and was thrown away; exit 1;; esac; "
      "rm -rf $part.*; mkdir $part.new && tar -xzf $part -C $part.new && (cd $part.new && find . ! -type d -exec "
      "sha256sum {} + > ../$part.sums && mv ../$part.sums .complete) || { rm -rf $part.*; say failed it cannot be "
      "unpacked: $base/engine is full or there is no tar; exit 1; }; "
      "[ -e $id ] && [ ! -e $id/.complete ] && mv $id $part.old; [ -e $id ] || mv $part.new $id; rm "
      "-rf $part $part.*; say installed"));
  while (have < bundle.size && !shell.hasAnswer()) {
    const QByteArray piece = file.read(1 << 18);
    if (piece.isEmpty())
      throwError(ErrorCode::inputOutput, "the engine's bundle {} became shorter while it was sent",
                 bundle.file.toStdString());
    shell.send(piece);
    have += piece.size();
    if (!progress(have, bundle.size)) throw SshError(SshFault::unreachable, "it was called off");
  }
  shell.closeInput();
  const QString answer = shell.answer();
  if (answer.startsWith("partly") || answer.contains("damaged")) return answer;
  if (answer != "installed")
    throw SshError(SshFault::refused, fmt::format("the engine was not installed: {}", answer.toStdString()));
  return {};
}

}  // namespace

void installEngine(HostTransport& transport, const QString& base, const EngineBundle& bundle,
                   const InstallProgress& progress) {
  const Turn turn(transport.fingerprint(), base, bundle, progress);
  if (bringEngine(transport, base, bundle, progress).isEmpty()) return;
  if (const QString fault = bringEngine(transport, base, bundle, progress); !fault.isEmpty())
    throw SshError(SshFault::refused, fmt::format("the engine was not installed: {}", fault.toStdString()));
}

QString askShell(HostTransport& transport, const QByteArray& script) {
  Shell shell(transport);
  shell.send(padded("say() { echo \"" + QByteArray(kMarker) + "$*\"; }; " + script));
  return shell.answer();
}

}  // namespace loom
