// Activations that are made of several functions.
#include "engine/layers/entry_parts.h"
#include "engine/layers/rows.h"

namespace loom {
namespace bent_layers {

using Lower = std::vector<TensorId> (*)(const LowerArguments& arguments);

struct Row {
  Lower lower;
  Entry entry;
};

std::vector<TensorId> mish(const LowerArguments& a) {
  const TensorId x = a.inputs[0];
  return {parts::binary(a, "multiply", x, parts::unary(a, "tanh", parts::unary(a, "softplus", x)))};
}

std::vector<TensorId> logSigmoid(const LowerArguments& a) {
  const TensorId other = parts::unary(a, "softplus", parts::unary(a, "negative", a.inputs[0]));
  return {parts::unary(a, "negative", other)};
}

std::vector<TensorId> tanhShrink(const LowerArguments& a) {
  return {parts::binary(a, "subtract", a.inputs[0], parts::unary(a, "tanh", a.inputs[0]))};
}

// alpha elu(x / alpha), since what is positive passes as it is.
std::vector<TensorId> celu(const LowerArguments& a) {
  const double alpha = a.values.real("alpha");
  if (alpha == 1) return {parts::unary(a, "elu", a.inputs[0])};
  return {parts::scaled(a, parts::unary(a, "elu", parts::scaled(a, a.inputs[0], 1 / alpha)), alpha)};
}

std::vector<TensorId> thresholded(const LowerArguments& a) {
  const TensorId x = a.inputs[0];
  const TensorId passes = parts::binary(a, "greater", x, parts::number(a, x, a.values.real("alpha")));
  return {parts::binary(a, "multiply", x, passes)};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {mish,
       parts::activationEntry({.id = "Mish",
                               .summary = "Smooth and not monotonous, like Swish; used by YOLOv4.",
                               .help = "y = x · tanh(log(1 + eˣ)).\n\nMisra, Mish: a self regularized non-monotonic "
                                       "activation function, arXiv 1908.08681."})},
      {logSigmoid,
       parts::activationEntry({.id = "LogSigmoid",
                               .summary = "The logarithm of a sigmoid, without overflow.",
                               .help = "y = log(1 / (1 + e⁻ˣ)) = −softplus(−x): always negative, near x for "
                                       "very negative values."})},
      {tanhShrink,
       parts::activationEntry(
           {.id = "TanhShrink",
            .summary = "What tanh takes away: near 0 for small values.",
            .help = "y = x − tanh x. Small values become almost 0, large ones lose 1: what is weak is suppressed."})},
      {celu,
       parts::activationEntry(
           {.id = "CELU",
            .aliases = {"ContinuouslyDifferentiableELU"},
            .summary = "ELU whose slope is continuous for every α.",
            .help = "y = x for x > 0, α · (e^(x/α) − 1) otherwise.\n\nBarron, Continuously differentiable exponential "
                    "linear units, arXiv 1704.07483.",
            .fields = {parts::numberField("alpha", "Alpha", "What it tends to for very negative values, as −α.", 1.0,
                                          Range{1e-3, 1e3})}})},
      {thresholded, parts::activationEntry(
                        {.id = "ThresholdedReLU",
                         .summary = "Passes what is above a threshold, and 0 for the rest.",
                         .help = "y = x for x > α, 0 otherwise. Keras calls α theta.\n\nKonda et al., arXiv 1402.3337.",
                         .fields = {parts::numberField("alpha", "Threshold", "Threshold α.", 1.0, Range{-1e6, 1e6})}})},
  };
  return all;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return parts::rowOf(rows(), arguments.values).lower(arguments);
}

Entry preluEntry() {
  return parts::activationEntry(
      {.id = "PReLU",
       .aliases = {"ParametricReLU"},
       .summary = "ReLU with a learned slope for negative values.",
       .help = "y = x for x > 0, w · x otherwise. There is one slope w for each channel (the first axis of a sample), "
               "or one "
               "for all.\n\nParameters: weight, one number a channel (or one), beginning with 0.25; not decayed by "
               "default. "
               "He et al., Delving deep into rectifiers, arXiv 1502.01852.",
       .fields = {
           parts::switchField("shared", "Shared", "One slope for all channels instead of one for each.", false),
           parts::numberField("initial", "Initial slope", "The slope with which it begins.", 0.25, Range{-100, 100})}});
}

std::vector<TensorId> lowerPrelu(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const bool one = arguments.values.boolean("shared") || input.rank() == 0;
  const std::int64_t slopes = one ? 1 : input[0];
  TensorId slope = parts::parameter(arguments, "weight", {slopes}, ParameterKind::normalisation,
                                    {InitializerKind::constant, arguments.values.real("initial")});
  std::vector<std::int64_t> extents(input.rank() + 1, 1);
  if (!one) extents[1] = slopes;
  slope = arguments.builder.add("reshape", {slope}, {{"shape", extents}});
  // Below 0 what ReLU leaves out, times the slope.
  const TensorId x = arguments.inputs[0], above = parts::unary(arguments, "relu", x);
  const TensorId below = parts::binary(arguments, "multiply", parts::binary(arguments, "subtract", x, above), slope);
  return {parts::binary(arguments, "add", above, below)};
}

Entry creluEntry() {
  Entry entry = parts::activationEntry(
      {.id = "CReLU",
       .aliases = {"ConcatenatedReLU"},
       .summary = "ReLU of the values and of their negatives, one behind the other: twice the channels.",
       .help =
           "y = [max(x, 0), max(−x, 0)] along the axis: nothing is lost, and its extent doubles.\n\nShang et al., "
           "Understanding and improving convolutional neural networks via concatenated rectified linear units, arXiv "
           "1603.05201.",
       .fields = {parts::axisField("Axis that doubles: 0 = channels, −1 = the last.", 0)}});
  entry.outputs = {parts::valuesOut("The same shape with one extent doubled.")};
  return entry;
}

std::vector<Shape> creluShapes(const ShapeArguments& arguments) {
  Shape shape = arguments.inputs[0];
  shape[parts::axisOf("axis", arguments.values.integer("axis"), shape)] *= 2;
  return {shape};
}

std::vector<TensorId> lowerCrelu(const LowerArguments& arguments) {
  const TensorId x = arguments.inputs[0];
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), parts::sampleShape(arguments)) + 1;
  const TensorId other = parts::unary(arguments, "relu", parts::unary(arguments, "negative", x));
  return {arguments.builder.add("concatenate", {parts::unary(arguments, "relu", x), other}, {{"axis", axis}})};
}

