#include "engine/layers/entry_parts.h"

#include <fmt/format.h>

#include "engine/layers/layer_error.h"

namespace loom::parts {

Field axisField(std::string help, Json defaultValue) {
  return {.key = "axis",
          .label = "Axis",
          .help = std::move(help),
          .type = FieldType::integer,
          .defaultValue = std::move(defaultValue),
          .hard = Range{-8, 7}};
}

std::int64_t axisOf(std::string_view field, std::int64_t axis, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  const std::string message = fmt::format("'{}' is {}, but the input {} has {} {} ({} to {})", field, axis,
                                          shapeText(shape), rank, rank == 1 ? "axis" : "axes", -rank, rank - 1);
  throw LayerError(message, std::string(field), rank > 0 ? Json(axis < 0 ? -rank : rank - 1) : Json(nullptr));
}

Field biasField() {
  return {.key = "bias",
          .label = "Bias",
          .help =
              "Adds a learned number to each output channel. Leave it out before a BatchNormalization, which "
              "subtracts it again.",
          .type = FieldType::boolean,
          .defaultValue = true};
}

std::vector<Shape> sameShape(const ShapeArguments& arguments) {
  return {arguments.inputs[0]};
}

std::string shapeText(const Shape& shape) {
  return shape.rank() == 0 ? "a scalar" : shape.toString();
}

Shape withBatch(const LowerArguments& arguments, const Shape& sample) {
  return sample.prepended(arguments.builder.batch());
}

Shape sampleShape(const LowerArguments& arguments, std::size_t input) {
  return arguments.builder.shape(arguments.inputs[input]).withoutFirst();
}

TensorId reshaped(const LowerArguments& arguments, TensorId x, const Shape& sample) {
  const Shape shape = withBatch(arguments, sample);
  if (arguments.builder.shape(x) == shape) return x;
  return arguments.builder.add("reshape", {x}, {{"shape", shape.extents()}});
}

TensorId parameter(const LowerArguments& arguments, std::string_view name, Shape shape, ParameterKind kind,
                   Initializer initializer) {
  return arguments.builder.parameter({.name = fmt::format("{}/{}", arguments.scope, name),
                                      .shape = std::move(shape),
                                      .kind = kind,
                                      .initializer = initializer});
}

Entry activationEntry(Activation activation) {
  Entry entry;
  entry.id = entry.label = activation.id;
  entry.category = entry.icon = "activation";
  entry.aliases = std::move(activation.aliases);
  entry.summary = std::move(activation.summary);
  entry.help = std::move(activation.help);
  entry.inputs = {valuesIn("Values of any shape; the function is applied to each.")};
  entry.outputs = {valuesOut("The same shape.")};
  entry.fields = std::move(activation.fields);
  return entry;
}

}  // namespace loom::parts
