#include "engine/data/prepare_step.h"

namespace loom {
namespace {

MultiplyAdd valuesOfScale(const Values& given, std::size_t) {
  return {{given.real("by")}, {given.real("add")}};
}

}  // namespace

const PrepareStep& defineScaleStep() {
  static const PrepareStep step{.entry = {.id = "Scale",
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
                                                     variableField()}},
                                .values = valuesOfScale};
  return step;
}

}  // namespace loom
