#pragma once
// Where the data of a run lie now. Its run.json names their places on the machine where it was begun, and a run may go
// on on another one.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/training/run_description.h"

namespace loom {

struct DataPlaces {
  std::map<std::string, std::filesystem::path> given;  // by dataset, as a person says: before all others
  std::filesystem::path
      projectFile;  // whose datasets lie here under the same names; empty: the one beside the run's folder
};

// Sets the CSVs of `project` to where they lie: as given, else where the run found them, else where the datasets of the
// same name lie in the project as it is here (of FOLDER/runs/RUN that is FOLDER's project). Answers the names of those
// that lie elsewhere than the run found them. Throws Error(badArgument) for a name that the project lacks, and
// Error(missingFile) for data that the run was trained with and that are nowhere.
std::vector<std::string> findData(Project& project, const RunFolder& run, const RunDescription& description,
                                  const DataPlaces& places);

// The first of findData's ways alone. Throws Error(badArgument).
void placeData(Project& project, const std::map<std::string, std::filesystem::path>& given);

// What to say of datasets that do not hold the samples which the run was trained on, one sentence each, by dataset.
// Both are ProjectData::facts().
std::map<std::string, std::string> changedData(const Json& trained, const Json& opened);

}  // namespace loom
