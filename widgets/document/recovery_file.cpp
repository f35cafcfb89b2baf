#include "widgets/document/recovery_file.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

const QString kUnnamed = QStringLiteral("unsaved-"), kLeft = QStringLiteral(".left-");

QString recoveryFolder() {
  return QDir(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation))
      .filePath(QStringLiteral("recovery"));
}

// A lock whose owner died counts as free: QLockFile looks whether the process is still there.
std::unique_ptr<QLockFile> lockOf(const QString& file) {
  auto lock = std::make_unique<QLockFile>(file + QStringLiteral(".lock"));
  lock->setStaleLockTime(0);
  return lock;
}

// To where it may be written first, else to the user's own folder: the project's may be read-only or full.
void writeTo(const QString& beside, const QString& fallback, const std::string& text) {
  if (!beside.isEmpty()) {
    try {
      writeFileAtomically(toPath(beside), text);
      return;
    } catch (const Error&) {
    }
  }
  QDir().mkpath(recoveryFolder());
  writeFileAtomically(toPath(fallback), text);
}

// What comes back is as old as it was.
void setTime(const QString& name, const QDateTime& time) {
  QFile file(name);
  if (file.open(QIODevice::ReadWrite)) file.setFileTime(time, QFileDevice::FileModificationTime);
}

}  // namespace

RecoveryFile::RecoveryFile() {
  m_writer.setMaxThreadCount(1);
}
RecoveryFile::~RecoveryFile() {
  finish();
}

void RecoveryFile::finish() {
  m_writer.waitForDone();
}

void RecoveryFile::attach(const QString& path, const QString& name) {
  finish();
  m_lock.reset();
  m_openElsewhere = false;
  m_beside.clear();
  if (path.isEmpty()) {
    static int count = 0;  // several projects without a file in one process
    m_fallback =
        QDir(recoveryFolder())
            .filePath(kUnnamed +
                      QStringLiteral("%1-%2-%3.loom").arg(QCoreApplication::applicationPid()).arg(++count).arg(name));
  } else {
    const QFileInfo info(path);
    const QByteArray hash =
        QCryptographicHash::hash(info.absoluteFilePath().toUtf8(), QCryptographicHash::Sha1).toHex();
    m_beside = info.absoluteDir().filePath(QStringLiteral(".%1.recovery").arg(info.fileName()));
    m_fallback = QDir(recoveryFolder())
                     .filePath(QStringLiteral("%1-%2").arg(QString::fromLatin1(hash.left(16)), info.fileName()));
  }
  QDir().mkpath(recoveryFolder());
  m_lock = lockOf(m_fallback);
  if (m_lock->tryLock(0)) return setAside();
  if (m_lock->error() == QLockFile::LockFailedError) {
    m_openElsewhere = true;
    m_beside.clear();
    m_fallback = QDir(recoveryFolder())
                     .filePath(QStringLiteral("%1%2-0-%3")
                                   .arg(kUnnamed)
                                   .arg(QCoreApplication::applicationPid())
                                   .arg(QFileInfo(path).fileName()));
    m_lock = lockOf(m_fallback);
    m_lock->tryLock(0);
  }
}

void RecoveryFile::setAside() const {
  for (const QString& file : {m_beside, m_fallback}) {
    const QFileInfo info(file);
    if (file.isEmpty() || !info.isFile()) continue;
    const QDateTime time = info.lastModified();
    const QString mark = kLeft + time.toUTC().toString(QStringLiteral("yyyyMMddhhmmsszzz"));
    if (QFile::rename(file, file + mark)) continue;
    // The folder cannot be written any more: a copy stands in the user's own.
    if (QFile::copy(file, m_fallback + mark)) setTime(m_fallback + mark, time);
  }
}

QFileInfoList RecoveryFile::left() const {
  QFileInfoList all;
  for (const QString& file : {m_beside, m_fallback}) {
    if (file.isEmpty() || m_openElsewhere) continue;
    const QFileInfo own(file);
    for (const QFileInfo& info : own.dir().entryInfoList(QDir::Files | QDir::Hidden))
      if (info.fileName().startsWith(own.fileName() + kLeft)) all << info;
  }
  return all;
}

std::optional<Recovered> RecoveryFile::find() const {
  std::optional<Recovered> newest;
  for (const QFileInfo& info : left()) {
    if (newest && newest->time >= info.lastModified()) continue;
    try {
      newest = Recovered{readFile(toPath(info.filePath())), info.lastModified(), info.filePath()};
    } catch (const Error&) {
      continue;  // a recovery file that cannot be read recovers nothing
    }
  }
  return newest;
}

void RecoveryFile::write(std::function<std::string()> text, std::function<void(const QString&)> failed) {
  const int number = ++*m_newest;
  m_writer.start([newest = m_newest, number, beside = m_beside, fallback = m_fallback, text = std::move(text),
                  failed = std::move(failed)] {
    if (*newest != number) return;
    try {
      writeTo(beside, fallback, text());
    } catch (const Error& error) {
      failed(QString::fromUtf8(error.what()));
    }
  });
}

void RecoveryFile::discard() {
  ++*m_newest;
  finish();
  for (const QString& file : {m_beside, m_fallback})
    if (!file.isEmpty()) QFile::remove(file);
}

bool RecoveryFile::stands() const {
  return (!m_beside.isEmpty() && QFileInfo::exists(m_beside)) || QFileInfo::exists(m_fallback);
}

void RecoveryFile::rename(const QString& path, const QString& name) {
  const QFileInfoList before = left();
  attach(path, name);
  for (const QFileInfo& each : before) {
    const QString mark = each.fileName().mid(each.fileName().lastIndexOf(kLeft));
    QFile::rename(each.filePath(),
                  (each.absolutePath() == QFileInfo(m_beside).absolutePath() ? m_beside : m_fallback) + mark);
  }
}

bool RecoveryFile::remove(const Recovered& recovered) {
  return QFile::remove(recovered.file);
}

void RecoveryFile::restore(const Recovered& recovered) {
  try {
    writeFileAtomically(toPath(recovered.file), recovered.text);
    setTime(recovered.file, recovered.time);
  } catch (const Error&) {
    // No room any more: there is nothing to offer.
  }
}

void RecoveryFile::discardSoon() {
  ++*m_newest;
  m_writer.start([files = QStringList{m_beside, m_fallback}] {
    for (const QString& file : files)
      if (!file.isEmpty()) QFile::remove(file);
  });
}

std::vector<Orphan> RecoveryFile::orphans() {
  std::vector<Orphan> found;
  const QDir folder(recoveryFolder());
  for (const QFileInfo& info : folder.entryInfoList({kUnnamed + QStringLiteral("*.loom")}, QDir::Files, QDir::Time)) {
    const auto lock = lockOf(info.filePath());
    if (!lock->tryLock(0)) continue;
    const QString name = info.completeBaseName().section(QLatin1Char('-'), 3);
    found.push_back({info.filePath(), name.isEmpty() ? info.completeBaseName() : name, info.lastModified()});
  }
  return found;
}

std::string RecoveryFile::read(const Orphan& orphan) {
  return readFile(toPath(orphan.file));
}

void RecoveryFile::remove(const Orphan& orphan) {
  QFile::remove(orphan.file);
}

void RecoveryFile::restore(const Orphan& orphan, const std::string& text) {
  try {
    writeFileAtomically(toPath(orphan.file), text);
    setTime(orphan.file, orphan.time);
  } catch (const Error&) {
    // No room any more: there is nothing to offer.
  }
}

}  // namespace loom
