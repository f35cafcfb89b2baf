#pragma once
// A trained run as other tools get it: its weights, what its outputs mean, and what was done to the data before they
// came to it.
#include <string>
#include <vector>

#include "engine/exchange/exporter.h"
#include "engine/training/trained_run.h"

namespace loom {

// `network`: of the run's project; empty is the one that is trained. Throws as TrainedRun, and Error(badProject).
ExportSource exportSourceOf(const TrainedRun& run, const std::string& network = {});

// A sentence for each input and output: which numbers go in, and what those that come out mean. `inUnits`: the file
// gives outputs in the unit of their column where that can be written (ONNX). None where no preparation is known.
std::vector<std::string> exportNotes(const ExportSource& source, bool inUnits);

}  // namespace loom
