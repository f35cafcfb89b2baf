#pragma once
// What the entries of column steps share.
#include "engine/catalogue/entry.h"

namespace loom {

inline Field columnsField(std::string help = "The columns that it changes, each by itself.") {
  return {.key = "variable",
          .label = "Columns",
          .help = help + " A name of a column that became several, or of a vector, means all of them.",
          .type = FieldType::texts,
          .important = true};
}

}  // namespace loom
