#pragma once
// Files that the launcher sends: kept under the hash of their bytes, so that what lies there already is not sent again
// and what arrived is known to be whole.
#include <filesystem>
#include <map>
#include <string>

#include "engine/agent/agent.h"
#include "engine/agent/sha256.h"

namespace loom {

class DataStore {
 public:
  DataStore(std::filesystem::path folder, Tell tell) : m_folder(std::move(folder)), m_tell(std::move(tell)) {}
  ~DataStore();
  DataStore(const DataStore&) = delete;
  DataStore& operator=(const DataStore&) = delete;

  // Both answer {"have", "done", "path"}. Throw Error(diskFull) with both numbers before the disk is full,
  // Error(badData) when the bytes that arrived are not those that were announced (they are then thrown away).
  Json put(const std::string& sha256, std::int64_t size);
  Json chunk(const std::string& sha256, std::int64_t offset, std::string_view bytes);
  // Where it lies once it is whole. Any thread.
  std::filesystem::path whole(const std::string& sha256) const { return m_folder / (sha256 + ".pack"); }

 private:
  struct Part {
    int file = -1;
    std::int64_t size = 0, have = 0;
    Sha256 hash;
  };
  std::filesystem::path part(const std::string& sha256) const { return m_folder / (sha256 + ".part"); }
  Json answer(const std::string& sha256, std::int64_t have, bool done) const;
  Json finish(const std::string& sha256);
  void close(const std::string& sha256);

  std::filesystem::path m_folder;
  Tell m_tell;
  std::map<std::string, Part> m_parts;
};

}  // namespace loom
