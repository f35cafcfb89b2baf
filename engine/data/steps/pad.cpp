#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

void addPad(const Values& given, PreparationPlan& plan) {
  if (given.has("by") == given.has("to")) throwError(ErrorCode::badProject, "it needs either 'by' or 'to'");
  const bool by = given.has("by");
  const SizeGiven size = sizeGiven(given, by ? "by" : "to", plan);
  const auto grow = [&](Extents& extents, std::int64_t given) {
    extents = by ? Extents{extents.low + 2 * given, extents.high + 2 * given}
                 : Extents{std::max(extents.low, given), std::max(extents.high, given)};
  };
  if (plan.image) grow(plan.rows, size.rows);
  grow(plan.columns, size.columns);
  plan.move({.kind = by ? WindowKind::padBy : WindowKind::padTo,
             .position = given.text("position") == "start" ? WindowPosition::start : WindowPosition::centre,
             .rows = size.rows,
             .columns = size.columns},
            given.real("value"));
}

}  // namespace

const PrepareStep& definePadStep() {
  static const PrepareStep step{
      .entry = {.id = "Pad",
                .label = "Pad",
                .category = "shape",
                .icon = "pad",
                .aliases = {"ZeroPad"},
                .summary = "Puts a border around each sample",
                .help = "Either by so many pixels on every side, or up to a size where a sample is smaller: clips of "
                        "unequal length become equal by Pad and then Crop.",
                .fields = {{.key = "by",
                            .label = "By",
                            .help = "Pixels on each side, top and bottom, then left and right (one number for both), "
                                    "or steps before and after a clip.",
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
                           variableField()}},
      .means = PrepareStep::Means::samples,
      .add = addPad};
  return step;
}

}  // namespace loom
