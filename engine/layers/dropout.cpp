#include "engine/layers/entry_parts.h"
#include "engine/ops/noise.h"

namespace loom {
namespace dropout_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Dropout";
  entry.category = "normalisation";
  entry.icon = "dropout";
  entry.summary = "Sets random values to 0 in training, so that the network cannot rely on any single one.";
  entry.help =
      "In training each value is 0 with the given probability p and x / (1 − p) otherwise, so that the expected value "
      "stays; in validation and prediction nothing is changed. What is dropped is a function of the run's seed, the "
      "layer's name, the step and the sample: a run on another number of ranks drops the same.\n\n"
      "No parameters. Srivastava et al., Journal of Machine Learning Research 15, 2014.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The same shape.")};
  entry.fields = {{.key = "probability",
                   .label = "Probability",
                   .help = "Share of the values that become 0.",
                   .type = FieldType::real,
                   .defaultValue = 0.5,
                   .hard = Range{0, 0.999},
                   .comfortable = Range{0, 0.8},
                   .important = true}};
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  ProgramBuilder& builder = arguments.builder;
  const double probability = arguments.values.real("probability");
  if (!builder.training() || probability == 0) return {arguments.inputs[0]};
  return {builder.add("dropout", {arguments.inputs[0], builder.scalar(kStepScalar), builder.scalar(kFirstSampleScalar)},
                      {{"probability", probability}, {"stream", noiseStream(builder.seed(), arguments.id)}})};
}

}  // namespace dropout_layer

const LayerDefinition& defineDropoutLayer() {
  using namespace dropout_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
