#pragma once
// Rare classes as often as the largest: the rows of an epoch, some of them several times.
#include <memory>
#include <string>

#include "engine/data/dataset.h"

namespace loom {

// Each class of the scalar variable `by` has as many rows as its largest: all of them equally often, and some once
// more, as the seed says. A function of the rows and the seed alone: the same on every rank and when a run is resumed.
// Throws Error(badProject) where the variable is not there or its values are no classes.
std::shared_ptr<const Dataset> balanceClasses(std::shared_ptr<const Dataset> dataset, const std::string& by,
                                              std::uint64_t seed);

}  // namespace loom
