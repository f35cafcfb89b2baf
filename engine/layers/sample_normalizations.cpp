// Normalisations of each sample by itself: instance, group, root mean square, unit length.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/ops/normalisation.h"

namespace loom {
namespace sample_normalization {

Field epsilonField(double value) {
  return {.key = "epsilon",
          .label = "Epsilon",
          .help = "Added under the root.",
          .type = FieldType::real,
          .defaultValue = value,
          .hard = Range{1e-12, 1},
          .comfortable = Range{1e-12, 1e-2}};
}

Field scaleField() {
  return parts::switchField("scale", "Scale", "Learns γ. Without it γ is 1.", true);
}
Field shiftField() {
  return parts::switchField("shift", "Shift", "Learns β. Without it β is 0.", true);
}

// gamma y + beta, learned in this shape, which stands in the batch as `stretched`.
TensorId scaledAndShifted(const LowerArguments& arguments, TensorId y, const Shape& shape,
                          const std::vector<std::int64_t>& stretched) {
  const auto learned = [&](const char* name, InitializerKind begins) {
    const TensorId made = parts::parameter(arguments, name, shape, ParameterKind::normalisation, {begins});
    return arguments.builder.add("reshape", {made}, {{"shape", stretched}});
  };
  const Values& values = arguments.values;
  if (values.boolean("scale")) y = parts::binary(arguments, "multiply", y, learned("gamma", InitializerKind::ones));
  if (values.entry().field("shift") != nullptr && values.boolean("shift"))
    y = parts::binary(arguments, "add", y, learned("beta", InitializerKind::zeros));
  return y;
}

TensorId perChannel(const LowerArguments& arguments, TensorId y) {
  const Shape sample = parts::sampleShape(arguments);
  std::vector<std::int64_t> stretched(sample.rank() + 1, 1);
  stretched[1] = sample[0];
  return scaledAndShifted(arguments, y, {sample[0]}, stretched);
}

// Mean 0 and variance 1 in each of `groups` equal parts of a sample.
TensorId normalisedIn(const LowerArguments& arguments, std::int64_t groups) {
  const Shape sample = parts::sampleShape(arguments);
  const TensorId parted = parts::reshaped(arguments, arguments.inputs[0], {groups, sample.elements() / groups});
  const TensorId y = arguments.builder.add("layer_normalization", {parted, kNoTensor, kNoTensor},
                                           {{"epsilon", arguments.values.real("epsilon")}, {"axes", std::int64_t{1}}});
  return parts::reshaped(arguments, y, sample);
}

Entry instanceEntry() {
  return parts::completed(
      {.id = "InstanceNormalization",
       .category = "normalisation",
       .aliases = {"InstanceNorm", "InstanceNorm2d"},
       .summary = "Gives every channel of every image mean 0 and variance 1, then a learned scale and shift.",
       .help = "y = γ · (x − mean) / √(variance + ε) + β, with mean and variance over the places of each channel of "
               "each sample "
               "by itself. It takes contrast out of images: style transfer uses it. The same in training and "
               "prediction.\n\n"
               "Parameters: gamma and beta, one a channel (not decayed by default). Ulyanov et al., arXiv 1607.08022.",
       .inputs = {parts::valuesIn("Channels × spatial axes.")},
       .fields = {epsilonField(ops::kNormalisationEpsilon), scaleField(), shiftField()}});
}

std::vector<Shape> instanceShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() < 2)
    throw LayerError(
        fmt::format("the input is {}, but channels and at least one further axis are wanted, such as 64×8×8",
                    parts::shapeText(input)),
        "");
  return {input};
}

std::vector<TensorId> lowerInstance(const LowerArguments& arguments) {
  return {perChannel(arguments, normalisedIn(arguments, parts::sampleShape(arguments)[0]))};
}

Entry groupEntry() {
  return parts::completed(
      {.id = "GroupNormalization",
       .category = "normalisation",
       .aliases = {"GroupNorm", "GN"},
       .summary = "Normalises groups of channels of each sample: BatchNormalization for small batches.",
       .help =
           "y = γ · (x − mean) / √(variance + ε) + β, with mean and variance over a group of neighbouring channels and "
           "all "
           "their places, for each sample by itself. It needs no batch. One group is a LayerNormalization of the whole "
           "sample, as many as channels an InstanceNormalization.\n\n"
           "Parameters: gamma and beta, one a channel (not decayed by default). Wu and He, arXiv 1803.08494.",
       .inputs = {parts::valuesIn("Channels first.")},
       .fields = {parts::numberField("groups", "Groups", "Parts into which the channels are split.", 32,
                                     Range{1, parts::kMostChannels}),
                  epsilonField(ops::kNormalisationEpsilon), scaleField(), shiftField()}});
}

