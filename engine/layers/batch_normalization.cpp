#include "engine/layers/entry_parts.h"
#include "engine/ops/normalisation.h"

namespace loom {
namespace batch_normalization_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "BatchNormalization";
  entry.category = entry.icon = "normalisation";
  entry.aliases = {"BatchNorm", "BatchNorm2d", "BatchNorm1d", "BN"};
  entry.summary = "Gives every channel mean 0 and variance 1 over the batch, then a learned scale and shift.";
  entry.help =
      "y = γ · (x − mean) / √(variance + ε) + β for each channel. In training mean and variance are those of the "
      "batch (over samples and all places); running averages of them, new = momentum · old + (1 − momentum) · batch, "
      "take their place in validation and prediction. The running variance takes the unbiased estimate, as in "
      "PyTorch, whose momentum is 1 − this one.\n\n"
      "With very small batches the statistics are poor: LayerNormalization does without a batch. Over several ranks "
      "or accumulation passes each shard uses statistics of its own.\n\n"
      "Parameters: gamma and beta (not decayed by default), states mean and variance, one number a channel each. "
      "Ioffe and Szegedy, arXiv 1502.03167.";
  entry.inputs = {parts::valuesIn("Channels first: C, C×T, C×height×width.")};
  entry.outputs = {parts::valuesOut("The same shape.")};
  entry.fields = {
      {.key = "momentum",
       .label = "Momentum",
       .help = "Share of the old running average that is kept at each step.",
       .type = FieldType::real,
       .defaultValue = 0.9,
       .hard = Range{0, 1},
       .comfortable = Range{0.5, 0.999}},
      {.key = "epsilon",
       .label = "Epsilon",
       .help = "Added to the variance under the root, so that a constant channel divides by no zero.",
       .type = FieldType::real,
       .defaultValue = ops::kNormalisationEpsilon,
       .hard = Range{1e-12, 1},
       .comfortable = Range{1e-8, 1e-2}},
      {.key = "scale",
       .label = "Scale",
       .help = "Learns γ. Without it γ is 1.",
       .type = FieldType::boolean,
       .defaultValue = true},
      {.key = "zero_gamma",
       .label = "Zero γ",
       .help = "γ begins at 0 instead of 1. On the last normalisation of each residual branch the block then begins as "
               "the identity, which helps large batches (Goyal et al. 2017).",
       .type = FieldType::boolean,
       .defaultValue = false,
       .onlyWhen = "scale=true"},
      {.key = "shift",
       .label = "Shift",
       .help = "Learns β. Without it β is 0.",
       .type = FieldType::boolean,
       .defaultValue = true},
      parts::axisField("Axis of the channels: 0 for C×height×width; −1 for a sequence T×C.", 0)};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  parts::axisOf("axis", arguments.values.integer("axis"), arguments.inputs[0]);
  return {arguments.inputs[0]};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  ProgramBuilder& builder = arguments.builder;
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t axis = parts::axisOf("axis", values.integer("axis"), input), channels = input[axis];
  TensorId gamma = kNoTensor, beta = kNoTensor;
  if (values.boolean("scale"))
    gamma = parts::parameter(arguments, "gamma", {channels}, ParameterKind::normalisation,
                             {values.boolean("zero_gamma") ? InitializerKind::zeros : InitializerKind::ones});
  if (values.boolean("shift"))
    beta = parts::parameter(arguments, "beta", {channels}, ParameterKind::normalisation, {InitializerKind::zeros});
  const auto state = [&](const char* name, InitializerKind kind) {
    return builder.state({.name = arguments.scope + "/" + name,
                          .shape = {channels},
                          .kind = ParameterKind::normalisation,
                          .initializer = {kind},
                          .isState = true});
  };
  const TensorId mean = state("mean", InitializerKind::zeros), variance = state("variance", InitializerKind::ones);
  const double epsilon = values.real("epsilon");
  if (!builder.training())
    return {builder.add("batch_normalization_inference", {arguments.inputs[0], gamma, beta, mean, variance},
                        {{"epsilon", epsilon}, {"axis", axis + 1}})};
  return {builder.add("batch_normalization", {arguments.inputs[0], gamma, beta, mean, variance},
                      {{"epsilon", epsilon}, {"momentum", values.real("momentum")}, {"axis", axis + 1}})};
}

}  // namespace batch_normalization_layer

const LayerDefinition& defineBatchNormalizationLayer() {
  using namespace batch_normalization_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
