#include "engine/agent/own_engine.h"

#include <fmt/format.h>

#include <fstream>

#include "engine/agent/sha256.h"
#include "engine/run/process.h"

namespace loom {
namespace {

constexpr std::size_t kHash = 64;
constexpr std::size_t kHashPiece = std::size_t{1} << 20;

std::string hashOf(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  Sha256 hash;
  std::string piece(kHashPiece, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0)
    hash.add(std::string_view(piece.data(), static_cast<std::size_t>(stream.gcount())));
  return stream.bad() ? std::string() : hash.finish();
}

}  // namespace

std::filesystem::path ownEngine() {
  return std::filesystem::path(ownProgram()).parent_path().parent_path();
}

std::string engineFault(const std::filesystem::path& engine, EngineLook look) {
  std::ifstream lines(engine / ".complete");
  for (std::string line; std::getline(lines, line);) {
    if (line.size() <= kHash + 2) continue;
    const std::filesystem::path file = (engine / line.substr(kHash + 2)).lexically_normal();
    std::error_code none;
    if (!std::filesystem::exists(file, none)) return fmt::format("{} is gone", file.string());
    if (look == EngineLook::isTheSame && hashOf(file) != line.substr(0, kHash))
      return fmt::format("{} is damaged", file.string());
  }
  return {};
}

}  // namespace loom
