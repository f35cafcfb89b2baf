#pragma once
// What classes count in the losses of a run whose settings say `weigh_classes`: measured on the data that it trains on,
// kept in run.json, the same in training, validation and whenever the run is evaluated. Pure functions, any thread.
#include <map>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/network/project.h"

namespace loom {

struct RunDescription;

// By variable of a dataset: what its classes count (classWeights() of engine/data).
using ClassWeights = std::map<std::string, std::vector<double>>;

// Of each variable that a loss of classes of this network compares with; none where its values are no classes.
ClassWeights measureClassWeights(const Project& project, const std::string& network, const Dataset& dataset);
// Gives them to the losses of the network that compare with these variables and have no weights of their own; answers
// how many losses have weights then. Throws Error(badProject) where a class has no score.
int weighLosses(Project& project, const std::string& network, const ClassWeights& weights);

// The run's project, in its losses what classes counted while it was trained. Throws Error(badData).
Project asTrained(const RunDescription& run);

}  // namespace loom
