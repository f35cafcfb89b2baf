// The fields of a dataset.
#include "engine/network/project.h"

namespace loom {
namespace {

Entry dataset() {
  Entry entry;
  entry.id = entry.label = "Dataset";
  entry.category = "data";
  entry.icon = "data";
  entry.summary = "A CSV of samples, or some of its rows.";
  entry.help = "Columns are called as Sony Neural Network Console calls them: x:image, y:label, vectors x__0, x__1, …";
  entry.fields = {
      {.key = "csv",
       .label = "CSV",
       .help = "File with one sample a row; relative to the project.",
       .type = FieldType::file,
       .defaultValue = nullptr,
       .important = true},
      {.key = "origin",
       .label = "Origin",
       .help = "Where the CSV comes from or how to make it; told where it is not there.",
       .type = FieldType::text,
       .defaultValue = ""},
      {.key = "target",
       .label = "To be predicted",
       .help = "The column that a network is to learn; empty: the one that the network's loss compares with.",
       .type = FieldType::text,
       .defaultValue = ""},
      {.key = "first_row",
       .label = "First row",
       .help = "Leaves out the rows before; negative counts from the end: −5000 takes the last 5,000.",
       .type = FieldType::integer,
       .defaultValue = 0,
       .hard = Range{-1e12, 1e12},
       .unit = "rows"},
      {.key = "rows",
       .label = "Rows",
       .help = "How many rows are used from there; absent: all that follow.",
       .type = FieldType::integer,
       .defaultValue = nullptr,
       .hard = Range{1, 1e12},
       .unit = "rows",
       .optional = true},
      {.key = "hold_out",
       .label = "Held out",
       .help = "Share of these rows that is held out for validation; absent: none. Two datasets of one CSV with the "
               "same share, order, classes and seed, one of them the part held, are its two parts.",
       .type = FieldType::real,
       .defaultValue = nullptr,
       .hard = Range{1e-6, 1 - 1e-6},
       .optional = true},
      {.key = "part",
       .label = "Part",
       .help = "Which part this dataset is.",
       .type = FieldType::choice,
       .defaultValue = "rest",
       .choices = {{"rest", "The rest", "Rows that are not held out."},
                   {"held", "Held out", "Rows that are held out."}}},
      {.key = "hold_shuffled",
       .label = "Shuffled",
       .help = "Rows are held out here and there, as the seed says; otherwise the last ones are.",
       .type = FieldType::boolean,
       .defaultValue = true},
      {.key = "hold_by",
       .label = "Same share of each",
       .help = "Variable whose classes have the same share in both parts; empty: rows whatever their class.",
       .type = FieldType::text,
       .defaultValue = ""},
      {.key = "hold_group",
       .label = "Keep together",
       .help = "Column whose equal values stay in one part, all rows of a patient say; empty: none.",
       .type = FieldType::text,
       .defaultValue = ""},
      {.key = "hold_order",
       .label = "In order of",
       .help = "Column of numbers or dates in whose order the last rows are held out; empty: none.",
       .type = FieldType::text,
       .defaultValue = ""},
      {.key = "hold_seed",
       .label = "Seed of the split",
       .help = "Another seed holds out other rows.",
       .type = FieldType::integer,
       .defaultValue = 1,
       .hard = Range{0, 9007199254740991.0}},
      {.key = "separator",
       .label = "Separator",
       .help = "What stands between cells.",
       .type = FieldType::choice,
       .defaultValue = "auto",
       .choices = {{"auto", "Recognised", "As the first lines say."},
                   {"comma", "Comma", "1.5,2.5"},
                   {"semicolon", "Semicolon", "1,5;2,5"},
                   {"tab", "Tab", "A tab between cells."}}},
      {.key = "decimal",
       .label = "Decimal mark",
       .help = "What stands before the fraction of a number.",
       .type = FieldType::choice,
       .defaultValue = "auto",
       .choices = {{"auto", "Recognised", "As the first lines say."},
                   {"point", "Point", "1.5"},
                   {"comma", "Comma", "1,5"}}},
      {.key = "thousands",
       .label = "Thousands",
       .help = "What stands between thousands.",
       .type = FieldType::choice,
       .defaultValue = "auto",
       .choices = {{"auto", "Recognised", "As the first lines say."},
                   {"none", "Nothing", "1234567"},
                   {"comma", "Comma", "1,234,567"},
                   {"point", "Point", "1.234.567"},
                   {"blank", "Blank", "1 234 567"},
                   {"apostrophe", "Apostrophe", "1'234'567"}}},
      {.key = "encoding",
       .label = "Encoding",
       .help = "Which bytes are which letters.",
       .type = FieldType::choice,
       .defaultValue = "auto",
       .choices = {{"auto", "Recognised", "As the first bytes say."},
                   {"utf-8", "UTF-8", "With its mark or without."},
                   {"utf-16", "UTF-16", "As Excel's Unicode text is."},
                   {"windows-1252", "Windows-1252", "Western letters in one byte."}}},
      {.key = "header",
       .label = "Header",
       .help = "The first line names the columns; otherwise they are called c1, c2, …",
       .type = FieldType::boolean,
       .defaultValue = true}};
  return entry;
}

}  // namespace

const Entry& datasetEntry() {
  static const Entry entry = dataset();
  return entry;
}

}  // namespace loom
