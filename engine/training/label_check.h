#pragma once
// Labels and indices against what the network has for them, before the first step: in a shuffled run the one that is
// too high may come after hours, and "row 7 of the batch" is nowhere to be found.
#include "engine/network/network.h"
#include "engine/training/project_data.h"

namespace loom {

// Throws Error(badData) with the line of the CSV for the first label of the dataset that the network has no class for.
// Labels that are computed (by a step of prepare), and indices of several numbers a sample, are left to the step
// itself.
void checkLabels(const Network& flat, const OpenedDataset& dataset);

}  // namespace loom
