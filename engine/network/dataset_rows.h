#pragma once
// Which rows of its CSV a dataset of the project uses: first_row and rows, then the part that is held out or the rest.
#include <memory>

#include "engine/data/dataset.h"
#include "engine/network/project.h"

namespace loom {

// The one way from an opened CSV to what the project means by it. Throws Error(badProject).
std::shared_ptr<const Dataset> rowsOf(const DatasetSpec& spec, std::shared_ptr<const Dataset> whole);

}  // namespace loom
