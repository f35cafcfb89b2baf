#pragma once
// Which rows of its CSV a dataset of the project uses: first_row and rows, then the part that is held out or the rest;
// and where that CSV comes from.
#include <filesystem>
#include <memory>
#include <string>

#include "engine/data/dataset.h"
#include "engine/network/project.h"

namespace loom {

// Where its CSV comes from or how to make it, as the project tells whoever does not have it; may be empty.
std::string originOf(const DatasetSpec& spec);
// Throws Error(missingFile) that tells what to do, where the CSV is not there.
void needCsv(const DatasetSpec& spec, const std::filesystem::path& csv);
// The one way from an opened CSV to what the project means by it. Throws Error(badProject).
std::shared_ptr<const Dataset> rowsOf(const DatasetSpec& spec, std::shared_ptr<const Dataset> whole);

}  // namespace loom
