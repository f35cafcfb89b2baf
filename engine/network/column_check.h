#pragma once
// What a network's Inputs want against what a dataset's columns have.
#include "engine/network/project.h"

namespace loom {

// Whether values of one shape are those of the other when they are read in their order: axes may be joined, parted or
// left out where they are 1 (28×28, 1×28×28, 784), but a picture of 4×16 is none of 8×8, nor a sound of 100×2 one of
// 200×1, though they have as many numbers.
bool isRegrouped(const Shape& values, const Shape& as);

// Missing variables, shapes that hold other values, more classes than scores or symbols. `columns` null: not
// known. A network that is fed by training and validation set alike is told each fault once.
void checkColumns(const Network& network, const Analysis& analysis, const KnownColumns* columns,
                  std::vector<Problem>& problems);

}  // namespace loom
