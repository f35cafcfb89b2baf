// Layers that take axes of a sample together: sums, means, extremes, norms.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/rows.h"

namespace loom {
namespace reduction_layers {

// What stands before the reduction and behind it; null: nothing.
struct Row {
  const char* before;
  const char* function;
  const char* behind;
  Entry entry;
};

Row row(const char* before, const char* function, const char* behind, std::string id, std::vector<std::string> aliases,
        std::string summary, const std::string& formula) {
  return {before, function, behind,
          parts::completed(
              {.id = std::move(id),
               .category = "shape",
               .icon = "sum",
               .aliases = std::move(aliases),
               .summary = std::move(summary),
               .help = formula +
                       " It is taken over the named axes of each sample (never over the batch), or over all of them. "
                       "The axes vanish, or stay with extent 1 under Keep axes; a sample of which nothing else is left "
                       "is one number.\n\nNo parameters.",
               .outputs = {parts::valuesOut("The other axes.")},
               .fields = {{.key = "axes",
                           .label = "Axes",
                           .help = "Axes that are taken together, 0 = channels, −1 = the last; absent: all.",
                           .type = FieldType::integers,
                           .defaultValue = nullptr,
                           .hard = Range{-8, 7},
                           .optional = true,
                           .important = true,
                           .absent = "all"},
                          parts::switchField("keep_axes", "Keep axes",
                                             "Leaves the axes with extent 1 instead of removing them.", false)}})};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      row(nullptr, "sum", nullptr, "ReduceSum", {"SumOver"}, "The sum over some axes.", "y = Σ x."),
      row(nullptr, "mean", nullptr, "ReduceMean", {"Mean", "MeanOver"}, "The mean over some axes.", "y = Σ x / n."),
      row(nullptr, "maximum", nullptr, "ReduceMax", {"Max", "Amax"}, "The largest value over some axes.",
          "y = max x; several that are largest share the gradient evenly."),
      row(nullptr, "minimum", nullptr, "ReduceMin", {"Min", "Amin"}, "The smallest value over some axes.",
          "y = min x; several that are smallest share the gradient evenly."),
      row(nullptr, "product", nullptr, "ReduceProduct", {"Prod", "ReduceProd"}, "The product over some axes.",
          "y = Π x."),
      row("absolute", "sum", nullptr, "ReduceL1", {"L1Norm"}, "The sum of magnitudes over some axes.", "y = Σ |x|."),
      row("square", "sum", "sqrt", "ReduceL2", {"L2Norm"}, "The length of the vector over some axes.",
          "y = √Σ x²; at 0 its gradient is not a number."),
      row("square", "sum", nullptr, "ReduceSumSquare", {"SumOfSquares"}, "The sum of squares over some axes.",
          "y = Σ x²."),
      row(nullptr, "sum", "log", "ReduceLogSum", {"LogSum"}, "The logarithm of the sum over some axes.", "y = ln Σ x."),
      row("exp", "sum", "log", "ReduceLogSumExp", {"LogSumExp"}, "A smooth maximum over some axes.",
          "y = ln Σ eˣ, computed beside the largest value, so that nothing overflows."),
  };
  return all;
}

std::vector<std::int64_t> axesOf(const Values& values, const Shape& input) {
  std::vector<std::int64_t> axes;
  if (values.has("axes"))
    for (std::int64_t axis : values.integers("axes")) axes.push_back(parts::axisOf("axes", axis, input));
  else
    for (std::size_t axis = 0; axis < input.rank(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  std::sort(axes.begin(), axes.end());
  if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    throw LayerError(fmt::format("'axes' names axis {} of {} twice", *twice, parts::shapeText(input)), "axes");
  return axes;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::vector<std::int64_t> axes = axesOf(arguments.values, input);
  std::vector<std::int64_t> left;
  for (std::size_t axis = 0; axis < input.rank(); ++axis) {
    const bool gone = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis));
    if (!gone || arguments.values.boolean("keep_axes")) left.push_back(gone ? 1 : input.extents()[axis]);
  }
  if (left.empty()) left.push_back(1);
  return {Shape(std::move(left))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Row& row = parts::rowOf(rows(), arguments.values);
  const Shape input = parts::sampleShape(arguments);
  const std::vector<std::int64_t> axes = axesOf(arguments.values, input);
  TensorId x = arguments.inputs[0], largest = kNoTensor;
  if (arguments.values.entry().id == "ReduceLogSumExp") {
    largest = arguments.builder.add("stop_gradient", {parts::reduced(arguments, "maximum", x, axes, true)});
    x = parts::binary(arguments, "subtract", x, largest);
  }
  if (row.before != nullptr) x = parts::unary(arguments, row.before, x);
  x = parts::reduced(arguments, row.function, x, axes, true);
  if (row.behind != nullptr) x = parts::unary(arguments, row.behind, x);
  if (largest != kNoTensor) x = parts::binary(arguments, "add", x, largest);
  return {parts::reshaped(arguments, x, shapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

}  // namespace reduction_layers

#define LOOM_REDUCTION_LAYER(ID) \
  LOOM_ROW_LAYER(ID, reduction_layers::rows, reduction_layers::shapes, reduction_layers::lower)
LOOM_REDUCTION_LAYER(ReduceSum)
LOOM_REDUCTION_LAYER(ReduceMean)
LOOM_REDUCTION_LAYER(ReduceMax)
LOOM_REDUCTION_LAYER(ReduceMin)
LOOM_REDUCTION_LAYER(ReduceProduct)
LOOM_REDUCTION_LAYER(ReduceL1)
LOOM_REDUCTION_LAYER(ReduceL2)
LOOM_REDUCTION_LAYER(ReduceSumSquare)
LOOM_REDUCTION_LAYER(ReduceLogSum)
LOOM_REDUCTION_LAYER(ReduceLogSumExp)

}  // namespace loom
