#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/step_fields.h"

namespace loom {

const ColumnStepDefinition& defineRenameColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "Rename",
                .label = "Rename",
                .category = "columns",
                .icon = "rename",
                .summary = "Gives a column another name",
                .help = "An Input of a network takes the variable of its own name. Columns that came of one column, or "
                        "the elements of a vector, keep what stands behind the name.",
                .fields = {columnsField("The column that is renamed."),
                           {.key = "to",
                            .label = "To",
                            .help = "The new name; y:label says that it holds classes.",
                            .type = FieldType::text,
                            .important = true}}},
      .arrange = [](const Values& values, const std::vector<std::size_t>& meant, ColumnTable& table) {
        const std::string to = values.text("to");
        const std::vector<std::string> names = values.texts("variable");
        if (names.size() != 1 || to.empty() || to[0] == ':')
          throwError(ErrorCode::badProject, "step Rename of prepare: it needs one column and a name for it");
        const auto colon = to.find(':');
        for (const std::size_t slot : meant) {
          ColumnTable::Slot& one = table.slots[slot];
          const std::string behind = one.name.starts_with(names[0]) ? one.name.substr(names[0].size()) : "_" + one.name;
          one.name = to.substr(0, colon) + (meant.size() == 1 && behind.find("__") != 0 ? std::string() : behind);
          if (colon != std::string::npos) one.label = to.substr(colon + 1);
        }
      }};
  return definition;
}

}  // namespace loom
