// Resize and Unpooling: images of another size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/words.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/resampling.h"

namespace loom {
namespace resize_layer {

Entry entry() {
  Field scale{.key = "scale",
              .label = "Scale",
              .help = "Factor of each spatial axis, or one for all; the extent is ⌊in · scale⌋.",
              .type = FieldType::reals,
              .defaultValue = Json::array({2.0}),
              .hard = Range{1e-4, 1e4},
              .important = true};
  Field size{.key = "size",
             .label = "Size",
             .help = "Extents of the result, one for each spatial axis; given, they stand for the scale.",
             .type = FieldType::integers,
             .defaultValue = nullptr,
             .hard = Range{1, parts::kMostExtent},
             .optional = true,
             .important = true,
             .absent = "by scale"};
  Field rounding =
      parts::choiceField("rounding", "Rounding", "Which neighbour is the nearest.",
                         {{"prefer_floor", "Halves down", "The nearest; of two the lower (ONNX's default)."},
                          {"prefer_ceil", "Halves up", "The nearest; of two the higher."},
                          {"floor", "Down", "The one below (PyTorch's nearest)."},
                          {"ceil", "Up", "The one above."}});
  rounding.onlyWhen = "mode=nearest";
  rounding.important = false;
  Field cubic = parts::numberField("cubic", "Cubic coefficient", "Coefficient a of the cubic.", -0.75, Range{-2, 0});
  cubic.onlyWhen = "mode=cubic";
  cubic.important = false;
  return parts::completed(
      {.id = "Resize",
       .category = "pooling",
       .icon = "resize",
       .aliases = {"Upsample", "Interpolate"},
       .relatives = {{"BilinearUpsampling", "is Resize with \"mode\": \"linear\""}},
       .summary = "Makes an image larger or smaller: nearest, linear or cubic.",
       .help =
           "Each place p of the result is found at q in the input and read from its neighbours there; beyond the edge "
           "the "
           "value at the edge stands. With s = new / old, q is, by Coordinates:\n"
           "half_pixel (p + ½) / s − ½; pytorch_half_pixel the same, but 0 where the new extent is 1; align_corners "
           "p · (old − 1) / (new − 1); asymmetric p / s.\n\n"
           "PyTorch's nearest is asymmetric with Rounding down, its bilinear half_pixel; Keras' UpSampling2D the same; "
           "ONNX writes what it wants. Cubic takes four neighbours with Keys' weights, a = −0.75 (PyTorch, ONNX) or "
           "−0.5 "
           "(TensorFlow). Nothing is smoothed before shrinking.\n\n"
           "No parameters. Keys, Cubic convolution interpolation, IEEE 1981; ONNX operator Resize.",
       .inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")},
       .outputs = {parts::valuesOut("The same channels, new extents.")},
       .fields = {scale, size,
                  parts::choiceField("mode", "Mode", "How a value between others is found.",
                                     {{"nearest", "Nearest", "The nearest value."},
                                      {"linear", "Linear", "Between its neighbours: bilinear for images."},
                                      {"cubic", "Cubic", "Through four neighbours on each axis: bicubic for images."}}),
                  [] {
                    Field field = parts::choiceField(
                        "coordinates", "Coordinates", "Where a place of the result lies in the input.",
                        {{"half_pixel", "Half pixel", "Pixels are squares; their middles are compared."},
                         {"pytorch_half_pixel", "Half pixel, one is first",
                          "The same; a new extent of 1 reads the first."},
                         {"align_corners", "Aligned corners", "First and last values stay where they are."},
                         {"asymmetric", "Asymmetric", "Upper left corners are compared."}});
                    field.important = false;
                    return field;
                  }(),
                  rounding, cubic}});
}

std::size_t spatialAxes(const Shape& input) {
  if (input.rank() < 2)
    throw LayerError(
        fmt::format("the input is {}, but channels and at least one further axis are wanted, such as 64×8×8",
                    parts::shapeText(input)),
        "");
  return input.rank() - 1;
}

// One number for each spatial axis; a single one holds for all.
template <class Number>
Number ofAxis(const std::vector<Number>& numbers, const char* field, const Shape& input, std::int64_t axis) {
  const std::size_t axes = spatialAxes(input);
  if (numbers.size() != 1 && numbers.size() != axes)
    throw LayerError(
        fmt::format("'{}' has {}, but the input has {} spatial {}", field,
                    counted(static_cast<std::int64_t>(numbers.size()), "numbers"), axes, axes == 1 ? "axis" : "axes"),
        field);
  return numbers[numbers.size() == 1 ? 0 : static_cast<std::size_t>(axis - 1)];
}

// Places are found in 32 bits, as by ONNX Runtime: where one falls upon a value or midway between two, rounding decides
// which is the nearest, and files from elsewhere mean what comes of that.
float sourceOf(const std::string& coordinates, float place, float scale, float extent, float length) {
  if (coordinates == "align_corners") return length == 1 ? 0 : place * (extent - 1) / (length - 1);
  if (coordinates == "asymmetric") return place / scale;
  if (coordinates == "pytorch_half_pixel" && length == 1) return 0;
  return (place + 0.5F) / scale - 0.5F;
}

float nearest(const std::string& rounding, float at) {
  if (rounding == "floor") return std::floor(at);
  if (rounding == "ceil") return std::ceil(at);
  const bool half = std::abs(at - std::floor(at) - 0.5F) < 1e-6F;  // midway, but for what rounding left of it
  return half ? std::floor(at) + (rounding == "prefer_ceil" ? 1 : 0) : std::round(at);
}

// Of the four neighbours of a place that lies t behind the second.
void addCubic(AxisMap& map, double t, double a) {
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  for (double weight : {far(t + 1), near(t), near(1 - t), far(2 - t)}) map.weights.push_back(weight);
}

AxisMap mapOf(const Values& values, const Shape& input, std::int64_t axis) {
  if (axis == 0) return unchanged();
  const std::int64_t extent = input[axis];
  double scale = ofAxis(values.reals("scale"), "scale", input, axis);
  auto length = static_cast<std::int64_t>(std::floor(static_cast<double>(extent) * scale));
  if (values.has("size")) {
    length = ofAxis(values.integers("size"), "size", input, axis);
    scale = static_cast<double>(length) / static_cast<double>(extent);
  }
  if (length < 1 || length > static_cast<std::int64_t>(parts::kMostExtent))
    throw LayerError(
        fmt::format("'scale' {} makes {} of the {} values on axis {} of {}, but 1 to {} are possible", scale, length,
                    extent, axis, parts::shapeText(input), static_cast<std::int64_t>(parts::kMostExtent)),
        "scale");
  const std::string mode = values.text("mode"), coordinates = values.text("coordinates");
  if (length == extent && scale == 1) return unchanged();
  AxisMap map;
  const auto inside = [&](double place) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0, extent - 1);
  };
  for (std::int64_t p = 0; p < length; ++p) {
    const float at = sourceOf(coordinates, static_cast<float>(p), static_cast<float>(scale), static_cast<float>(extent),
                              static_cast<float>(length));
    const double low = std::floor(at), t = at - low;
    if (mode == "nearest") {
      map.addRow({inside(nearest(values.text("rounding"), at))});
    } else if (mode == "linear") {
      map.addRow({inside(low), inside(low + 1)});
      map.weights.insert(map.weights.end(), {1 - t, t});
    } else {
      map.addRow({inside(low - 1), inside(low), inside(low + 1), inside(low + 2)});
      addCubic(map, t, values.real("cubic"));
    }
  }
  return map;
}

