#include "launcher/store/run_marks.h"

#include <fcntl.h>
#include <unistd.h>

#include <QFile>

#include "engine/base/json.h"
#include "launcher/store/disk_work.h"

namespace loom {
namespace {

QString wordOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

}  // namespace

bool appendLines(const QString& file, const QByteArray& lines) {
  const int number = ::open(QFile::encodeName(file).constData(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (number < 0) return false;
  char last = '\n';
  const off_t size = ::lseek(number, 0, SEEK_END);
  if (size > 0 && ::pread(number, &last, 1, size - 1) != 1) last = '\n';
  const QByteArray whole = (last == '\n' ? QByteArray() : QByteArray("\n")) + lines;
  const bool written = ::write(number, whole.constData(), static_cast<std::size_t>(whole.size())) == whole.size();
  ::close(number);
  syncSoon(file);
  return written;
}

RunMarks::RunMarks(QString file) : m_file(std::move(file)) {
  QFile read(m_file);
  if (!read.open(QIODevice::ReadOnly)) return;
  while (!read.atEnd()) {
    const QByteArray line = read.readLine();
    const Json mark = Json::parse(line.begin(), line.end(), nullptr, false);
    if (!mark.is_object()) continue;
    RunMark& into = m_marks[wordOf(mark, "folder")];
    into = {.project = wordOf(mark, "project"), .name = wordOf(mark, "name"), .note = wordOf(mark, "note")};
    if (mark.contains("host")) into.host = wordOf(mark, "host");
    if (const auto tags = mark.find("tags"); tags != mark.end() && tags->is_array())
      for (const Json& each : *tags)
        if (each.is_string()) into.tags << QString::fromStdString(each.get<std::string>());
    if (const auto colour = mark.find("colour"); colour != mark.end() && colour->is_number_integer())
      into.colour = colour->get<int>();
    if (const auto archived = mark.find("archived"); archived != mark.end() && archived->is_boolean())
      into.archived = archived->get<bool>();
  }
}

const RunMark* RunMarks::find(const QString& folder) const {
  const auto found = m_marks.find(folder);
  return found == m_marks.end() ? nullptr : &*found;
}

bool RunMarks::note(const QString& folder, const RunMark& mark) {
  const RunMark* const known = find(folder);
  if (known && *known == mark) return false;
  Json line = {{"folder", folder.toStdString()},  {"project", mark.project.toStdString()},
               {"name", mark.name.toStdString()}, {"note", mark.note.toStdString()},
               {"tags", Json::array()},           {"colour", mark.colour}};
  for (const QString& each : mark.tags) line["tags"].push_back(each.toStdString());
  if (mark.archived) line["archived"] = true;
  if (mark.host) line["host"] = mark.host->toStdString();
  m_unsaved += QByteArray::fromStdString(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + '\n';
  m_marks.insert(folder, mark);
  return true;
}

void RunMarks::save() {
  if (!m_unsaved.isEmpty() && appendLines(m_file, m_unsaved)) m_unsaved.clear();
}

}  // namespace loom
