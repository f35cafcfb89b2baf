#include "engine/data/prepare_step.h"

namespace loom {
namespace {

void addCutout(const Values& given, PreparationPlan& plan) {
  needImage(plan, "blots out parts of");
  if (!plan.random) return;
  const SizeGiven size = sizeGiven(given, "size", plan);
  plan.move({.kind = WindowKind::cut, .rows = size.rows, .columns = size.columns}, given.real("value"));
}

}  // namespace

const PrepareStep& defineCutoutStep() {
  static const PrepareStep step{
      .entry = {.id = "Cutout",
                .label = "Cut-out",
                .category = "random",
                .icon = "crop",
                .aliases = {"RandomErasing", "CutOut"},
                .summary = "Blots out a rectangle at a random place of each image",
                .help =
                    "The network must then look at more than one part of a picture (DeVries and Taylor, 2017). The "
                    "rectangle's middle is any pixel, so that a part of it may fall outside. Left out in validation.",
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
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .add = addCutout};
  return step;
}

}  // namespace loom
