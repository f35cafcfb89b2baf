#pragma once
// Runs a network that was imported, or is to be exported, with given weights: outputs by name.
#include <map>
#include <string>
#include <vector>

#include "engine/exchange/importer.h"

namespace loom {

// Small files of other tools.
inline const std::filesystem::path kOnnxData =
    std::filesystem::path(GRADLOOM_SOURCE_DIR) / "tests/engine/exchange/onnx/data";

struct NamedValues {
  Shape shape;  // with the batch in front
  std::vector<float> values;
};
using ValuesByName = std::map<std::string, NamedValues>;

// For prediction, on the CPU. Weights that the program wants and the list lacks are a failure of the test; where
// `weights` is null they are the initial ones of seed 1.
ValuesByName runNetwork(const Network& network, const std::vector<ImportedWeight>* weights, const ValuesByName& inputs);
// What a test's file holds under "in/..." and "out/...".
ValuesByName valuesIn(const std::filesystem::path& file, const std::string& prefix);
double largestDifference(const NamedValues& a, const NamedValues& b);

}  // namespace loom
