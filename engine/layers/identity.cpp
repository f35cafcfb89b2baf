// Identity, StopGradient, Parameter, WorkingMemory: values as they are, and values that the network has by itself.
#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"

namespace loom {
namespace identity_layer {

Entry entry() {
  return parts::completed(
      {.id = "Identity",
       .category = "shape",
       .aliases = {"NoOp", "PassThrough"},
       .summary = "Passes its input as it is.",
       .help = "It costs nothing: a place to give a name to, or to wire many layers from.\n\nNo parameters."});
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.inputs[0]};
}

Entry stopEntry() {
  return parts::completed(
      {.id = "StopGradient",
       .category = "shape",
       .aliases = {"Detach", "BlockGradient"},
       .summary = "Passes its input as it is, and lets nothing flow back.",
       .help = "y = x; what stands before it learns nothing from what stands behind it: targets that a network "
               "makes for itself, or a part that shall stay as it is.\n\nNo parameters."});
}

std::vector<TensorId> lowerStop(const LowerArguments& arguments) {
  return {arguments.builder.add("stop_gradient", {arguments.inputs[0]})};
}

Field shapeField() {
  return {.key = "shape",
          .label = "Shape",
          .help = "Extents of the values; every sample gets the same.",
          .type = FieldType::shape,
          .defaultValue = Json::array({1}),
          .hard = Range{1, 2147483647},
          .important = true};
}

Entry parameterEntry() {
  Entry entry = parts::completed(
      {.id = "Parameter",
       .category = "inputOutput",
       .icon = "parameter",
       .aliases = {"Variable", "LearnedConstant", "Weight"},
       .summary = "Values that the network learns, without an input: a class token, a scale, a matrix.",
       .help = "Every sample of the batch gets the same values, which are trained like any weight (or stay as they "
               "are, without "
               "Trained). Layers of several inputs take them: Add, Multiply, MatrixProduct.\n\n"
               "Parameters: weight in the given shape.",
       .outputs = {parts::valuesOut("The values, the same for each sample.")},
       .fields = {shapeField(), parts::switchField("trained", "Trained", "Whether the optimizer changes it.", true)}});
  entry.inputs.clear();
  for (Field& field : initializerFields("zeros")) entry.fields.push_back(std::move(field));
  return entry;
}

std::vector<Shape> givenShape(const ShapeArguments& arguments) {
  return {Shape(arguments.values.integers("shape"))};
}

// The same for every sample.
TensorId forAll(const LowerArguments& arguments, TensorId values, const Shape& shape) {
  const TensorId one = arguments.builder.add("reshape", {values}, {{"shape", shape.prepended(1).extents()}});
  return parts::stretchedTo(arguments, one, shape);
}

std::vector<TensorId> lowerParameter(const LowerArguments& arguments) {
  const Shape shape(arguments.values.integers("shape"));
  const double last = shape.rank() == 0 ? 1 : static_cast<double>(shape[-1]);
  const Initializer begins = weightInitializer(arguments.values, {last, static_cast<double>(shape.elements()) / last});
  const Parameter parameter{.name = arguments.scope + "/weight",
                            .shape = shape,
                            .initializer = begins,
                            .isState = !arguments.values.boolean("trained")};
  return {forAll(arguments, arguments.builder.parameter(parameter), shape)};
}

Entry memoryEntry() {
  Entry entry = parts::completed(
      {.id = "WorkingMemory",
       .category = "inputOutput",
       .icon = "parameter",
       .aliases = {"Buffer"},
       .summary = "Values that stand beside the weights and are not learned: what a recurrence begins with.",
       .help = "Every sample gets the same values, 0 at first; they are kept in checkpoints and can be loaded, and no "
               "optimizer "
               "changes them. (Sony NNC uses it for what a loop begins with.)\n\nState: memory in the given shape.",
       .outputs = {parts::valuesOut("The values, the same for each sample.")},
       .fields = {shapeField()}});
  entry.inputs.clear();
  return entry;
}

std::vector<TensorId> lowerMemory(const LowerArguments& arguments) {
  const Shape shape(arguments.values.integers("shape"));
  const TensorId values =
      arguments.builder.state({.name = arguments.scope + "/memory", .shape = shape, .isState = true});
  return {forAll(arguments, values, shape)};
}

}  // namespace identity_layer

const LayerDefinition& defineIdentityLayer() {
  using namespace identity_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}
const LayerDefinition& defineStopGradientLayer() {
  using namespace identity_layer;
  static const LayerDefinition definition{stopEntry(), parts::sameShape, lowerStop};
  return definition;
}
const LayerDefinition& defineParameterLayer() {
  using namespace identity_layer;
  static const LayerDefinition definition{parameterEntry(), givenShape, lowerParameter};
  return definition;
}
const LayerDefinition& defineWorkingMemoryLayer() {
  using namespace identity_layer;
  static const LayerDefinition definition{memoryEntry(), givenShape, lowerMemory};
  return definition;
}

}  // namespace loom
