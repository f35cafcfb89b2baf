#pragma once
// Classes that are rare: their rows several times in an epoch, or each with a larger weight.
#include <memory>
#include <string>
#include <vector>

#include "engine/data/dataset.h"

namespace loom {

// Each class of the scalar variable `by` has as many rows as its largest: all of them equally often, and some once
// more, as the seed says. A function of the rows and the seed alone: the same on every rank and when a run is resumed.
// Throws Error(badProject) where the variable is not there or its values are no classes.
std::shared_ptr<const Dataset> balanceClasses(std::shared_ptr<const Dataset> dataset, const std::string& by,
                                              std::uint64_t seed);

// What each class counts so that all of them count alike: n / (k n_c), with n labels, of which n_c are of class c, and
// k classes that occur. Their mean over the labels is 1; a class that does not occur has 1. As "balanced" of
// scikit-learn. `by` may have several labels a sample. Empty where the variable is not there or its values are no
// classes.
std::vector<double> classWeights(const Dataset& dataset, const std::string& by);

}  // namespace loom
