#pragma once
// Files that are never half written and errors that say what to do. Every function throws Error (missingFile, diskFull,
// inputOutput) with the path.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace loom {

// The whole file. Refuses one larger than `limit` bytes.
std::string readFile(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 30);

// Writes beside `path` under a temporary name, syncs, renames: readers see the old file or the new one, never half.
void writeFileAtomically(const std::filesystem::path& path, std::string_view content);
// The same for content that is produced piece by piece: `write(append)` calls append() as often as it likes.
using Append = std::function<void(const void* data, std::size_t bytes)>;
void writeFileAtomically(const std::filesystem::path& path, const std::function<void(const Append&)>& write);

// Whether a file that begins so is a pointer of Git LFS, which stands in the place of a file that was not fetched.
bool isLfsPointer(std::string_view begin);

// Turns errno into an Error: ENOSPC and EDQUOT become diskFull with the remedy, ENOENT and EACCES missingFile.
[[noreturn]] void throwErrno(int number, std::string_view doing, const std::filesystem::path& path);

// A read-only file in memory; its pages come as they are touched. Movable; unmapped at the end.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return {m_data, m_size}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(m_data), m_size}; }

 private:
  const std::byte* m_data = nullptr;
  std::size_t m_size = 0;
};

}  // namespace loom
