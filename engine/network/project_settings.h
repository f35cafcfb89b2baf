#pragma once
// Settings of one run on top of a project: `loom train --set`, "Train with changes".
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {

struct OptimizerDefinition;
struct UpdateSpec;

// Applies "key=value" pairs to a project's JSON. A key is a path: "epochs", "optimizer.learning_rate",
// "datasets.training.csv", "networks.main.nodes.conv1.channels", or shorter "conv1.channels" where one drawing alone
// has such a node; what begins with neither stands in `training`. "conv1,conv2.channels" sets both, "conv1.layer=NAME"
// puts another layer in its place, "conv1,relu1.repeat=3" runs the chain of both so often (structure_settings.h). A
// value is JSON, or else text. Whether the project knows the key is for readProject() and checkProject() to say. Throws
// Error(badArgument).
void applySettings(Json& project, const std::vector<std::string>& settings);
// The parts of a key's path from the top of the project: {"training", "epochs"}. Throws Error(badArgument) for a node
// that several drawings have.
std::vector<std::string> settingPath(const Json& project, const std::string& key);

// Why so many ranks cannot add gradients as the settings of `training` say. Throws Error(badProject) for values of a
// wrong type and names that nobody knows.
std::optional<ReductionRefusal> refusedReduction(const Json& settings, std::int64_t ranks);

// The rule that an update names, or the default one where it names none; null for one that nobody knows.
const OptimizerDefinition* optimizerOf(const UpdateSpec& update);

}  // namespace loom
