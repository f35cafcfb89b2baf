#pragma once
// Files that are to be predicted, held against what a network takes, before they are read as its samples: what differs
// in rate, colours or channels is brought there, what cannot be is told under its own name.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/run/predictions.h"

namespace loom {

// What one input of a network takes.
struct SampleTaken {
  std::string variable;
  Shape shape;                // of one sample, after preparation
  std::vector<Json> prepare;  // the run's, resolved
  int rate = 0;               // of the sounds that it was trained on; 0 = they had several, or the run does not say
};

// `steps` before the other steps on samples.
std::vector<Json> withSampleSteps(const std::vector<Json>& prepare, const std::vector<Json>& steps);
// The step that brings sounds to the run's rate; nothing where its preparation says one, or no rate is known.
std::optional<Json> rateStep(const SampleTaken& taken);
// The step that brings pictures as they are stored to the network's channels; nothing where they fit already, or where
// no colours make them fit.
std::optional<Json> colourStep(const Variable& stored, const SampleTaken& taken);

struct FittedSamples {
  std::vector<std::filesystem::path> good, read;  // files that are samples, and what is read for each
  std::vector<Json> steps;                        // withSampleSteps(): what brings them to the network
  std::vector<std::string> notes;                 // what was done to them
  std::vector<RefusedSample> refused;
};
// Decodes each file. Sounds of other channels are written anew into `folder`.
FittedSamples fitSamples(const std::vector<std::filesystem::path>& files, const SampleTaken& taken,
                         const std::filesystem::path& folder);

// "a.wav, b.wav and 3 more".
std::string filesText(const std::vector<std::string>& names);

}  // namespace loom
