#pragma once
// A file that another process writes, read on from an offset through one descriptor. A network file system tells of
// another host's bytes only when a file is opened, hence it is opened anew now and then while nothing comes, where the
// name has come to mean another file, and each time as long as there is none.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace loom {

class FollowedFile {
 public:
  explicit FollowedFile(std::filesystem::path path) : m_path(std::move(path)) {}
  ~FollowedFile() { close(); }
  FollowedFile(FollowedFile&& other) noexcept;
  FollowedFile& operator=(FollowedFile&& other) noexcept;

  // At most `most` bytes from `offset`; empty where there are none yet.
  std::string read(std::int64_t offset, std::size_t most);
  // logMark() of the file that was read last.
  std::string markAt(std::int64_t offset) const;
  // The next read opens it anew: nobody will write any more, and what others wrote is to be seen.
  void openAgain() { m_openAgain = {}; }
  // Of the file when it was last read; -1 = there is none.
  std::int64_t size() const { return m_size; }
  const std::filesystem::path& path() const { return m_path; }

 private:
  using Clock = std::chrono::steady_clock;
  void reopen();
  void close();
  std::filesystem::path m_path;
  int m_file = -1;
  std::int64_t m_size = -1;
  Clock::time_point m_openAgain{};
};

}  // namespace loom
