#pragma once
// Training that begins with weights from a file instead of random numbers: another program's, or those of a run.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/program/parameter_store.h"

namespace loom {

struct StartFromOptions {
  std::filesystem::path file;  // a .safetensors, or the folder of a run: its best checkpoint, else its last one
  std::vector<std::string> parameters;  // patterns of the names that are taken; empty = all
};

struct StartedFrom {
  Json facts;  // for run.json: file, bytes, how many were matched, and by name what was not
  std::vector<std::string> warnings;
};

// Lays the file over what the store holds, weights and running statistics, and nothing of an optimizer. What finds no
// tensor keeps its value. Throws Error(missingFile, badData) for the file, Error(badProject) where none of the chosen
// parameters finds a tensor.
StartedFrom startFrom(ParameterStore& store, const StartFromOptions& options);

}  // namespace loom
