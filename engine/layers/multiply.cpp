#include "engine/layers/elementwise.h"
#include "engine/layers/entry_parts.h"

namespace loom {
namespace multiply_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Multiply";
  entry.category = "shape";
  entry.icon = "multiply";
  entry.aliases = {"Mul", "Mul2", "Product", "Gate", "Times"};
  entry.summary = "The product of its inputs, value by value: gates and attention over channels.";
  entry.help =
      "y = a · b · … for each value. Shapes must be equal; an extent of 1 is stretched to that of the others, so that "
      "C×1×1 weighs the channels of C×height×width.\n\n"
      "No parameters. Hu et al., Squeeze-and-excitation networks, arXiv 1709.01507, is one use.";
  entry.inputs = {{.key = "input",
                   .label = "Inputs",
                   .help = "Two and more of equal shape; extents of 1 are stretched.",
                   .several = true}};
  entry.outputs = {parts::valuesOut("The shape of the largest input.")};
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerElementwise(arguments, "multiply");
}

}  // namespace multiply_layer

const LayerDefinition& defineMultiplyLayer() {
  using namespace multiply_layer;
  static const LayerDefinition definition{entry(), elementwiseShapes, lower};
  return definition;
}

}  // namespace loom
