#include "engine/layers/entry_parts.h"

namespace loom {
namespace leaky_relu_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "LeakyReLU",
      .aliases = {"LReLU"},
      .summary = "ReLU with a small slope for negative values, so that no unit dies.",
      .help = "y = x for x > 0, α · x otherwise.\n\nMaas et al., Rectifier nonlinearities improve neural network "
              "acoustic models, ICML 2013. GAN discriminators commonly use α = 0.2.",
      .fields = {{.key = "alpha",
                  .label = "Slope",
                  .help = "Slope α for negative values.",
                  .type = FieldType::real,
                  .defaultValue = 0.1,
                  .hard = Range{0, 1},
                  .important = true}},
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]},
                                {{"function", std::string("leaky_relu")}, {"alpha", arguments.values.real("alpha")}})};
}

}  // namespace leaky_relu_layer

const LayerDefinition& defineLeakyReLULayer() {
  using namespace leaky_relu_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