MapOfAxis mapOf(const Values& values, const Shape& input) {
  return [&values, input](std::int64_t axis, std::int64_t) { return mapOf(values, input, axis); };
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  spatialAxes(arguments.inputs[0]);
  return {resampledShape(arguments.inputs[0], mapOf(arguments.values, arguments.inputs[0]))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {resampled(arguments, mapOf(arguments.values, parts::sampleShape(arguments)))};
}

Entry unpoolingEntry() {
  return parts::completed(
      {.id = "Unpooling",
       .category = "pooling",
       .icon = "resize",
       .aliases = {"UpSampling2D", "UpSampling1D", "UpSampling3D", "UpsamplingNearest2d", "RepeatPixels"},
       .summary = "Repeats each value over a window: the way back from a pooling.",
       .help = "y[c, p] = x[c, ⌊p / kernel⌋] on each spatial axis: an image becomes larger by whole "
               "factors, without new values. Resize interpolates instead.\n\nNo parameters.",
       .inputs = {parts::valuesIn("Channels × spatial axes.")},
       .outputs = {parts::valuesOut("The same channels, extents times the kernel.")},
       .fields = {{.key = "kernel",
                   .label = "Kernel",
                   .help = "How often each value stands on each spatial axis; one number for all.",
                   .type = FieldType::integers,
                   .defaultValue = Json::array({2, 2}),
                   .hard = Range{1, 4096},
                   .important = true}}});
}

MapOfAxis unpoolingMap(const Values& values, const Shape& input) {
  return [&values, input](std::int64_t axis, std::int64_t extent) {
    AxisMap map;
    if (axis == 0) return map;
    const std::int64_t times = ofAxis(values.integers("kernel"), "kernel", input, axis);
    for (std::int64_t p = 0; times > 1 && p < extent * times; ++p) map.addRow({p / times});
    return map;
  };
}

std::vector<Shape> unpoolingShapes(const ShapeArguments& arguments) {
  spatialAxes(arguments.inputs[0]);
  return {resampledShape(arguments.inputs[0], unpoolingMap(arguments.values, arguments.inputs[0]))};
}

std::vector<TensorId> lowerUnpooling(const LowerArguments& arguments) {
  return {resampled(arguments, unpoolingMap(arguments.values, parts::sampleShape(arguments)))};
}

}  // namespace resize_layer

const LayerDefinition& defineResizeLayer() {
  using namespace resize_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

const LayerDefinition& defineUnpoolingLayer() {
  using namespace resize_layer;
  static const LayerDefinition definition{unpoolingEntry(), unpoolingShapes, lowerUnpooling};
  return definition;
}

}  // namespace loom
