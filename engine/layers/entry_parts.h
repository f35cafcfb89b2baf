#pragma once
// The parts that many entries share, so that equal things are called and explained alike.
#include <string>
#include <vector>

#include "engine/layers/layer.h"

namespace loom::parts {

// What a field of a whole layer may be at most: beyond these lie slips of the pen, and sums that overflow.
inline constexpr double kMostChannels = 1 << 20;
inline constexpr double kMostExtent = 65536;

inline Port valuesIn(std::string help = "What the layer works on.") {
  return {.key = "input", .label = "Input", .help = std::move(help)};
}
inline Port valuesOut(std::string help = "The result.") {
  return {.key = "output", .label = "Output", .help = std::move(help)};
}

// An axis of one sample: 0 = the first after the batch, negative from the end.
Field axisField(std::string help, Json defaultValue);
// The axis from 0; throws LayerError naming the field when the shape has no such axis.
std::int64_t axisOf(std::string_view field, std::int64_t axis, const Shape& shape);

Field biasField();

// The same shape as the only input: activations, normalisations, dropout.
std::vector<Shape> sameShape(const ShapeArguments& arguments);

// "3×32×32", "10": how messages name a sample's shape ("a scalar" for rank 0).
std::string shapeText(const Shape& shape);

// x with its batch axis before: the shape of a sample turned into one of the program.
Shape withBatch(const LowerArguments& arguments, const Shape& sample);
// The shape of one sample of an input tensor.
Shape sampleShape(const LowerArguments& arguments, std::size_t input = 0);
// x as this shape of a sample; x itself when it has it already.
TensorId reshaped(const LowerArguments& arguments, TensorId x, const Shape& sample);

TensorId parameter(const LowerArguments& arguments, std::string_view name, Shape shape, ParameterKind kind,
                   Initializer initializer);

// The entry with what goes without saying: label like the id, icon like the category, one input and one output of
// values.
Entry completed(Entry entry);
// A field that is one number, and one that says yes or no.
Field numberField(std::string key, std::string label, std::string help, Json defaultValue, Range hard);
Field switchField(std::string key, std::string label, std::string help, bool defaultValue);
Field choiceField(std::string key, std::string label, std::string help, std::vector<Choice> choices);

// Short for what lowerings emit often. `number` is a constant that stretches over anything of x's rank.
TensorId unary(const LowerArguments& arguments, const char* function, TensorId x);
TensorId binary(const LowerArguments& arguments, const char* function, TensorId a, TensorId b);
TensorId number(const LowerArguments& arguments, TensorId x, double value);
TensorId scaled(const LowerArguments& arguments, TensorId x, double factor, double offset = 0);
// `axes` of a sample (from 0); they stay with extent 1 where `keep`.
TensorId reduced(const LowerArguments& arguments, const char* function, TensorId x,
                 const std::vector<std::int64_t>& axes, bool keep);
// x with extents of 1 stretched to this shape of a sample; x itself when it has it already.
TensorId stretchedTo(const LowerArguments& arguments, TensorId x, const Shape& sample);

// A layer that is one elementwise function: help and formula stand in each layer's own file.
struct Activation {
  std::string id;
  std::vector<std::string> aliases;
  std::string summary;
  std::string help;
  std::vector<Field> fields;
};
Entry activationEntry(Activation activation);

}  // namespace loom::parts
