#include "engine/data/prepare_step.h"
#include "engine/data/resample.h"

namespace loom {
namespace {

class Rotating : public PictureStep {
 public:
  Rotating(double degrees, double fill) : m_degrees(degrees), m_fill(fill) {}
  void apply(const PictureView& in, const SampleDraw& draw, Picture& out) const override {
    rotate(in, m_degrees * (2 * double{Philox::toUniform(draw.words()[0])} - 1), m_fill, out);
  }

 private:
  double m_degrees, m_fill;
};

void addRotate(const Values& given, PreparationPlan& plan) {
  needImage(plan, "turns");
  if (plan.random) plan.compute(std::make_shared<Rotating>(given.real("degrees"), given.real("value")));
}

}  // namespace

const PrepareStep& defineRotateStep() {
  static const PrepareStep step{
      .entry = {.id = "Rotate",
                .label = "Rotate",
                .category = "random",
                .icon = "repeat",
                .aliases = {"RandomRotation"},
                .summary = "Turns pictures by a random angle",
                .help = "About the middle and in the same size, by another angle in every epoch. Left out in "
                        "validation.",
                .fields = {{.key = "degrees",
                            .label = "Degrees",
                            .help = "The angle is drawn from minus to plus so many.",
                            .type = FieldType::real,
                            .defaultValue = 10.0,
                            .hard = Range{0, 180},
                            .unit = "°",
                            .important = true},
                           {.key = "value",
                            .label = "Value",
                            .help = "The pixels of corners that were outside of the picture, 0 to 255.",
                            .type = FieldType::real,
                            .defaultValue = 0.0,
                            .hard = Range{0, 255}},
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .computes = true,
      .add = addRotate};
  return step;
}

}  // namespace loom
