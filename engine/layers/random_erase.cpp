// RandomErase: rectangles of each training image are replaced by noise.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/random_parts.h"
#include "engine/ops/resample.h"

namespace loom {
namespace random_erase_layer {

Field field(std::string key, std::string label, std::string help, Json value, double low, double high) {
  Field made = parts::numberField(std::move(key), std::move(label), std::move(help), std::move(value), {low, high});
  made.important = false;
  return made;
}

Entry entry() {
  Entry entry = parts::completed(
      {.id = "RandomErase",
       .category = "normalisation",
       .icon = "image",
       .aliases = {"RandomErasing"},
       .relatives = {{"RandomCutout", "is RandomErase with one value in place of noise"}},
       .summary = "Replaces rectangles of each image by noise in training, so that no part of it is relied upon.",
       .help =
           "In training each image loses with the given Probability a rectangle, and so as often as Patches says. Its "
           "area is a share of the image's that is drawn evenly from Least area to Largest area, its height divided by "
           "its width is drawn evenly from Least ratio to Largest ratio, and its place evenly among those where it "
           "fits: height = ⌊√(area · ratio)⌋, width = ⌊√(area / ratio)⌋, cut where the image ends. There y is drawn "
           "evenly from [Least value, Largest value) for each pixel and channel, and nothing flows back; elsewhere "
           "y = x. In validation and prediction nothing is changed.\n\n"
           "All of it is a function of the run's seed, the layer's name, the step and the sample, whatever the number "
           "of ranks. Zhong et al., arXiv 1708.04896; the numbers are those of Sony NNC, whose values here are 0 to 1, "
           "as those of a normalised image.\n\nNo parameters.",
       .inputs = {parts::valuesIn("Channels × height × width.")},
       .fields = {
           parts::numberField("probability", "Probability", "Share of images that lose a rectangle.", 0.5, Range{0, 1}),
           field("min_area", "Least area", "Least share of the image's area.", 0.02, 0, 1),
           field("max_area", "Largest area", "Largest share of the image's area.", 0.4, 0, 1),
           field("min_ratio", "Least ratio", "Least ratio of its height to its width.", 0.3, 0.001, 1000),
           field("max_ratio", "Largest ratio", "Largest ratio of its height to its width.", 3.3333, 0.001, 1000),
           field("low", "Least value", "Least value of the noise.", 0.0, -1e30, 1e30),
           field("high", "Largest value", "Bound of the noise, not reached; like the least: one value for all.", 1.0,
                 -1e30, 1e30),
           field("patches", "Patches", "How many rectangles, each with the given probability.", 1, 1, 64),
           parts::switchField("share", "All channels alike",
                              "A rectangle goes through all channels; without it each has its own.", true)}});
  return entry;
}

void needOrder(const Values& values, const char* low, const char* high) {
  if (values.real(low) > values.real(high))
    throw LayerError(
        fmt::format("'{}' is {}, but must not be above '{}', {}", low, values.real(low), high, values.real(high)), low,
        values.real(high));
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() != 3)
    throw LayerError(fmt::format("the input is {}, but channels × height × width is wanted, such as 3×32×32",
                                 parts::shapeText(input)),
                     "");
  needOrder(arguments.values, "min_area", "max_area");
  needOrder(arguments.values, "min_ratio", "max_ratio");
  needOrder(arguments.values, "low", "high");
  return {input};
}

// The rectangles of one patch number: tensors of N x channels x 1 x 1, with 1 channel where all are alike.
class Patch {
 public:
  Patch(const LowerArguments& arguments, std::int64_t number)
      : m_a(arguments), m_number(number), m_image(parts::sampleShape(arguments)) {}

  // N x channels x height x width: 1 where it erases, else 0.
  TensorId mask() const {
    const double height = static_cast<double>(m_image[1]), width = static_cast<double>(m_image[2]);
    const TensorId area =
        between(m_a.values.real("min_area") * height * width, m_a.values.real("max_area") * height * width, "area");
    const TensorId ratio = between(m_a.values.real("min_ratio"), m_a.values.real("max_ratio"), "ratio");
    const TensorId down = along(1, extentOf(parts::binary(m_a, "multiply", area, ratio), height), "row");
    const TensorId across = along(2, extentOf(parts::binary(m_a, "divide", area, ratio), width), "column");
    const TensorId uniform = between(0, 1, "chance");
    const TensorId chosen =
        parts::binary(m_a, "less", uniform, parts::number(m_a, uniform, m_a.values.real("probability")));
    const TensorId rows = parts::binary(m_a, "multiply", down, chosen);
    const Shape whole{channels(), m_image[1], m_image[2]};
    return parts::binary(m_a, "multiply", parts::stretchedTo(m_a, rows, whole), across);
  }

 private:
  std::int64_t channels() const { return m_a.values.boolean("share") ? 1 : m_image[0]; }
  TensorId between(double low, double high, const char* what) const {
    const TensorId numbers = randomNumbers(m_a, "uniform", {channels(), 1, 1}, fmt::format("{}{}", what, m_number));
    return parts::scaled(m_a, numbers, high - low, low);
  }
  TensorId extentOf(TensorId square, double most) const {
    const TensorId extent = parts::unary(m_a, "floor", parts::unary(m_a, "sqrt", square));
    return parts::binary(m_a, "minimum", extent, parts::number(m_a, extent, most));
  }
  // 1 at the places of this axis of the image from a random start on, `extent` of them, else 0.
  TensorId along(std::int64_t axis, TensorId extent, const char* what) const {
    AxisMap count;
    for (std::int64_t i = 0; i < m_image[axis]; ++i) {
      count.addRow({0});
      count.weights.push_back(static_cast<double>(i));
    }
    const TensorId numbers =
        m_a.builder.add("resample", {m_a.builder.constant(1, {1, 1, 1, 1})}, attributesOf(count, axis + 1));
    Shape shape{channels(), 1, 1};
    shape[axis] = m_image[axis];
    const TensorId places = parts::stretchedTo(m_a, numbers, shape);
    const TensorId free = parts::scaled(m_a, extent, -1, static_cast<double>(m_image[axis]) + 1);
    const TensorId first = parts::unary(m_a, "floor", parts::binary(m_a, "multiply", between(0, 1, what), free));
    const TensorId end = parts::binary(m_a, "add", first, extent);
    return parts::binary(m_a, "multiply", parts::binary(m_a, "greater_equal", places, first),
                         parts::binary(m_a, "less", places, end));
  }

  const LowerArguments& m_a;
  std::int64_t m_number;
  Shape m_image;
};

std::vector<TensorId> lower(const LowerArguments& a) {
  const TensorId x = a.inputs[0];
  const Values& values = a.values;
  if (!a.builder.training() || values.real("probability") == 0 || values.real("max_area") == 0) return {x};
  const Shape image = parts::sampleShape(a);
  TensorId mask = kNoTensor;
  for (std::int64_t number = 0; number < values.integer("patches"); ++number) {
    const TensorId one = Patch(a, number).mask();
    mask = mask == kNoTensor ? one : parts::binary(a, "maximum", mask, one);
  }
  const double low = values.real("low"), high = values.real("high");
  const TensorId noise = low == high ? parts::stretchedTo(a, parts::number(a, x, low), image)
                                     : parts::scaled(a, randomNumbers(a, "uniform", image, "noise"), high - low, low);
  return {a.builder.add("select", {parts::stretchedTo(a, mask, image), noise, x})};
}

}  // namespace random_erase_layer

const LayerDefinition& defineRandomEraseLayer() {
  using namespace random_erase_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
