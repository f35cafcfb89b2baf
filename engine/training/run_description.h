#pragma once
// run.json: everything that defines a run, so that it can be resumed, evaluated and told from others without the
// project it came from.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/network/project.h"
#include "engine/run/run_folder.h"

namespace loom {

struct RunDescription {
  Project project;
  std::filesystem::path projectFile;
  std::filesystem::path folder;                       // where the project's relative CSV paths begin
  std::map<std::string, std::vector<Json>> prepared;  // resolved preparation of each dataset that was used
  Json facts = Json::object();                        // datasets as ProjectData::facts()
  Json startedFrom;  // the weights that it began with (startFrom()); null = random numbers
  std::string device, precision;
  int ranks = 1;
  std::vector<std::string> hosts;  // each once, in the order of ranks
  Json versions = Json::object();
};

void writeRunDescription(const RunFolder& folder, const RunDescription& description);
// Throws Error(missingFile) where there is no run.json, Error(badData, badProject, newerVersion) for what it says.
RunDescription readRunDescription(const RunFolder& folder);

}  // namespace loom