Entry logSoftmaxEntry() {
  return parts::activationEntry(
      {.id = "LogSoftmax",
       .summary = "The logarithm of a softmax, without overflow.",
       .help = "y = x − log Σ eˣ along the axis, computed beside the largest value. For training, "
               "SoftmaxCrossEntropy has it inside.",
       .fields = {parts::axisField("Axis along which the probabilities add up to 1.", -1)}});
}

std::vector<Shape> logSoftmaxShapes(const ShapeArguments& arguments) {
  parts::axisOf("axis", arguments.values.integer("axis"), arguments.inputs[0]);
  return {arguments.inputs[0]};
}

std::vector<TensorId> lowerLogSoftmax(const LowerArguments& a) {
  const std::vector<std::int64_t> axes{parts::axisOf("axis", a.values.integer("axis"), parts::sampleShape(a))};
  const TensorId x = a.inputs[0];
  const TensorId largest = a.builder.add("stop_gradient", {parts::reduced(a, "maximum", x, axes, true)});
  const TensorId rest = parts::binary(a, "subtract", x, largest);
  const TensorId sum = parts::reduced(a, "sum", parts::unary(a, "exp", rest), axes, true);
  return {parts::binary(a, "subtract", rest, parts::unary(a, "log", sum))};
}

}  // namespace bent_layers

#define LOOM_BENT_LAYER(ID) LOOM_ROW_LAYER(ID, bent_layers::rows, parts::sameShape, bent_layers::lower)
LOOM_BENT_LAYER(Mish)
LOOM_BENT_LAYER(LogSigmoid)
LOOM_BENT_LAYER(TanhShrink)
LOOM_BENT_LAYER(CELU)
LOOM_BENT_LAYER(ThresholdedReLU)

const LayerDefinition& definePReLULayer() {
  using namespace bent_layers;
  static const LayerDefinition definition{preluEntry(), parts::sameShape, lowerPrelu};
  return definition;
}
const LayerDefinition& defineCReLULayer() {
  using namespace bent_layers;
  static const LayerDefinition definition{creluEntry(), creluShapes, lowerCrelu};
  return definition;
}
const LayerDefinition& defineLogSoftmaxLayer() {
  using namespace bent_layers;
  static const LayerDefinition definition{logSoftmaxEntry(), logSoftmaxShapes, lowerLogSoftmax};
  return definition;
}

}  // namespace loom
