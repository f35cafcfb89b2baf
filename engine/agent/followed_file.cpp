#include "engine/agent/followed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/run/run_folder.h"

namespace loom {
namespace {
constexpr std::chrono::seconds kOpenAgain{1};
}

FollowedFile::FollowedFile(FollowedFile&& other) noexcept {
  *this = std::move(other);
}

FollowedFile& FollowedFile::operator=(FollowedFile&& other) noexcept {
  std::swap(m_path, other.m_path);
  std::swap(m_file, other.m_file);
  m_size = other.m_size;
  m_openAgain = other.m_openAgain;
  return *this;
}

void FollowedFile::close() {
  if (m_file >= 0) ::close(m_file);
  m_file = -1;
}

void FollowedFile::reopen() {
  close();
  m_file = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC);
  m_openAgain = Clock::now() + kOpenAgain;
}

std::string FollowedFile::read(std::int64_t offset, std::size_t most) {
  struct stat status {};
  const std::int64_t before = m_size;
  const auto look = [&] { m_size = m_file >= 0 && ::fstat(m_file, &status) == 0 ? status.st_size : -1; };
  look();
  const bool replaced = m_file >= 0 && status.st_nlink == 0, silent = m_size <= offset || m_size == before;
  if (m_file < 0 || replaced || (silent && Clock::now() >= m_openAgain)) {
    reopen();
    look();
  }
  if (m_size <= offset) return {};
  std::string bytes(std::min<std::size_t>(most, static_cast<std::size_t>(m_size - offset)), '\0');
  const ssize_t got = ::pread(m_file, bytes.data(), bytes.size(), offset);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::string FollowedFile::markAt(std::int64_t offset) const {
  return logMark(m_file, offset);
}

}  // namespace loom
