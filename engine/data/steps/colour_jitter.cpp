#include <algorithm>

#include "engine/data/colour.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

class Jitter : public PictureStep {
 public:
  Jitter(double brightness, double contrast, double saturation, double hue)
      : m_strengths{brightness, contrast, saturation, hue} {}

  void apply(const PictureView& in, const SampleDraw& draw, Picture& out) const override {
    out.make(in.type, in.channels, in.rows, in.columns);
    std::copy_n(in.bytes, out.bytes.size(), out.bytes.data());
    const Philox::Block words = draw.words(), order = draw.words(1);
    int kinds[] = {0, 1, 2, 3};
    for (std::size_t left = 4; left > 1; --left)
      std::swap(kinds[left - 1], kinds[std::uint64_t{order[left - 1]} * left >> 32]);
    for (const int kind : kinds) {
      const double strength = m_strengths[kind];
      if (strength == 0) continue;
      const double drawn = double{Philox::toUniform(words[static_cast<std::size_t>(kind)])};
      const double low = std::max(1 - strength, 0.0), factor = low + (1 + strength - low) * drawn;
      if (kind == 0) brighten(out, factor);
      if (kind == 1) contrast(out, factor);
      if (kind == 2) saturate(out, factor);
      if (kind == 3) turnHue(out, strength * (2 * drawn - 1));
    }
  }

 private:
  double m_strengths[4];
};

void addColourJitter(const Values& given, PreparationPlan& plan) {
  needImage(plan, "changes the colours of");
  if (plan.random)
    plan.compute(std::make_shared<Jitter>(given.real("brightness"), given.real("contrast"), given.real("saturation"),
                                          given.real("hue")));
}

Field strengthField(std::string key, std::string label, std::string help, double most) {
  return {.key = std::move(key),
          .label = std::move(label),
          .help = std::move(help),
          .type = FieldType::real,
          .defaultValue = 0.0,
          .hard = Range{0, most},
          .important = true};
}

}  // namespace

const PrepareStep& defineColourJitterStep() {
  static const PrepareStep step{
      .entry = {.id = "ColourJitter",
                .label = "Colour jitter",
                .category = "random",
                .icon = "sliders",
                .aliases = {"ColorJitter"},
                .summary = "Changes brightness, contrast, saturation and hue of pictures at random",
                .help = "As torchvision does it: each by a random amount, in random order, anew in every epoch. Left "
                        "out in validation. Grey pictures have brightness and contrast alone.",
                .fields = {strengthField("brightness", "Brightness",
                                         "Pixels are multiplied with 1 minus to 1 plus so much.", 10),
                           strengthField(
                               "contrast", "Contrast",
                               "Their distance from the mean grey is multiplied with 1 minus to 1 plus so much.", 10),
                           strengthField("saturation", "Saturation",
                                         "Their distance from grey is multiplied with 1 minus to 1 plus so much.", 10),
                           strengthField("hue", "Hue", "Turned by up to such a part of the circle, either way.", 0.5),
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .computes = true,
      .add = addColourJitter};
  return step;
}

}  // namespace loom
