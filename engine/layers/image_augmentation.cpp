// ImageAugmentation: each image of a training step a little different.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/random_parts.h"

namespace loom {
namespace image_augmentation_layer {

Field field(std::string key, std::string label, std::string help, double value, double low, double high) {
  Field made = parts::numberField(std::move(key), std::move(label), std::move(help), value, Range{low, high});
  made.important = false;
  return made;
}

Entry entry() {
  return parts::completed(
      {.id = "ImageAugmentation",
       .category = "normalisation",
       .icon = "image",
       .relatives = {{"RandomShift", "is ImageAugmentation with \"shift\""},
                     {"RandomCrop", "is ImageAugmentation with \"shift\""},
                     {"RandomFlip", "is ImageAugmentation with \"flip_horizontal\" or \"flip_vertical\""},
                     {"RandomRotation", "is ImageAugmentation with \"angle\""},
                     {"RandomZoom", "is ImageAugmentation with \"min_scale\" and \"max_scale\""}},
       .summary = "Moves, turns, scales, mirrors and tints images at random in training.",
       .help =
           "In training each image is read through an affine map of its own (between pixels bilinearly, 0 outside): "
           "shifted by up to "
           "Shift pixels each way, turned by up to Angle degrees, scaled by Scale, stretched by up to Aspect ratio, "
           "bent along the radius by Distortion, mirrored left and "
           "right or top and bottom with probability ½. Then contrast and brightness change: y = (x − ½) · c + ½ + b, "
           "c evenly in "
           "[1 / Contrast, Contrast] by its logarithm, b evenly within ± Brightness; at last noise is added. What a "
           "field leaves at its "
           "default costs nothing. In validation and prediction nothing is changed.\n\n"
           "All of it is a function of the run's seed, the layer's name, the step and the sample. A dataset's own "
           "preparation does the "
           "common part of this while it reads, at less cost.\n\n"
           "Distortion D makes barrels and pincushions: a place of the result at the distance r from the middle, of "
           "which the middles of the edges have 1, is first moved to r (1 + d r²) / (1 + d), with d = eᵘ − 1 and u "
           "evenly in [−D, D], as in Sony NNC.\n\nNo parameters.",
       .inputs = {parts::valuesIn("Channels × height × width, values about 0 to 1.")},
       .fields = {
           field("shift", "Shift", "Largest shift in pixels, each way.", 0, 0, 4096),
           field("angle", "Angle", "Largest turn in degrees, either way.", 0, 0, 180),
           field("min_scale", "Least scale", "Least factor by which it appears.", 1, 0.01, 100),
           field("max_scale", "Largest scale", "Largest factor by which it appears.", 1, 0.01, 100),
           field("aspect_ratio", "Aspect ratio", "Largest ratio of width to height, and of height to width.", 1, 1,
                 100),
           field("distortion", "Distortion", "Strength of barrel and pincushion distortion; 0.3 is visible.", 0, 0, 4),
           parts::switchField("flip_horizontal", "Flip left-right", "Mirrors every second image left and right.",
                              false),
           parts::switchField("flip_vertical", "Flip top-bottom", "Mirrors every second image top and bottom.", false),
           field("brightness", "Brightness", "Largest number that is added, either sign.", 0, 0, 1000),
           field("contrast", "Contrast", "Largest factor about the middle; its inverse the least.", 1, 1, 1000),
           field("noise", "Noise", "Standard deviation of the noise on each value.", 0, 0, 1000)}});
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const Values& values = arguments.values;
  if (input.rank() != 3)
    throw LayerError(fmt::format("the input is {}, but channels × height × width is wanted, such as 3×32×32",
                                 parts::shapeText(input)),
                     "");
  if (values.real("min_scale") > values.real("max_scale"))
    throw LayerError(fmt::format("'min_scale' is {}, but must not be above 'max_scale', {}", values.real("min_scale"),
                                 values.real("max_scale")),
                     "min_scale", values.real("max_scale"));
  return {input};
}

// One number a sample, N x 1.
class Draws {
 public:
  explicit Draws(const LowerArguments& arguments) : m_arguments(arguments) {}
  TensorId between(double low, double high, std::string_view what) const {
    if (low == high) return all(low);
    return parts::scaled(m_arguments, randomNumbers(m_arguments, "uniform", {1}, what), high - low, low);
  }
  // -1 or 1.
  TensorId side(bool draws, std::string_view what) const {
    if (!draws) return all(1);
    const TensorId numbers = randomNumbers(m_arguments, "uniform", {1}, what);
    return parts::scaled(m_arguments,
                         parts::binary(m_arguments, "less", numbers, parts::number(m_arguments, numbers, 0.5)), -2, 1);
  }
  TensorId all(double value) const { return m_arguments.builder.constant(value, {m_arguments.builder.batch(), 1}); }

