#pragma once
// Datasets, optimizers and settings of Console as `datasets` and `training` of ours.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/exchange/importer.h"
#include "engine/exchange/sdcproj/sdc_file.h"

namespace loom::sdc {

struct TrainingParts {
  const File& file;
  std::filesystem::path folder;                 // of the .sdcproj: where its relative paths begin
  std::map<std::string, std::string> networks;  // tab -> name of the network here
  std::vector<std::string> images;              // variables that Inputs read as images: what ImageNormalization scales
  ImportReport& report;
};

// Fills datasets and training of the project, whose networks are drawn already.
void readTraining(const TrainingParts& parts, Project& project);

}  // namespace loom::sdc
