#pragma once
// What a person wants predicted, as one CSV: the one that was named, or one that is written for pictures, sounds and
// arrays, each a sample.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/dataset.h"

namespace loom {

class FilesToPredict {
 public:
  // `variable`: what single files are, the network's one input; empty where it has several, which takes a CSV. Throws
  // Error(badArgument) where files of both kinds are named, Error(missingFile) where one is not there.
  FilesToPredict(const std::vector<std::filesystem::path>& files, const std::string& variable);
  ~FilesToPredict();  // with what was written for it
  FilesToPredict(const FilesToPredict&) = delete;
  FilesToPredict& operator=(const FilesToPredict&) = delete;

  const std::filesystem::path& csv() const { return m_csv; }
  std::string name() const;  // for messages: of the file, or of the first one
  // The file that a sample is; empty of a CSV.
  std::string source(std::int64_t sample) const;
  OpenOptions openOptions() const;

 private:
  std::vector<std::filesystem::path> m_files;
  std::filesystem::path m_csv, m_folder;  // the folder is ours, where single files are named
};

// Whether a file is a sample by itself: a picture, a sound, an array.
bool isSampleFile(const std::filesystem::path& file);

}  // namespace loom
