#pragma once
// A project as the command line names it: the file, and what --set changes in it.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/network/project.h"
#include "engine/network/project_settings.h"

namespace loom {

// The project that a person means: a .loom file, or a folder with one. Throws Error(missingFile, badArgument) that
// names what a folder holds instead.
std::filesystem::path projectFile(const std::filesystem::path& given);

// Reads, changes and checks. Warnings are answered; errors are thrown, all of them in one Error(badProject).
struct LoadedProject {
  Project project;
  std::vector<std::string> warnings;
};
LoadedProject loadForTraining(const std::filesystem::path& file, const std::vector<std::string>& settings);
LoadedProject checkedProject(const Json& json, const std::string& name, const std::vector<std::string>& settings);

// "network main, conv2: the kernel is ..."
std::string problemText(const Problem& problem);

}  // namespace loom
