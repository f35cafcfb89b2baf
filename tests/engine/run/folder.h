#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

#include "engine/run/run_folder.h"

namespace loom {

// A run folder of its own for one test, removed at its end.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name)
      : m_path(std::filesystem::temp_directory_path() / ("gradloom-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(m_path);
    std::filesystem::create_directories(m_path);
  }
  ~TestFolder() { std::filesystem::remove_all(m_path); }
  const std::filesystem::path& path() const { return m_path; }
  RunFolder run() const { return {m_path}; }

 private:
  std::filesystem::path m_path;
};

}  // namespace loom
