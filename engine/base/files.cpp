#include "engine/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace loom {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, std::string_view doing)
      : Descriptor(path, flags, doing, path) {}
  // `told`: the file that is spoken of where something is wrong.
  Descriptor(const std::filesystem::path& path, int flags, std::string_view doing, const std::filesystem::path& told)
      : m_path(told) {
    m_number = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (m_number < 0) throwErrno(errno, doing, told);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  int number() const { return m_number; }
  std::size_t size() const {
    struct stat status {};
    if (::fstat(m_number, &status) != 0) throwErrno(errno, "read", m_path);
    if (S_ISDIR(status.st_mode)) throwErrno(EISDIR, "read", m_path);
    return static_cast<std::size_t>(status.st_size);
  }
  void write(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(m_number, from, bytes);
      if (written < 0) {
        if (errno == EINTR) continue;
        throwErrno(errno, "write", m_path);
      }
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }
  void sync() {
    if (::fsync(m_number) != 0) throwErrno(errno, "write", m_path);
  }
  void close() {
    const int number = std::exchange(m_number, -1);
    if (::close(number) != 0) throwErrno(errno, "write", m_path);
  }

 private:
  std::filesystem::path m_path;
  int m_number = -1;
};

}  // namespace

bool isLfsPointer(std::string_view begin) {
  return begin.starts_with("version https://git-lfs.github.com/spec/");
}

void throwErrno(int number, std::string_view doing, const std::filesystem::path& path) {
  const std::string name = path.string();
  if (number == ENOSPC || number == EDQUOT)
    throwError(ErrorCode::diskFull,
               "cannot {} {}: the disk is full or the quota is reached; free some space and try again", doing, name);
  if (number == ENOENT || number == ENOTDIR)
    throwError(ErrorCode::missingFile, "cannot {} {}: there is no such file", doing, name);
  if (number == EACCES || number == EPERM || number == EROFS)
    throwError(ErrorCode::missingFile, "cannot {} {}: no permission ({})", doing, name, std::strerror(number));
  throwError(ErrorCode::inputOutput, "cannot {} {}: {}", doing, name, std::strerror(number));
}

std::string readFile(const std::filesystem::path& path, std::size_t limit) {
  Descriptor file(path, O_RDONLY, "read");
  const std::size_t size = file.size();
  if (size > limit)
    throwError(ErrorCode::badData, "{} has {} bytes, but at most {} are read here", path.string(), size, limit);
  std::string content(size, '\0');
  std::size_t have = 0;
  for (;;) {
    if (have == content.size()) {  // a file that grows, or one without a size such as a pipe
      if (content.size() >= limit) break;
      content.resize(std::min(limit, content.size() + 65536));
    }
    const ssize_t got = ::read(file.number(), content.data() + have, content.size() - have);
    if (got < 0) {
      if (errno == EINTR) continue;
      throwErrno(errno, "read", path);
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
    if (have == size && size > 0) break;
  }
  content.resize(have);
  return content;
}

void writeFileAtomically(const std::filesystem::path& path, const std::function<void(const Append&)>& write) {
  std::filesystem::path temporary = path;
  temporary += ".partial-" + std::to_string(::getpid());
  try {
    std::error_code none;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (!std::filesystem::exists(folder, none))
      throwError(ErrorCode::missingFile, "cannot write {}: there is no folder {}", path.string(), folder.string());
    Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC, "write", path);
    write([&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
    file.sync();
    file.close();
    if (::rename(temporary.c_str(), path.c_str()) != 0) throwErrno(errno, "write", path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  // The rename itself must reach the disk too; a folder that cannot be synced (some network file systems) is no
  // failure.
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); number >= 0) {
    ::fsync(number);
    ::close(number);
  }
}

void writeFileAtomically(const std::filesystem::path& path, std::string_view content) {
  writeFileAtomically(path, [content](const Append& append) { append(content.data(), content.size()); });
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  Descriptor file(path, O_RDONLY, "read");
  m_size = file.size();
  if (m_size == 0) return;
  void* data = ::mmap(nullptr, m_size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) throwErrno(errno, "map", path);
  m_data = static_cast<const std::byte*>(data);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)), m_size(std::exchange(other.m_size, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(m_data, other.m_data);
  std::swap(m_size, other.m_size);
  return *this;
}

MappedFile::~MappedFile() {
  if (m_data) ::munmap(const_cast<std::byte*>(m_data), m_size);
}

}  // namespace loom
