#include "engine/agent/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/file_lock.h"

namespace loom {
namespace {

constexpr double kMebibyte = 1048576.0;

void requireRoom(const std::filesystem::path& folder, std::int64_t needed) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return;
  const double room = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (room >= static_cast<double>(needed)) return;
  const auto size = [](double bytes) {
    return bytes < kMebibyte ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} MiB", bytes / kMebibyte);
  };
  throwError(ErrorCode::diskFull,
             "{} has room for {}, but {} are to come; free some space there or name another folder for this host",
             folder.string(), size(room), size(static_cast<double>(needed)));
}

}  // namespace

DataStore::~DataStore() {
  for (auto& [name, part] : m_parts) ::close(part.file);
}

Json DataStore::answer(const std::string& sha256, std::int64_t have, bool done) const {
  return {{"have", have}, {"done", done}, {"path", whole(sha256).string()}};
}

void DataStore::close(const std::string& sha256) {
  const auto found = m_parts.find(sha256);
  if (found == m_parts.end()) return;
  ::close(found->second.file);
  m_parts.erase(found);
}

Json DataStore::put(const std::string& sha256, std::int64_t size) {
  if (!isSha256(sha256) || size < 0)
    throwError(ErrorCode::badArgument, "'{}' is no hash, or {} no size of a file", sha256, size);
  close(sha256);
  std::error_code fault;
  const auto there = std::filesystem::file_size(whole(sha256), fault);
  if (!fault && static_cast<std::int64_t>(there) == size) return answer(sha256, size, true);
  std::filesystem::create_directories(m_folder, fault);
  if (fault) throwErrno(fault.value(), "make the data folder", m_folder);
  Part part{.size = size};
  part.file = ::open(this->part(sha256).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (part.file < 0) throwErrno(errno, "write", this->part(sha256));
  Part& mine = m_parts[sha256] = std::move(part);
  if (takeLock(mine.file, LockKind::exclusive) == LockOutcome::elsewhere) {
    close(sha256);
    throwError(ErrorCode::communication, "{} is being sent by another launcher at this moment",
               this->part(sha256).string());
  }
  struct stat status {};
  if (::fstat(mine.file, &status) != 0 || status.st_size > size) {
    if (::ftruncate(mine.file, 0) != 0) throwErrno(errno, "write", this->part(sha256));
    status.st_size = 0;
  }
  // What lies there is read again: a part that was damaged would otherwise be found out only at the very end, time
  // after time.
  std::string buffer(1 << 20, '\0');
  auto told = std::chrono::steady_clock::now();
  while (mine.have < status.st_size) {
    const ssize_t got = ::pread(mine.file, buffer.data(), buffer.size(), mine.have);
    if (got <= 0) throwErrno(got < 0 ? errno : EIO, "read", this->part(sha256));
    mine.hash.add(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    mine.have += got;
    if (std::chrono::steady_clock::now() - told > std::chrono::seconds(1)) {
      m_tell({{"busy", true}}, {});
      told = std::chrono::steady_clock::now();
    }
  }
  requireRoom(m_folder, size - mine.have);
  return mine.have == size ? finish(sha256) : answer(sha256, mine.have, false);
}

Json DataStore::chunk(const std::string& sha256, std::int64_t offset, std::string_view bytes) {
  const auto found = m_parts.find(sha256);
  if (found == m_parts.end()) throwError(ErrorCode::badArgument, "{} was not announced", sha256.substr(0, 64));
  Part& part = found->second;
  if (offset != part.have || part.have + static_cast<std::int64_t>(bytes.size()) > part.size)
    throwError(ErrorCode::badArgument, "{} bytes come for place {}, but {} of {} are here", bytes.size(), offset,
               part.have, part.size);
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t put = ::pwrite(part.file, rest.data(), rest.size(), part.have);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throwErrno(errno, "write", this->part(sha256));
    part.hash.add(rest.substr(0, static_cast<std::size_t>(put)));
    part.have += put;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return part.have == part.size ? finish(sha256) : answer(sha256, part.have, false);
}

Json DataStore::finish(const std::string& sha256) {
  Part& part = m_parts.at(sha256);
  const std::string found = part.hash.finish();
  const bool synced = ::fsync(part.file) == 0;
  const int number = errno;
  const std::int64_t size = part.size;
  close(sha256);
  if (!synced) throwErrno(number, "write", this->part(sha256));
  if (found != sha256) {
    std::error_code none;
    std::filesystem::remove(this->part(sha256), none);
    throwError(
        ErrorCode::badData,
        "the {} bytes that arrived have the hash {}, but {} was announced; they were thrown away, send them again",
        size, found.substr(0, 16), sha256.substr(0, 16));
  }
  std::error_code fault;
  std::filesystem::rename(this->part(sha256), whole(sha256), fault);
  if (fault) throwErrno(fault.value(), "rename", this->part(sha256));
  return answer(sha256, size, true);
}

}  // namespace loom
