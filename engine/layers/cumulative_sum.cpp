#include <algorithm>

#include "engine/layers/entry_parts.h"
#include "engine/ops/resample.h"

namespace loom {
namespace cumulative_sum_layer {

// Sums of so many are one map; longer axes are cut into such pieces, so that the work grows with the extent and not
// with its square, and few numbers stand between a value and its sum.
constexpr std::int64_t kPiece = 64;

Entry entry() {
  return parts::completed(
      {.id = "CumulativeSum",
       .category = "shape",
       .icon = "sum",
       .aliases = {"CumSum"},
       .summary = "Each value becomes the sum of all values up to it along an axis.",
       .help =
           "y[a] = x[0] + x[1] + … + x[a] along the axis; Exclusive leaves x[a] itself out, Reverse counts from the "
           "end: y[a] = x[a] + x[a + 1] + ….\n\nNo parameters.",
       .fields = {
           parts::axisField("Axis along which is summed.", 0),
           parts::switchField("exclusive", "Exclusive", "The value itself is left out: the first sum is 0.", false),
           parts::switchField("reverse", "Reverse", "Sums count from the end.", false)}});
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  parts::axisOf("axis", arguments.values.integer("axis"), arguments.inputs[0]);
  return {arguments.inputs[0]};
}

struct Sums {
  const LowerArguments& arguments;
  bool reverse;

  // Of x along an axis of the program's tensor (the batch is 0).
  TensorId of(TensorId x, std::int64_t axis, bool exclusive) const {
    ProgramBuilder& builder = arguments.builder;
    const Shape shape = builder.shape(x);
    const std::int64_t n = shape[axis];
    if (n <= kPiece) return direct(x, axis, exclusive);
    const std::int64_t pieces = (n + kPiece - 1) / kPiece;
    AxisMap padding;
    for (std::int64_t i = 0; i < pieces * kPiece; ++i)
      padding.addRow(i < n ? std::vector{i} : std::vector<std::int64_t>{});
    const TensorId padded = n % kPiece == 0 ? x : builder.add("resample", {x}, attributesOf(padding, axis));
    std::vector<std::int64_t> cut = shape.extents();
    cut[static_cast<std::size_t>(axis)] = pieces;
    cut.insert(cut.begin() + axis + 1, kPiece);
    const TensorId within = builder.add("reshape", {padded}, {{"shape", cut}});
    const TensorId totals = builder.add(
        "reduce", {within}, {{"function", "sum"}, {"axes", std::vector<std::int64_t>{axis + 1}}, {"keep", true}});
    const TensorId sums = parts::binary(arguments, "add", of(within, axis + 1, exclusive), of(totals, axis, true));
    cut.erase(cut.begin() + axis + 1);
    cut[static_cast<std::size_t>(axis)] = pieces * kPiece;
    const TensorId whole = builder.add("reshape", {sums}, {{"shape", cut}});
    if (n % kPiece == 0) return whole;
    return builder.add("slice", {whole}, {{"axis", axis}, {"start", 0}, {"length", n}, {"step", 1}});
  }

  TensorId direct(TensorId x, std::int64_t axis, bool exclusive) const {
    const std::int64_t n = arguments.builder.shape(x)[axis];
    AxisMap map;
    for (std::int64_t a = 0; a < n; ++a) {
      std::vector<std::int64_t> summed;
      for (std::int64_t k = 0; k < n; ++k)
        if (reverse ? k > a : k < a) summed.push_back(k);
      if (!exclusive) summed.insert(reverse ? summed.begin() : summed.end(), a);
      map.addRow(summed);
    }
    return arguments.builder.add("resample", {x}, attributesOf(map, axis));
  }
};

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), input);
  const Sums sums{arguments, arguments.values.boolean("reverse")};
  return {sums.of(arguments.inputs[0], axis + 1, arguments.values.boolean("exclusive"))};
}

}  // namespace cumulative_sum_layer

const LayerDefinition& defineCumulativeSumLayer() {
  using namespace cumulative_sum_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
