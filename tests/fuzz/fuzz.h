#pragma once
// A fuzz target: what a reader of foreign bytes does with any bytes at all. LOOM_FUZZ(name) { ... } has `bytes`; a
// fault that the reader tells of (an Error) is an answer, anything else (a crash, another exception, a sanitizer's
// word) is a find. With -DGRADLOOM_FUZZ=ON (clang) each target becomes a libFuzzer program of its own; without it all
// of them stand in one table, and fuzz_test.cpp runs them over their corpus and over seeded mutations of it.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace loom::fuzz {

struct Target {
  std::string name;
  void (*run)(std::string_view bytes);
};

inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)(std::string_view)) { targets().push_back({name, run}); }
};

// A folder of this process where a reader finds the bytes as a file; emptied for each use. In memory where the system
// has /dev/shm.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path write(const std::string& name, std::string_view bytes) const;
  std::filesystem::path path(const std::string& name) const { return m_path / name; }

 private:
  std::filesystem::path m_path;
};

inline std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace loom::fuzz

// Targets are called through a table of their own executable, so their registration objects are never dropped.
#define LOOM_FUZZ(name)                                                           \
  static void fuzz_##name(std::string_view bytes);                                \
  static const loom::fuzz::Registration registration_##name(#name, &fuzz_##name); \
  static void fuzz_##name([[maybe_unused]] std::string_view bytes)
