#pragma once
// The ten projects of data/, one a construct, written as Neural Network Console writes its projects.
#include <string>

#include "engine/exchange/importer.h"

namespace loom {

inline const char* const kConstructs[] = {"layers",  "windows",     "units", "repeats", "networks",
                                          "solvers", "expressions", "data",  "loops",   "images"};

inline std::filesystem::path sdcproj(const std::string& name) {
  return std::filesystem::path(GRADLOOM_SOURCE_DIR) / "tests/engine/exchange/data" / (name + ".sdcproj");
}

}  // namespace loom
