#pragma once
// A dataset in two parts: one that is held out for validation, and the rest. Which row belongs to which is a function
// of the seed and the rows alone, so both parts, every rank and every later run agree without a file that says so.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/check.h"
#include "engine/data/row_choice.h"

namespace loom {

// What decides which rows are held out, row by row; empty where it does not.
struct SplitKeys {
  std::int64_t rows = 0;
  std::vector<std::int64_t> classes, groups;  // 0, 1, 2 ...
  std::vector<double> orders;
};
// Throws Error(badProject) where the share leaves a part empty.
std::vector<bool> heldRows(const SplitKeys& keys, const HoldOut& how);

// In the order of the file; rows that a pack marks (kHeldOutVariable) as they are marked. Throws Error(badProject)
// where the share leaves a part empty or `by` names no classes.
std::shared_ptr<const Dataset> selectPart(std::shared_ptr<const Dataset> dataset, const HoldOut& how);

// Samples of each class of a scalar variable; empty when its values are no classes.
std::vector<std::int64_t> countClasses(const Dataset& dataset, std::size_t variable);

// A warning where classes stand in one of two parts alone (an info where the other has hardly a row for each); else
// nothing.
std::vector<Fault> loneClasses(const std::string& column, const std::vector<std::int64_t>& here,
                               std::string_view hereName, const std::vector<std::int64_t>& there,
                               std::string_view thereName);
// The same for every label column that both have.
std::vector<Fault> loneClasses(const Dataset& here, std::string_view hereName, const Dataset& there,
                               std::string_view thereName);

}  // namespace loom