std::vector<Shape> groupShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::int64_t groups = arguments.values.integer("groups");
  if (input.rank() == 0 || input[0] % groups != 0) {
    std::int64_t fits = input.rank() == 0 ? 1 : std::min(groups, input[0]);
    while (input.rank() > 0 && input[0] % fits != 0) --fits;
    throw LayerError(
        fmt::format("the channels of {} cannot be split into {} groups of equal size", parts::shapeText(input), groups),
        "groups", fits);
  }
  return {input};
}

std::vector<TensorId> lowerGroup(const LowerArguments& arguments) {
  return {perChannel(arguments, normalisedIn(arguments, arguments.values.integer("groups")))};
}

std::int64_t trailingAxes(const Values& values, const Shape& input) {
  const auto rank = static_cast<std::int64_t>(input.rank());
  const std::int64_t axes = values.integer("axes");
  if (axes > rank)
    throw LayerError(fmt::format("'axes' is {}, but the input {} has only {}", axes, parts::shapeText(input), rank),
                     "axes", std::max<std::int64_t>(rank, 1));
  return axes;
}

std::vector<Shape> trailingShapes(const ShapeArguments& arguments) {
  trailingAxes(arguments.values, arguments.inputs[0]);
  return {arguments.inputs[0]};
}

std::vector<std::int64_t> lastAxes(const Shape& input, std::int64_t count) {
  std::vector<std::int64_t> axes;
  for (auto axis = static_cast<std::int64_t>(input.rank()) - count; axis < static_cast<std::int64_t>(input.rank());
       ++axis)
    axes.push_back(axis);
  return axes;
}

Field axesField() {
  return {.key = "axes",
          .label = "Axes",
          .help = "Number of trailing axes that are taken together.",
          .type = FieldType::integer,
          .defaultValue = 1,
          .hard = Range{1, 7}};
}

Entry rmsEntry() {
  return parts::completed(
      {.id = "RMSNormalization",
       .category = "normalisation",
       .aliases = {"RMSNorm", "SimplifiedLayerNormalization"},
       .summary = "Divides by the root of the mean square, then a learned scale: what newer transformers use.",
       .help = "y = γ · x / √(mean(x²) + ε), over the last axes of each sample. LayerNormalization without its mean "
               "and shift: "
               "cheaper, and as good in language models.\n\n"
               "Parameters: gamma in the shape of those axes (not decayed by default). Zhang and Sennrich, arXiv "
               "1910.07467.",
       .fields = {axesField(), epsilonField(1e-6), scaleField()}});
}

std::vector<TensorId> lowerRms(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t axes = trailingAxes(arguments.values, input);
  const TensorId x = arguments.inputs[0];
  const TensorId square =
      parts::reduced(arguments, "mean", parts::unary(arguments, "square", x), lastAxes(input, axes), true);
  const TensorId root =
      parts::unary(arguments, "reciprocal_sqrt", parts::scaled(arguments, square, 1, arguments.values.real("epsilon")));
  const std::vector<std::int64_t> learned(input.end() - axes, input.end());
  std::vector<std::int64_t> stretched(input.rank() + 1 - learned.size(), 1);
  stretched.insert(stretched.end(), learned.begin(), learned.end());
  return {scaledAndShifted(arguments, parts::binary(arguments, "multiply", x, root), Shape(learned), stretched)};
}

Entry lengthEntry() {
  return parts::completed({.id = "L2Normalization",
                           .category = "normalisation",
                           .aliases = {"LpNormalization", "UnitNormalization", "Normalize"},
                           .summary = "Gives vectors the length 1.",
                           .help = "y = x / √(Σ x² + ε) over the last axes of each sample: a product of two such "
                                   "vectors is the cosine of their "
                                   "angle.\n\nNo parameters.",
                           .fields = {axesField(), epsilonField(1e-12)}});
}

std::vector<TensorId> lowerLength(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const TensorId x = arguments.inputs[0];
  const TensorId square = parts::reduced(arguments, "sum", parts::unary(arguments, "square", x),
                                         lastAxes(input, trailingAxes(arguments.values, input)), true);
  const TensorId root =
      parts::unary(arguments, "reciprocal_sqrt", parts::scaled(arguments, square, 1, arguments.values.real("epsilon")));
  return {parts::binary(arguments, "multiply", x, root)};
}

}  // namespace sample_normalization

const LayerDefinition& defineInstanceNormalizationLayer() {
  using namespace sample_normalization;
  static const LayerDefinition definition{instanceEntry(), instanceShapes, lowerInstance};
  return definition;
}
const LayerDefinition& defineGroupNormalizationLayer() {
  using namespace sample_normalization;
  static const LayerDefinition definition{groupEntry(), groupShapes, lowerGroup};
  return definition;
}
const LayerDefinition& defineRMSNormalizationLayer() {
  using namespace sample_normalization;
  static const LayerDefinition definition{rmsEntry(), trailingShapes, lowerRms};
  return definition;
}
const LayerDefinition& defineL2NormalizationLayer() {
  using namespace sample_normalization;
  static const LayerDefinition definition{lengthEntry(), trailingShapes, lowerLength};
  return definition;
}

}  // namespace loom
