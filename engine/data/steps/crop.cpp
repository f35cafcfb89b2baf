#include "engine/base/error.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

void addCrop(const Values& given, PreparationPlan& plan) {
  const std::string position = given.text("position");
  WindowStep window{.kind = WindowKind::crop,
                    .position = position == "start"                   ? WindowPosition::start
                                : position == "random" && plan.random ? WindowPosition::random
                                                                      : WindowPosition::centre};
  const SizeGiven size = sizeGiven(given, "size", plan);
  window.rows = size.rows;
  window.columns = size.columns;
  const auto cut = [](Extents& extents, std::int64_t wanted) {
    if (extents.low < wanted)
      throwError(ErrorCode::badProject,
                 "{} is to be cut out, but the {} has {}; put a Pad to {} before it, or cut out less", wanted,
                 extents.fixed() ? "sample" : "shortest sample", extents.low, wanted);
    extents = {wanted, wanted};
  };
  if (plan.image) cut(plan.rows, size.rows);
  cut(plan.columns, size.columns);
  plan.move(window, {});
}

}  // namespace

const PrepareStep& defineCropStep() {
  static const PrepareStep step{
      .entry = {.id = "Crop",
                .label = "Crop",
                .category = "random",
                .icon = "crop",
                .aliases = {"RandomCrop", "CentreCrop", "CenterCrop"},
                .summary = "Cuts a piece of fixed size out of each sample",
                .help = "Images are cut to height × width, clips to a length. At a random place the network never sees "
                        "quite the same picture twice; validation then takes the centre.",
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
                           variableField()}},
      .means = PrepareStep::Means::samples,
      .add = addCrop};
  return step;
}

}  // namespace loom
