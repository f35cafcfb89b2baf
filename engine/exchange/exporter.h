#pragma once
// A network with its weights, for other tools. Every function writes atomically, answers the files that it wrote, and
// throws Error (badProject where the network is not sound or a layer has no counterpart there, diskFull, inputOutput).
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/base/shape.h"
#include "engine/network/project.h"

namespace loom {

struct ExportedWeight {
  Shape shape;
  std::vector<float> values;  // row-major
};

// One step of an output's numbers on their way back to the unit of the column that they predict: y * by + add, a number
// for each element of a sample; or exp(y), or exp(y) - 1.
struct UnitStep {
  enum class Kind { linear, exponential, exponentialMinusOne } kind = Kind::linear;
  std::vector<double> by, add;
};

struct ExportSource {
  Project project;
  std::string network;  // which of its networks
  std::map<std::string, ExportedWeight>
      weights;  // by the name of the parameter or state ("stage1/0/conv_a/weight"), each of the network's
  // Of outputs, by their nodes: an ONNX file gives these in the unit of their columns. Absent: as the network does.
  std::map<std::string, std::vector<UnitStep>> units;
  // What was done to the data before they came to the network, and what its outputs mean (export_run.h). Travels in an
  // ONNX file as a text `gradloom.preparation`, with what was fitted: means, medians, classes. Null: nothing is known.
  Json preparation;
};

// Weights and states under our names: what start_from reads again.
std::vector<std::filesystem::path> exportSafetensors(const ExportSource& source, const std::filesystem::path& file);
// A script `file` with the network as a torch.nn.Module, in evaluation as it predicts here, and its weights beside it
// under the names of its state_dict (NAME.safetensors). It needs torch alone.
std::vector<std::filesystem::path> exportPyTorch(const ExportSource& source, const std::filesystem::path& file);
// Network and weights for prediction, without losses and metrics (engine/exchange/onnx). A batch of 0 is left open in
// the file. `carried`: the project travels along as a text of the file, with its units, repeats, places and notes, so
// that importing it here gives the same project again.
enum class Carried { project, nothing };
std::vector<std::filesystem::path> exportOnnx(const ExportSource& source, const std::filesystem::path& file,
                                              std::int64_t batch = 0, Carried carried = Carried::project);

}  // namespace loom