 private:
  const LowerArguments& m_arguments;
};

bool moves(const Values& values) {
  return values.real("shift") != 0 || values.real("angle") != 0 || values.real("min_scale") != 1 ||
         values.real("max_scale") != 1 || values.real("aspect_ratio") != 1 || values.real("distortion") != 0 ||
         values.boolean("flip_horizontal") || values.boolean("flip_vertical");
}

// From places of the result to places of the image: bent, mirrored, turned, divided by the scales, shifted.
TensorId maps(const LowerArguments& a) {
  const Values& values = a.values;
  const Draws draws(a);
  const double angle = values.real("angle") * std::numbers::pi / 180,
               stretch = std::log(values.real("aspect_ratio")) / 2, shift = values.real("shift");
  const TensorId turn = draws.between(-angle, angle, "angle"), cosine = parts::unary(a, "cos", turn),
                 sine = parts::unary(a, "sin", turn);
  const TensorId shrink =
      parts::unary(a, "reciprocal", draws.between(values.real("min_scale"), values.real("max_scale"), "scale"));
  const TensorId ratio = parts::unary(a, "exp", draws.between(-stretch, stretch, "aspect"));
  const TensorId alongX = parts::binary(a, "divide", shrink, ratio),
                 alongY = parts::binary(a, "multiply", shrink, ratio);
  const TensorId mirrorX = draws.side(values.boolean("flip_horizontal"), "flip_horizontal"),
                 mirrorY = draws.side(values.boolean("flip_vertical"), "flip_vertical");
  const auto product = [&](TensorId x, TensorId y, TensorId z) {
    return parts::binary(a, "multiply", parts::binary(a, "multiply", x, y), z);
  };
  std::vector<TensorId> numbers = {
      product(cosine, alongX, mirrorX),        product(sine, alongX, mirrorY),
      draws.between(-shift, shift, "shift_x"), parts::unary(a, "negative", product(sine, alongY, mirrorX)),
      product(cosine, alongY, mirrorY),        draws.between(-shift, shift, "shift_y")};
  if (const double most = values.real("distortion"); most != 0)
    numbers.push_back(parts::scaled(a, parts::unary(a, "exp", draws.between(-most, most, "distortion")), 1, -1));
  return a.builder.add("concatenate", std::move(numbers), {{"axis", std::int64_t{1}}});
}

// N x 1 as N x 1 x 1 x 1.
TensorId overImage(const LowerArguments& a, TensorId x) {
  return parts::reshaped(a, x, {1, 1, 1});
}

std::vector<TensorId> lower(const LowerArguments& a) {
  TensorId x = a.inputs[0];
  if (!a.builder.training()) return {x};
  const Values& values = a.values;
  const Draws draws(a);
  if (moves(values)) x = a.builder.add("warp", {x, maps(a)});
  if (const double most = std::log(values.real("contrast")); most != 0) {
    const TensorId factor = parts::unary(a, "exp", draws.between(-most, most, "contrast"));
    x = parts::scaled(a, parts::binary(a, "multiply", parts::scaled(a, x, 1, -0.5), overImage(a, factor)), 1, 0.5);
  }
  if (const double most = values.real("brightness"); most != 0)
    x = parts::binary(a, "add", x, overImage(a, draws.between(-most, most, "brightness")));
  if (const double deviation = values.real("noise"); deviation != 0)
    x = parts::binary(a, "add", x,
                      parts::scaled(a, randomNumbers(a, "normal", parts::sampleShape(a), "noise"), deviation));
  return {x};
}

}  // namespace image_augmentation_layer

const LayerDefinition& defineImageAugmentationLayer() {
  using namespace image_augmentation_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
