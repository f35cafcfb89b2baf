#include "engine/data/loader.h"

namespace loom {
namespace {

Field variableField() {
  return {.key = "variable",
          .label = "Columns",
          .help =
              "The columns, or vectors of columns, that it applies to, each by itself. Without one: every column that "
              "is no single "
              "number, so that labels stay as they are.",
          .type = FieldType::texts,
          .optional = true,
          .absent = "all but single numbers"};
}

Entry scaleEntry() {
  return {.id = "Scale",
          .label = "Scale",
          .category = "values",
          .icon = "sliders",
          .aliases = {"MulScalar", "Rescale"},
          .summary = "Multiplies every value and adds a number",
          .help = "y = x · by + add. Pixels of 0 … 255 become 0 … 1 with by = 1/255.",
          .fields = {{.key = "by",
                      .label = "By",
                      .help = "What values are multiplied with.",
                      .type = FieldType::real,
                      .defaultValue = 0.00392156862745098,
                      .hard = Range{-1e30, 1e30},
                      .important = true},
                     {.key = "add",
                      .label = "Add",
                      .help = "What is added afterwards.",
                      .type = FieldType::real,
                      .defaultValue = 0.0,
                      .hard = Range{-1e30, 1e30}},
                     variableField()}};
}

Entry normaliseEntry() {
  return {.id = "Normalise",
          .label = "Normalise",
          .category = "values",
          .icon = "normalise",
          .aliases = {"Normalize", "Standardise", "Standardize"},
          .summary = "Brings values to mean 0 and deviation 1",
          .help =
              "y = (x − mean) / deviation, with one number for all or one a channel (an image's channels, a table's "
              "columns, a vector's elements). Left "
              "empty, both are measured on the training set when training starts.",
          .fields = {{.key = "mean",
                      .label = "Mean",
                      .help = "One number, or one a channel; empty = measured on the training set.",
                      .type = FieldType::reals,
                      .hard = Range{-1e30, 1e30},
                      .optional = true,
                      .important = true,
                      .absent = "measured"},
                     {.key = "deviation",
                      .label = "Deviation",
                      .help = "One number, or one a channel; empty = measured on the training set.",
                      .type = FieldType::reals,
                      .hard = Range{1e-30, 1e30},
                      .optional = true,
                      .important = true,
                      .absent = "measured"},
                     variableField()}};
}

Entry cropEntry() {
  return {.id = "Crop",
          .label = "Crop",
          .category = "random",
          .icon = "crop",
          .aliases = {"RandomCrop", "CentreCrop", "CenterCrop"},
          .summary = "Cuts a piece of fixed size out of each sample",
          .help =
              "Images are cut to height × width, clips to a length. At a random place the network never sees quite the "
              "same picture twice; validation then "
              "takes the centre.",
          .fields = {{.key = "size",
                      .label = "Size",
                      .help = "Height and width of an image (one number for both), or the length of a clip.",
                      .type = FieldType::integers,
                      .hard = Range{1, 65535},
                      .important = true},
                     {.key = "position",
                      .label = "Position",
                      .help = "Where the piece is taken.",
                      .type = FieldType::choice,
                      .defaultValue = "random",
                      .choices = {{"random", "Random", "Another place in every epoch; the centre in validation."},
                                  {"centre", "Centre", "The middle."},
                                  {"start", "Start", "Top left, or the beginning of a clip."}}},
                     variableField()}};
}

Entry padEntry() {
  return {.id = "Pad",
          .label = "Pad",
          .category = "shape",
          .icon = "pad",
          .aliases = {"ZeroPad"},
          .summary = "Puts a border around each sample",
          .help =
              "Either by so many pixels on every side, or up to a size where a sample is smaller: clips of unequal "
              "length become equal by Pad and then Crop.",
          .fields = {{.key = "by",
                      .label = "By",
                      .help = "Pixels on each side, top and bottom, then left and right (one number for both), or "
                              "steps before and after a clip.",
                      .type = FieldType::integers,
                      .hard = Range{0, 65535},
                      .optional = true,
                      .important = true},
                     {.key = "to",
                      .label = "To",
                      .help = "Smallest height and width (one number for both), or smallest length of a clip.",
                      .type = FieldType::integers,
                      .hard = Range{1, 1 << 26},
                      .optional = true,
                      .important = true},
                     {.key = "value",
                      .label = "Value",
                      .help = "What the border holds, in the scale that values have at this step.",
                      .type = FieldType::real,
                      .defaultValue = 0.0,
                      .hard = Range{-1e30, 1e30}},
                     {.key = "position",
                      .label = "Position",
                      .help = "Where the sample lies within the padded size.",
                      .type = FieldType::choice,
                      .defaultValue = "centre",
                      .choices = {{"centre", "Centre", "The border is shared by both sides."},
                                  {"start", "Start", "The border follows at the end."}}},
                     variableField()}};
}

Entry flipEntry() {
  return {.id = "Flip",
          .label = "Flip",
          .category = "random",
          .icon = "flip",
          .aliases = {"RandomFlip", "HorizontalFlip", "Mirror"},
          .summary = "Mirrors images left to right at random",
          .help =
              "Each image is mirrored with the given probability, drawn anew in every epoch. Left out in validation. "
              "Not for pictures that mean something "
              "else when mirrored, such as digits.",
          .fields = {{.key = "probability",
                      .label = "Probability",
                      .help = "Of mirroring an image.",
                      .type = FieldType::real,
                      .defaultValue = 0.5,
                      .hard = Range{0, 1},
                      .important = true},
                     variableField()}};
}

Entry cutoutEntry() {
  return {
      .id = "Cutout",
      .label = "Cut-out",
      .category = "random",
      .icon = "crop",
      .aliases = {"RandomErasing", "CutOut"},
      .summary = "Blots out a rectangle at a random place of each image",
      .help =
          "The network must then look at more than one part of a picture (DeVries and Taylor, 2017). The rectangle's "
          "middle is any pixel, so that a part of it may fall outside. Left out in validation.",
      .fields = {{.key = "size",
                  .label = "Size",
                  .help = "Height and width of the rectangle (one number for both).",
                  .type = FieldType::integers,
                  .hard = Range{1, 65535},
                  .important = true},
                 {.key = "value",
                  .label = "Value",
                  .help = "What stands there then, in the scale that values have at this step.",
                  .type = FieldType::real,
                  .defaultValue = 0.0,
                  .hard = Range{-1e30, 1e30}},
                 variableField()}};
}

}  // namespace

std::vector<const Entry*> prepareEntries() {
  static const Entry entries[] = {scaleEntry(), normaliseEntry(), cropEntry(), padEntry(), flipEntry(), cutoutEntry()};
  std::vector<const Entry*> pointers;
  for (const Entry& entry : entries) pointers.push_back(&entry);
  return pointers;
}

}  // namespace loom
