#include "engine/data/colour.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

class Colouring : public PictureStep {
 public:
  explicit Colouring(bool grey) : m_grey(grey) {}
  void apply(const PictureView& in, const SampleDraw&, Picture& out) const override {
    m_grey ? toGrey(in, out) : toColour(in, out);
  }

 private:
  bool m_grey;
};

void addColours(const Values& given, PreparationPlan& plan) {
  needImage(plan, "changes the colours of");
  const bool grey = given.text("to") == "grey";
  const std::int64_t made = grey ? 1 : 3;
  const bool asItIs = plan.channels.fixed() && plan.channels.low == made;
  plan.channels = {made, made};
  if (!asItIs) plan.compute(std::make_shared<Colouring>(grey));
}

}  // namespace

const PrepareStep& defineColoursStep() {
  static const PrepareStep step{
      .entry = {.id = "Colours",
                .label = "Colours",
                .category = "shape",
                .icon = "sliders",
                .aliases = {"Greyscale", "Grayscale", "Convert"},
                .summary = "Makes every picture grey, or every picture RGB",
                .help = "For a column that holds grey and coloured pictures, or where colour says nothing. Alpha is "
                        "left out. The weights of ITU-R 601, as Pillow has them.",
                .fields = {{.key = "to",
                            .label = "To",
                            .help = "What every picture becomes.",
                            .type = FieldType::choice,
                            .defaultValue = "grey",
                            .choices = {{"grey", "Grey", "One channel."},
                                        {"rgb", "RGB", "Three channels; those of a grey picture are equal."}},
                            .important = true},
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .computes = true,
      .beforePacking = true,
      .add = addColours};
  return step;
}

}  // namespace loom
