#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/step_fields.h"

namespace loom {

const ColumnStepDefinition& defineJoinColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "Join",
                .label = "Join",
                .category = "columns",
                .icon = "columns",
                .aliases = {"Concatenate columns", "Assemble", "VectorAssembler"},
                .summary = "Puts columns side by side into one vector for one Input",
                .help =
                    "The columns, as they are after the steps before, in the order in which they are named. A column "
                    "that became several (one-hot classes, parts of a date) gives all of them.",
                .fields = {columnsField("The columns, in the order of the vector."),
                           {.key = "into",
                            .label = "Into",
                            .help = "Name of the vector.",
                            .type = FieldType::text,
                            .defaultValue = "x",
                            .important = true}}},
      .arrange = [](const Values& values, const std::vector<std::size_t>& meant, ColumnTable& table) {
        const std::string into = values.text("into");
        if (into.empty() || into.find(':') != std::string::npos || into.find("__") != std::string::npos)
          throwError(ErrorCode::badProject,
                     "step Join of prepare: '{}' names no vector; a name without ':' and '__' is needed", into);
        if (meant.empty()) return;
        std::vector<ColumnTable::Slot> joined, all;
        for (const std::size_t slot : meant) {
          joined.push_back(table.slots[slot]);
          joined.back().label = joined.back().name;
          joined.back().name = fmt::format("{}__{}", into, joined.size() - 1);
        }
        const std::size_t first = *std::min_element(meant.begin(), meant.end());
        for (std::size_t i = 0; i < table.slots.size(); ++i) {
          if (i == first) all.insert(all.end(), joined.begin(), joined.end());
          if (std::find(meant.begin(), meant.end(), i) == meant.end()) all.push_back(table.slots[i]);
        }
        table.slots = std::move(all);
      }};
  return definition;
}

}  // namespace loom
