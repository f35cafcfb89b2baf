#pragma once
// The column that a dataset says is to be predicted, and the Input that a loss compares with: whichever comes last
// takes the other along.
#include <vector>

#include "widgets/document/project_delta.h"

namespace loom {

// Where `delta`, which is done already, wired an Input to a loss of a network that is trained, and it is the only one
// there, it takes the column that the network's dataset is to predict, in the same step: unless it names a column, or
// is called like one.
void followTarget(Project& project, ProjectIndex& index, const std::vector<KnownColumns>& columns, ProjectDelta& delta);

}  // namespace loom
