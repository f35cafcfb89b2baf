#include "engine/data/columns/column_step.h"
#include "engine/data/columns/step_fields.h"

namespace loom {

const ColumnStepDefinition& defineLeaveOutColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "LeaveOut",
                .label = "Leave out",
                .category = "columns",
                .icon = "eye-off",
                .aliases = {"DropColumns", "Drop"},
                .summary = "Leaves columns out",
                .help = "The columns are not read; the file keeps them.",
                .fields = {columnsField("The columns that are left out.")}},
      .arrange = [](const Values&, const std::vector<std::size_t>& meant, ColumnTable& table) {
        std::vector<ColumnTable::Slot> kept;
        for (std::size_t i = 0; i < table.slots.size(); ++i)
          if (std::find(meant.begin(), meant.end(), i) == meant.end()) kept.push_back(table.slots[i]);
        table.slots = std::move(kept);
      }};
  return definition;
}

}  // namespace loom
