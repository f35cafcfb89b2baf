#pragma once
// A file of weights laid over the parameters of a drawing: the file, what was asked for, and which goes where.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/exchange/weight_match.h"
#include "engine/network/project.h"
#include "engine/program/program.h"
#include "engine/run/safetensors.h"

namespace loom {

struct LaidOverWeights {
  TensorFile file;
  std::vector<const TensorFile::Tensor*> sources;  // the weights among its tensors, in the order of `tensors`
  std::vector<NamedShape> parameters, tensors;
  WeightMatch match;
};

// Throws what reading the file throws.
LaidOverWeights layOver(const std::filesystem::path& file, std::vector<NamedShape> parameters);
// Over a network of a project; empty = the one that is trained. Throws Error(badProject) where it is not sound.
LaidOverWeights layOver(const std::filesystem::path& file, const Project& project, const std::string& network);

// The network that the first update trains, else the first one. Throws Error(badProject) where there is none.
std::string trainedNetworkOf(const Project& project);

}  // namespace loom
