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

Entry completed(Entry entry) {
  if (entry.label.empty()) entry.label = entry.id;
  if (entry.icon.empty()) entry.icon = entry.category;
  if (entry.inputs.empty()) entry.inputs = {valuesIn("Any shape.")};
  if (entry.outputs.empty()) entry.outputs = {valuesOut("The same shape.")};
  return entry;
}

Field numberField(std::string key, std::string label, std::string help, Json defaultValue, Range hard) {
  return {.key = std::move(key),
          .label = std::move(label),
          .help = std::move(help),
          .type = defaultValue.is_number_integer() ? FieldType::integer : FieldType::real,
          .defaultValue = std::move(defaultValue),
          .hard = hard,
          .important = true};
}

Field switchField(std::string key, std::string label, std::string help, bool defaultValue) {
  return {.key = std::move(key),
          .label = std::move(label),
          .help = std::move(help),
          .type = FieldType::boolean,
          .defaultValue = defaultValue};
}

Field choiceField(std::string key, std::string label, std::string help, std::vector<Choice> choices) {
  Field field{.key = std::move(key),
              .label = std::move(label),
              .help = std::move(help),
              .type = FieldType::choice,
              .defaultValue = choices.front().id,
              .important = true};
  field.choices = std::move(choices);
  return field;
}

TensorId unary(const LowerArguments& arguments, const char* function, TensorId x) {
  return arguments.builder.add("unary", {x}, {{"function", std::string(function)}});
}

TensorId binary(const LowerArguments& arguments, const char* function, TensorId a, TensorId b) {
  return arguments.builder.add("binary", {a, b}, {{"function", std::string(function)}});
}

TensorId number(const LowerArguments& arguments, TensorId x, double value) {
  return arguments.builder.constant(value, Shape(std::vector<std::int64_t>(arguments.builder.shape(x).rank(), 1)));
}

TensorId scaled(const LowerArguments& arguments, TensorId x, double factor, double offset) {
  return arguments.builder.add("scale", {x}, {{"factor", factor}, {"offset", offset}});
}

TensorId reduced(const LowerArguments& arguments, const char* function, TensorId x,
                 const std::vector<std::int64_t>& axes, bool keep) {
  std::vector<std::int64_t> behindBatch;
  for (std::int64_t axis : axes) behindBatch.push_back(axis + 1);
  return arguments.builder.add("reduce", {x},
                               {{"function", std::string(function)}, {"axes", behindBatch}, {"keep", keep}});
}

TensorId stretchedTo(const LowerArguments& arguments, TensorId x, const Shape& sample) {
  const Shape wanted = withBatch(arguments, sample);
  if (arguments.builder.shape(x) == wanted) return x;
  return arguments.builder.add("broadcast", {x}, {{"shape", wanted.extents()}});
}

Entry activationEntry(Activation activation) {
  return completed({.id = std::move(activation.id),
                    .category = "activation",
                    .aliases = std::move(activation.aliases),
                    .summary = std::move(activation.summary),
                    .help = std::move(activation.help),
                    .inputs = {valuesIn("Values of any shape; the function is applied to each.")},
                    .fields = std::move(activation.fields)});
}

}  // namespace loom::parts
