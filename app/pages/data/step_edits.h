#pragma once
// What remedies and the list of columns do to `prepare`. A list of steps goes in, another comes out: whoever has the
// document makes one undo step of it.
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

// Adds steps where they belong: rows are skipped and columns left out before all else, holes are filled before words
// and dates become numbers, those before numbers are scaled, and all of it before columns are joined; pixels are
// computed before values are scaled. A step that says the same of other columns takes the new ones in. `place`: where
// the last one came to stand.
std::vector<Json> withSteps(std::vector<Json> prepare, const std::vector<Json>& added, int* place = nullptr);

bool isLeftOut(const std::vector<Json>& prepare, const std::string& column);
std::vector<Json> withoutColumn(std::vector<Json> prepare, const std::string& column);  // left out, and out of joins
std::vector<Json> withColumn(std::vector<Json> prepare, const std::string& column);     // what left it out is gone
// Its name behind all steps; another name takes the place of an earlier one, its own takes the step away.
std::string nameAfter(const std::vector<Json>& prepare, const std::string& column);
std::vector<Json> renamedColumn(std::vector<Json> prepare, const std::string& column, const std::string& to);
// The columns that are joined into `variable`: these and no others. None: the step goes.
std::vector<Json> joinedInto(std::vector<Json> prepare, const std::string& variable,
                             const std::vector<std::string>& columns);
// Into which vector a column is joined; empty = none.
std::string joinOf(const std::vector<Json>& prepare, const std::string& column);

}  // namespace loom
