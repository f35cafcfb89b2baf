#include "launcher/remote/mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QFileInfo>
#include <cerrno>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {

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
