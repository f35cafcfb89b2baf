#pragma once
// What a network's Inputs want against what a dataset's columns have.
#include "engine/network/project.h"

namespace loom {

// Missing variables, shapes with another number of values, more classes than scores or symbols. `columns` null: not
// known. A network that is fed by training and validation set alike is told each fault once.
void checkColumns(const Network& network, const Analysis& analysis, const KnownColumns* columns,
                  std::vector<Problem>& problems);

}  // namespace loom
