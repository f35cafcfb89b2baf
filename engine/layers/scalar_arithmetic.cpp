// Layers of one input and one number.
#include "engine/layers/entry_parts.h"
#include "engine/layers/rows.h"

namespace loom {
namespace scalar_layers {

struct Row {
  TensorId (*lower)(const LowerArguments& arguments, TensorId x, double value);
  Entry entry;
};

Row row(std::string id, std::vector<std::string> aliases, const std::string& formula, double value,
        TensorId (*lower)(const LowerArguments& arguments, TensorId x, double value), std::string summary,
        const std::string& more = "") {
  return {lower,
          parts::completed(
              {.id = std::move(id),
               .category = "shape",
               .icon = "function",
               .aliases = std::move(aliases),
               .summary = std::move(summary),
               .help = formula + " for each value, with one and the same number for all." + more + "\n\nNo parameters.",
               .fields = {parts::numberField("value", "Value", "The number.", value, Range{-1e30, 1e30})}})};
}

TensorId withNumber(const LowerArguments& arguments, const char* function, TensorId x, double value) {
  return parts::binary(arguments, function, x, parts::number(arguments, x, value));
}

// The number first.
TensorId ofNumber(const LowerArguments& arguments, const char* function, TensorId x, double value) {
  const TensorId numbers =
      parts::stretchedTo(arguments, parts::number(arguments, x, value), parts::sampleShape(arguments));
  return parts::binary(arguments, function, numbers, x);
}

TensorId power(const LowerArguments& arguments, TensorId x, double value) {
  if (value == 1) return x;
  if (value == 2) return parts::unary(arguments, "square", x);
  if (value == 0.5) return parts::unary(arguments, "sqrt", x);
  if (value == -1) return parts::unary(arguments, "reciprocal", x);
  if (value == -0.5) return parts::unary(arguments, "reciprocal_sqrt", x);
  if (value == 3) return parts::binary(arguments, "multiply", parts::unary(arguments, "square", x), x);
  return withNumber(arguments, "power", x, value);
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      row(
          "AddScalar", {"AddNumber", "Offset"}, "y = x + value", 1,
          [](const LowerArguments& a, TensorId x, double value) { return parts::scaled(a, x, 1, value); },
          "Adds one number to each value."),
      row(
          "MultiplyScalar", {"MulScalar", "ScaleBy"}, "y = x · value", 1,
          [](const LowerArguments& a, TensorId x, double value) { return parts::scaled(a, x, value); },
          "Multiplies each value with one number."),
      row("PowerScalar", {"PowScalar"}, "y = xᵛᵃˡᵘᵉ", 2, power, "Each value to the power of one number.",
          " Squares, cubes and roots are computed as such; of a negative base with a broken exponent it is NaN."),
      row(
          "SubtractFromScalar", {"RSubScalar"}, "y = value − x", 1,
          [](const LowerArguments& a, TensorId x, double value) { return parts::scaled(a, x, -1, value); },
          "One number less each value."),
      row(
          "DivideScalarBy", {"RDivScalar"}, "y = value / x", 1,
          [](const LowerArguments& a, TensorId x, double value) {
            const TensorId inverse = parts::unary(a, "reciprocal", x);
            return value == 1 ? inverse : parts::scaled(a, inverse, value);
          },
          "One number divided by each value."),
      row(
          "ScalarToThePower", {"RPowScalar"}, "y = valueˣ", 2,
          [](const LowerArguments& a, TensorId x, double value) { return ofNumber(a, "power", x, value); },
          "One number to the power of each value."),
      row(
          "MaximumScalar", {"MaxScalar"}, "y = max(x, value)", 0,
          [](const LowerArguments& a, TensorId x, double value) { return withNumber(a, "maximum", x, value); },
          "Each value, but at least one number."),
      row(
          "MinimumScalar", {"MinScalar"}, "y = min(x, value)", 0,
          [](const LowerArguments& a, TensorId x, double value) { return withNumber(a, "minimum", x, value); },
          "Each value, but at most one number."),
  };
  return all;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {parts::rowOf(rows(), arguments.values).lower(arguments, arguments.inputs[0], arguments.values.real("value"))};
}

}  // namespace scalar_layers

#define LOOM_SCALAR_LAYER(ID) LOOM_ROW_LAYER(ID, scalar_layers::rows, parts::sameShape, scalar_layers::lower)
LOOM_SCALAR_LAYER(AddScalar)
LOOM_SCALAR_LAYER(MultiplyScalar)
LOOM_SCALAR_LAYER(PowerScalar)
LOOM_SCALAR_LAYER(SubtractFromScalar)
LOOM_SCALAR_LAYER(DivideScalarBy)
LOOM_SCALAR_LAYER(ScalarToThePower)
LOOM_SCALAR_LAYER(MaximumScalar)
LOOM_SCALAR_LAYER(MinimumScalar)

}  // namespace loom
