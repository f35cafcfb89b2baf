#pragma once
// Which rows of its CSV a dataset of the project uses: first_row and rows, then the part that is held out or the rest;
// and where that CSV comes from.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/network/project.h"

namespace loom {

// Where its CSV comes from or how to make it, as the project tells whoever does not have it; may be empty.
std::string originOf(const DatasetSpec& spec);
// Throws Error(missingFile) that tells what to do, where the CSV is not there.
void needCsv(const DatasetSpec& spec, const std::filesystem::path& csv);
// How the project says that the CSV is read: its format, and the rows that are used. `prepare`: the steps of the
// dataset whose columns they change; other options stay as they are given. Throws Error(badProject).
OpenOptions openingOf(const DatasetSpec& spec, std::vector<Json> prepare, OpenOptions options = {});
// The one way from a CSV to what the project means by it: opened as openingOf() says, then its rows.
std::shared_ptr<const Dataset> openRows(const DatasetSpec& spec, const std::filesystem::path& csv,
                                        const std::vector<Json>& prepare, const OpenOptions& options = {});
// The second half of it. Throws Error(badProject).
std::shared_ptr<const Dataset> rowsOf(const DatasetSpec& spec, std::shared_ptr<const Dataset> whole);
// The column steps of `prepare` with all that they measure measured, on the rows that `spec` says, without what is held
// out; as they are where there is nothing to measure. Reads the CSV: `goesOn` is asked now and then, false cancels
// (Error stopped). Throws Error(badProject, badData).
std::vector<Json> measuredSteps(const DatasetSpec& spec, const std::filesystem::path& csv,
                                const std::vector<Json>& prepare, const std::function<bool()>& goesOn = {});
// The steps of a dataset: its own, or those of the first one that is trained on, which measures what is to be measured.
// Lines that steps leave out are those of one file alone.
std::vector<Json> prepareOf(const Project& project, const DatasetSpec& spec);

}  // namespace loom
