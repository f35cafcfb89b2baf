#pragma once
// What a person wants predicted, as one CSV: the one that was named, or one that is written for pictures, sounds and
// arrays, each a sample.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/training/fitted_samples.h"

namespace loom {

class FilesToPredict {
 public:
  // `variable`: what single files are, the network's one input; empty where it has several, which takes a CSV. Throws
  // Error(badArgument) where files of both kinds are named, Error(missingFile) where none is there.
  FilesToPredict(const std::vector<std::filesystem::path>& files, const std::string& variable);
  ~FilesToPredict();  // with what was written for it
  FilesToPredict(const FilesToPredict&) = delete;
  FilesToPredict& operator=(const FilesToPredict&) = delete;

  bool areSamples() const { return m_csv.empty() || !m_folder.empty(); }
  // Of single files, before csv() is read: those that the network takes are its rows. Throws Error(badData) where it
  // takes none, with the reason of each.
  void fit(const SampleTaken& taken);
  const std::filesystem::path& csv() const { return m_csv; }
  // The same rows with the files as they were named, for what is written beside them.
  const std::filesystem::path& told() const { return m_told.empty() ? m_csv : m_told; }
  std::string name() const;  // for messages: of the file, or of the first one
  // The file that a sample is; empty of a CSV.
  std::string source(std::int64_t sample) const;
  OpenOptions openOptions() const;

  bool recognised = false;  // the CSV is written as its own lines tell, and not as the run's data were said to be
  std::vector<Json> steps;  // in front of those on samples: what brings these files to the network
  std::vector<std::string> notes;
  std::vector<RefusedSample> refused;

 private:
  std::vector<std::filesystem::path> m_files;
  std::filesystem::path m_csv, m_told, m_folder;  // the folder is ours, where single files are named
};

// A line for each: its own name, why it is not predicted, and what can be done.
std::string refusedText(const std::vector<RefusedSample>& refused);

// Whether a file is a sample by itself: a picture, a sound, an array.
bool isSampleFile(const std::filesystem::path& file);

}  // namespace loom
