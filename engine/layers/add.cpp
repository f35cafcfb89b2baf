#include "engine/layers/elementwise.h"
#include "engine/layers/entry_parts.h"

namespace loom {
namespace add_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Add";
  entry.category = "shape";
  entry.icon = "add";
  entry.aliases = {"Sum", "Add2", "Residual", "Shortcut", "Plus"};
  entry.summary = "The sum of its inputs: where a shortcut meets the path that it went around.";
  entry.help =
      "y = a + b + … for each value. In a residual network one input is the block's own input: the block then learns "
      "only the difference.\n\n"
      "Shapes must be equal; an extent of 1 is stretched to that of the others. No parameters. He et al., Deep "
      "residual learning, arXiv 1512.03385.";
  entry.inputs = {{.key = "input",
                   .label = "Inputs",
                   .help = "Two and more of equal shape; extents of 1 are stretched.",
                   .several = true}};
  entry.outputs = {parts::valuesOut("The shape of the largest input.")};
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerElementwise(arguments, "add");
}

}  // namespace add_layer

const LayerDefinition& defineAddLayer() {
  using namespace add_layer;
  static const LayerDefinition definition{entry(), elementwiseShapes, lower};
  return definition;
}

}  // namespace loom
