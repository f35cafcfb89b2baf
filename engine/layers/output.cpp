// Where values leave a unit; in a network, a result with a name of its own.
#include "engine/layers/entry_parts.h"

namespace loom {
namespace output_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Output";
  entry.category = entry.icon = "inputOutput";
  entry.aliases = {"Result", "Return"};
  entry.summary = "Leads values out of a unit, or names a result of the network.";
  entry.help =
      "In a unit it is a pin: what is wired to it leaves the node that uses the unit. Its name is the name of the pin, "
      "and the first "
      "Output of a unit is the pin that a wire takes where it names none.\n\n"
      "In a network it marks a result: prediction gives what is wired to it under the name of the Output, beside what "
      "feeds the losses. "
      "Training takes no part of it.\n\n"
      "It computes nothing. No parameters.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The same values.")};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  return {arguments.inputs[0]};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.inputs[0]};
}

}  // namespace output_layer

const LayerDefinition& defineOutputLayer() {
  using namespace output_layer;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::output};
  return definition;
}

}  // namespace loom
