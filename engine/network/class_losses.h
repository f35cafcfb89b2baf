#pragma once
// The losses of a drawing that classes can be weighed in: those with the field `class_weights`.
#include <string>
#include <vector>

#include "engine/network/project.h"

namespace loom {

inline constexpr const char* kClassWeights = "class_weights";

struct ClassLoss {
  std::string node;      // of the drawing
  std::string variable;  // of the dataset, that it compares with
  std::int64_t classes = 0;
};

// Those that stand in the network itself (one inside of a unit has the weights that its field says) and compare with an
// Input, in the order of the file; of numbers that are yes or no those with one a sample. `flat`: the network made
// flat.
std::vector<ClassLoss> classLosses(const Network& drawn, const Network& flat);
// Whether any network or unit of the project has one at all.
bool hasClassLoss(const Project& project);

}  // namespace loom
