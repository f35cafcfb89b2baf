#include "launcher/remote/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <cerrno>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

constexpr qint64 kFirstMark = 16 << 10;  // from the end to the second mark

}  // namespace

qint64 Mirror::eventBytes() const {
  return QFileInfo(m_folder + "/events.jsonl").size();
}
qint64 Mirror::logBytes() const {
  return QFileInfo(m_folder + "/log.txt").size();
}
void Mirror::putEvents(qint64 offset, const QByteArray& bytes) const {
  put("/events.jsonl", offset, bytes);
}
void Mirror::putLog(qint64 offset, const QByteArray& bytes) const {
  put("/log.txt", offset, bytes);
}

std::vector<std::pair<qint64, std::string>> Mirror::eventMarks() const {
  std::vector<std::pair<qint64, std::string>> marks;
  const std::string path = (m_folder + "/events.jsonl").toStdString();
  QFile file(QString::fromStdString(path));
  if (!file.open(QIODevice::ReadOnly)) return marks;
  for (qint64 end = file.size(), back = kFirstMark; end > 0; back *= 2) {
    marks.emplace_back(end, logMark(path, end));
    file.seek(std::max<qint64>(0, end - back));
    file.readLine();  // to a beginning of a line
    end = file.pos() < end && end > back ? file.pos() : 0;
  }
  std::reverse(marks.begin(), marks.end());
  return marks;
}

void Mirror::cutEvents(qint64 offset) const {
  QFile file(m_folder + "/events.jsonl"), aside(m_folder + "/events.cut.jsonl");
  if (offset < 0 || offset > file.size())
    throwError(ErrorCode::badData, "{} has {} bytes, but the host says that it is the same up to {}",
               file.fileName().toStdString(), file.size(), offset);
  if (!file.open(QIODevice::ReadWrite) || !aside.open(QIODevice::WriteOnly | QIODevice::Append) || !file.seek(offset))
    throwError(ErrorCode::inputOutput, "{} cannot be cut: {}", file.fileName().toStdString(),
               file.errorString().toStdString());
  while (!file.atEnd())
    if (aside.write(file.read(1 << 20)) < 0) throwErrno(ENOSPC, "write", aside.fileName().toStdString());
  if (!aside.flush() || !file.resize(offset)) throwErrno(ENOSPC, "write", aside.fileName().toStdString());
}

void Mirror::putRunFile(const QByteArray& text) const {
  writeFileAtomically((m_folder + "/run.json").toStdString(),
                      std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
}

void Mirror::put(const char* name, qint64 offset, const QByteArray& bytes) const {
  const QByteArray path = QFile::encodeName(m_folder + name);
  const int file = ::open(path.constData(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throwErrno(errno, "write", path.toStdString());
  struct stat status {};
  int number = ::fstat(file, &status) == 0 ? 0 : errno;
  if (number == 0 && (offset < 0 || offset > status.st_size)) {
    ::close(file);
    throwError(ErrorCode::badData, "{} has {} bytes, but the host sends what begins at {}", path.toStdString(),
               status.st_size, offset);
  }
  // What stands here already came by another line.
  for (qint64 done = status.st_size - offset; done < bytes.size() && number == 0;) {
    const ssize_t put =
        ::pwrite(file, bytes.constData() + done, static_cast<std::size_t>(bytes.size() - done), offset + done);
    if (put >= 0)
      done += put;
    else if (errno != EINTR)
      number = errno;
  }
  ::close(file);
  if (number != 0) throwErrno(number, "write", path.toStdString());
}

}  // namespace loom
