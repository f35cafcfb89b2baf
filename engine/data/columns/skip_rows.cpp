#include "engine/data/columns/column_step.h"

namespace loom {

const ColumnStepDefinition& defineSkipRowsColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "SkipRows",
                .label = "Skip rows",
                .category = "columns",
                .icon = "filter",
                .aliases = {"DropRows", "DropNa"},
                .summary = "Leaves rows out that are no data",
                .help = "Rows are looked at as the file writes them, before all other steps. Lines are those of one "
                        "file: for another one (validation, a file to predict) they mean nothing and are passed over.",
                .fields = {{.key = "lines",
                            .label = "Lines",
                            .help = "Of the file, counted from 1.",
                            .type = FieldType::integers,
                            .defaultValue = Json::array(),
                            .hard = Range{1, 1e15},
                            .important = true},
                           {.key = "faulty",
                            .label = "All faulty ones",
                            .help =
                                "Rows with more or fewer cells than the header, with a word in a column of numbers, "
                                "the header once more, and whatever else the steps cannot do.",
                            .type = FieldType::boolean,
                            .defaultValue = false,
                            .important = true},
                           {.key = "numbers",
                            .label = "Numbers",
                            .help = "Columns in which a word makes a row faulty; empty = measured: those that hold "
                                    "numbers in most rows.",
                            .type = FieldType::texts,
                            .optional = true,
                            .absent = "measured"},
                           {.key = "missing",
                            .label = "Without",
                            .help = "Columns in which an empty cell leaves the row out.",
                            .type = FieldType::texts,
                            .defaultValue = Json::array(),
                            .important = true}}},
      .isMeasured = [](const Values& values) { return values.boolean("faulty") && !values.has("numbers"); }};
  return definition;
}

}  // namespace loom
