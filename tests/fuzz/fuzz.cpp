#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#include <atomic>

// libsndfile 1.2 (Debian 12) does not give back libvorbis's tables, 6 kB, of an OGG whose head is damaged. That is
// theirs to mend.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:vorbis_info_init\n";
}

namespace loom::fuzz {
namespace fs = std::filesystem;

Folder::Folder() {
  static std::atomic<int> number{0};
  const fs::path base = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
  m_path = base / ("gradloom-fuzz-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
  fs::remove_all(m_path);
  fs::create_directories(m_path);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(m_path, ignored);
}

fs::path Folder::write(const std::string& name, std::string_view bytes) const {
  const fs::path file = m_path / name;
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file;
}

}  // namespace loom::fuzz
