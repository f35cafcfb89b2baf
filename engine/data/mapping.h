#pragma once
// A cache file in memory that does not take the process with it. The mapping keeps a deleted file alive. A file that is
// cut short while it is mapped, or whose disk fails, would raise SIGBUS at the next touch: a handler puts a page of
// zeros there and marks the mapping damaged, and whoever used the bytes asks damaged() before trusting them.
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <span>

namespace loom {

class GuardedMapping {
 public:
  // Throws Error(missingFile, inputOutput).
  explicit GuardedMapping(const std::filesystem::path& path);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  std::span<const std::byte> bytes() const { return {m_data, m_size}; }
  // Whether some byte could not be read since the file was mapped, or the file is shorter than it was.
  bool damaged() const;

 private:
  int m_file = -1;
  const std::byte* m_data = nullptr;
  std::size_t m_size = 0;
  int m_slot = -1;
};

}  // namespace loom
