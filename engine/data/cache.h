#pragma once
// Where a CSV's packed cache lies and whether it is fresh. Beside NAME.pack stands NAME.key: the paths, sizes, times
// and hashes of everything that the pack was made of, so that the pack itself stays a function of the samples alone.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/row_parser.h"

namespace loom {

struct CachePlace {
  std::filesystem::path folder;
  std::string name;
  std::string made;  // how the samples are made of the CSV, where it is not the plain way: part of the key
  std::filesystem::path pack() const { return folder / (name + ".pack"); }
  std::filesystem::path key() const { return folder / (name + ".key"); }
  std::filesystem::path lock() const { return folder / (name + ".lock"); }
  std::filesystem::path steps() const { return folder / (name + ".steps"); }
};

// Candidates in the order in which they are tried: the folder asked for, or beside the CSV and then the user's cache
// folder. Each way of making samples of a CSV (`made`) has a pack of its own.
std::vector<CachePlace> cachePlaces(const std::filesystem::path& csv, const OpenOptions& options,
                                    const std::string& made = {});

// What is known of the CSV itself now, but its hash. Throws Error(missingFile).
FileFacts factsOf(const std::filesystem::path& csv);

class CacheKey {
 public:
  CacheKey(const std::filesystem::path& csv, const FileFacts& facts, const std::string& made = {});
  void add(const std::vector<FileFacts>& files);
  // `packBytes` ties the key to the pack it was written for.
  std::string finish(std::uint64_t packBytes);

 private:
  std::string m_text;
  std::uint64_t m_files = 0;
};

// Whether the pack is there and everything that it was made of is as it was. Looks at every file, on `threads`, and
// into those alone that have their size and time still but are another file or were changed since: then the hash
// decides, and the key is written anew so that the next one need not look.
bool isFresh(const std::filesystem::path& csv, const CachePlace& place, int threads);

// Held by the one who builds; released by the destructor or the death of the process.
class BuilderLock {
 public:
  // Waits; `keepWaiting` is asked ten times a second and false throws Error(stopped). A file system without locks gives
  // none.
  BuilderLock(const std::filesystem::path& file, const std::function<bool()>& keepWaiting);
  ~BuilderLock();
  BuilderLock(const BuilderLock&) = delete;
  BuilderLock& operator=(const BuilderLock&) = delete;

 private:
  int m_file = -1;
};

}  // namespace loom
