#include "engine/data/prepare_step.h"

namespace loom {
namespace {

void addFlip(const Values& given, PreparationPlan& plan) {
  needImage(plan, "mirrors");
  if (plan.random) plan.move({.kind = WindowKind::flip, .probability = given.real("probability")}, {});
}

}  // namespace

const PrepareStep& defineFlipStep() {
  static const PrepareStep step{
      .entry = {.id = "Flip",
                .label = "Flip",
                .category = "random",
                .icon = "flip",
                .aliases = {"RandomFlip", "HorizontalFlip", "Mirror"},
                .summary = "Mirrors images left to right at random",
                .help = "Each image is mirrored with the given probability, drawn anew in every epoch. Left out in "
                        "validation. Not for pictures that mean something else when mirrored, such as digits.",
                .fields = {{.key = "probability",
                            .label = "Probability",
                            .help = "Of mirroring an image.",
                            .type = FieldType::real,
                            .defaultValue = 0.5,
                            .hard = Range{0, 1},
                            .important = true},
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .add = addFlip};
  return step;
}

}  // namespace loom
