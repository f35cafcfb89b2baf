// Linear and Convolution with weights of two values, and activations of two values: forward they are signs, backward
// the gradient goes through as if they were not.
#include "engine/layers/binary_weights.h"

#include "engine/layers/entry_parts.h"
#include "engine/layers/rows.h"

namespace loom {

const LayerDefinition& defineLinearLayer();
const LayerDefinition& defineConvolutionLayer();

namespace parts {

// forward + (x - stop(x)): the values of `forward` to the bit, the gradient of x.
TensorId straightThrough(const LowerArguments& arguments, TensorId forward, TensorId x) {
  const TensorId stopped = arguments.builder.add("stop_gradient", {x}, {});
  return binary(arguments, "add", arguments.builder.add("stop_gradient", {forward}, {}),
                binary(arguments, "subtract", x, stopped));
}

TensorId weightInUse(const LowerArguments& arguments, TensorId weight) {
  const Field* form = arguments.values.entry().field("form");
  if (!form) return weight;
  TensorId values = unary(arguments, "sign", weight);
  if (arguments.values.text("form") == "scaled") {
    std::vector<std::int64_t> axes;  // all but the first, which is that of the outputs
    for (std::size_t axis = 0; axis + 1 < arguments.builder.shape(weight).rank(); ++axis)
      axes.push_back(static_cast<std::int64_t>(axis));
    values = binary(arguments, "multiply", values,
                    reduced(arguments, "mean", unary(arguments, "absolute", weight), axes, true));
  }
  return straightThrough(arguments, values, weight);
}

}  // namespace parts

namespace binary_weight_layers {

// The layer whose weights these are, with one field more.
Entry entryLike(const LayerDefinition& layer, std::string id, std::string summary, const std::string& what) {
  Entry entry = layer.entry;
  entry.id = entry.label = std::move(id);
  entry.aliases.clear();
  entry.relatives.clear();
  entry.summary = std::move(summary);
  entry.help =
      "Forward each weight counts by its sign alone (0 stays 0), as it is or times the mean of the absolute "
      "weights of its output; backward the gradient is that of the weight that is kept behind it, as if there "
      "were no sign (straight-through). So the weights that are trained have many values, and those that "
      "calculate two.\n\n" +
      what +
      "\n\nCourbariaux, Bengio and David, BinaryConnect, arXiv 1511.00363; Rastegari et al., XNOR-Net, arXiv "
      "1603.05279 (the scaled form).";
  entry.fields.insert(
      entry.fields.begin() + 1,
      parts::choiceField(
          "form", "Form", "What a weight is forward.",
          {{"sign", "Sign", "−1 or 1, as in BinaryConnect."},
           {"scaled", "Scaled", "−a or a, with a the mean of the output's absolute weights, as in XNOR-Net."}}));
  entry.fields[1].important = false;
  return entry;
}

struct Row {
  TensorId (*forward)(const LowerArguments& arguments);
  double slope;  // of the straight line that stands for it backward, clipped where it reaches the two values
  double low;
  Entry entry;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {[](const LowerArguments& a) {
         const TensorId x = a.inputs[0];
         return parts::scaled(a, parts::binary(a, "greater", x, parts::number(a, x, 0)), 2, -1);
       },
       1, -1,
       parts::activationEntry({.id = "BinaryTanh",
                               .summary = "1 for what is positive, else −1; trained as if it were a straight line.",
                               .help =
                                   "y = 1 where x > 0, else −1. Backward the gradient is that of clip(x, −1, 1), since "
                                   "its own is 0 everywhere.\n\nCourbariaux et al., Binarized Neural Networks, arXiv "
                                   "1602.02830."})},
      {[](const LowerArguments& a) {
         const TensorId x = a.inputs[0];
         return parts::binary(a, "greater", x, parts::number(a, x, 0));
       },
       0.5, 0,
       parts::activationEntry(
           {.id = "BinarySigmoid",
            .summary = "1 for what is positive, else 0; trained as if it were a straight line.",
            .help = "y = 1 where x > 0, else 0. Backward the gradient is that of clip((x + 1) / 2, 0, 1), "
                    "since its own is 0 everywhere.\n\nCourbariaux et al., Binarized Neural Networks, "
                    "arXiv 1602.02830."})}};
  return all;
}

std::vector<TensorId> lower(const LowerArguments& a) {
  const Row& row = parts::rowOf(rows(), a.values);
  const TensorId x = a.inputs[0];
  TensorId line = row.slope == 1 ? x : parts::scaled(a, x, row.slope, row.slope);
  line = parts::binary(a, "maximum", line, parts::number(a, line, row.low));
  line = parts::binary(a, "minimum", line, parts::number(a, line, 1));
  return {parts::straightThrough(a, row.forward(a), line)};
}

}  // namespace binary_weight_layers

const LayerDefinition& defineBinaryLinearLayer() {
  using namespace binary_weight_layers;
  static const LayerDefinition definition{
      entryLike(defineLinearLayer(), "BinaryLinear", "A Linear whose weights are −1 or 1 forward.",
                "All else is as in Linear."),
      defineLinearLayer().shapes, defineLinearLayer().lower};
  return definition;
}

const LayerDefinition& defineBinaryConvolutionLayer() {
  using namespace binary_weight_layers;
  static const LayerDefinition definition{
      entryLike(defineConvolutionLayer(), "BinaryConvolution", "A Convolution whose weights are −1 or 1 forward.",
                "All else is as in Convolution."),
      defineConvolutionLayer().shapes, defineConvolutionLayer().lower};
  return definition;
}

LOOM_ROW_LAYER(BinaryTanh, binary_weight_layers::rows, parts::sameShape, binary_weight_layers::lower)
LOOM_ROW_LAYER(BinarySigmoid, binary_weight_layers::rows, parts::sameShape, binary_weight_layers::lower)

}  // namespace loom
