#pragma once
// The project that a file of ours carries as a text beside its graph: units, repeats, places, notes, training. A graph
// knows none of these. The text is believed only where it is proved: the network is written as ONNX again, and only
// where that is the file's own graph, node for node and constant for constant, the project is what the file says.
// Weights are the file's, whatever they are, so one that was trained further elsewhere comes back with its drawing; one
// whose graph was changed is imported from the graph.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/exchange/exporter.h"
#include "engine/exchange/onnx/model.h"

namespace loom::onnx_file {

// What exportOnnx() puts beside the graph.
std::map<std::string, std::string> carriedTexts(const ExportSource& source);

struct CarriedProject {
  Project project;
  std::string network;  // which of its networks was written
  // By parameter; empty where they are those with which a training of the project begins anyway.
  std::vector<ImportedWeight> weights;
};

// Nothing where the file carries none, or where it is not what the graph says: the report tells the latter.
std::optional<CarriedProject> carriedProject(const OnnxGraph& graph, ImportReport& report);

}  // namespace loom::onnx_file
