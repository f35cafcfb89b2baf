#pragma once
// Settings of one run on top of a project: `loom train --set`, "Train with changes".
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

// Applies "key=value" pairs to a project's JSON. A key is a path: "epochs", "optimizer.learning_rate",
// "datasets.training.csv", "networks.main.nodes.conv1.channels"; what begins with none of the file's own keys stands in
// `training`. A value is JSON, or else text. Whether the project knows the key is for readProject() and checkProject()
// to say. Throws Error(badArgument).
void applySettings(Json& project, const std::vector<std::string>& settings);

}  // namespace loom
