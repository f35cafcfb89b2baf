// Layers of two inputs: arithmetic, comparisons, logic.
#include "engine/layers/elementwise.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/rows.h"

namespace loom {
namespace arithmetic_layers {

struct Row {
  const char* function;
  Entry entry;
};

constexpr const char* kStretches =
    " Shapes stretch as in ONNX and NumPy: counted from the last axis, extents are equal or 1; a missing axis counts "
    "as 1.";

std::vector<Port> twoInputs() {
  return {{.key = "input", .label = "A", .help = "The first operand, any shape."},
          {.key = "b", .label = "B", .help = "The second operand; extents of 1 are stretched."}};
}

Row arithmetic(const char* function, std::string id, std::vector<std::string> aliases, std::string icon,
               std::string summary, const std::string& formula) {
  return {function, parts::completed({.id = std::move(id),
                                      .category = "shape",
                                      .icon = std::move(icon),
                                      .aliases = std::move(aliases),
                                      .summary = std::move(summary),
                                      .help = formula + kStretches + "\n\nNo parameters.",
                                      .inputs = twoInputs(),
                                      .outputs = {parts::valuesOut("The shape to which both stretch.")}})};
}

Row comparison(const char* function, std::string id, std::vector<std::string> aliases, const std::string& relation) {
  std::vector<Port> inputs = twoInputs();
  inputs[1].optional = true;
  inputs[1].help = "What it is compared with; not wired: the number Value.";
  return {
      function,
      parts::completed({.id = std::move(id),
                        .category = "shape",
                        .icon = "compare",
                        .aliases = std::move(aliases),
                        .summary = "1 where the first " + relation + " the second, else 0.",
                        .help = "Each value of A is compared with that of B, or with the number Value where B is "
                                "not wired; the answer is 1 or 0. Nothing flows back through it." +
                                std::string(kStretches) + "\n\nNo parameters.",
                        .inputs = std::move(inputs),
                        .outputs = {parts::valuesOut("1 and 0, in the shape to which both stretch.")},
                        .fields = {parts::numberField("value", "Value", "What A is compared with where B is not wired.",
                                                      0.0, Range{-1e30, 1e30})}})};
}

Row modulo() {
  Row row = arithmetic("modulo", "Modulo", {"Mod", "Remainder", "Fmod"}, "function",
                       "What is left of the first input after whole divisions by the second.",
                       "y = a − b · ⌊a / b⌋ for each value, with the sign of b, as Python's %; with Sign of A "
                       "y = a − b · trunc(a / b), as C's fmod. Of b = 0 it is NaN. The number of divisions counts as "
                       "fixed: a gets the gradient of y, b the negative number of divisions times it.");
  row.entry.inputs[1].optional = true;
  row.entry.inputs[1].help = "What A is divided by; not wired: the number Value.";
  row.entry.fields = {
      parts::numberField("value", "Value", "What A is divided by where B is not wired.", 1.0, Range{-1e30, 1e30}),
      parts::switchField("sign_of_a", "Sign of A", "The result has the sign of A, else that of B.", false)};
  return row;
}

Row logic(const char* function, std::string id, std::vector<std::string> aliases, const std::string& when) {
  return {function, parts::completed(
                        {.id = std::move(id),
                         .category = "shape",
                         .icon = "compare",
                         .aliases = std::move(aliases),
                         .summary = "1 where " + when + ", else 0.",
                         .help = "A value counts as true where it is not 0; the answer is 1 or 0. Nothing flows back "
                                 "through it." +
                                 std::string(kStretches) + "\n\nNo parameters.",
                         .inputs = twoInputs(),
                         .outputs = {parts::valuesOut("1 and 0, in the shape to which both stretch.")}})};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      arithmetic("subtract", "Subtract", {"Sub", "Sub2", "Minus", "Difference"}, "minus",
                 "The first input less the second.", "y = a − b for each value."),
      arithmetic("divide", "Divide", {"Div", "Div2", "Quotient"}, "function", "The first input divided by the second.",
                 "y = a / b for each value; a division by 0 gives infinity, 0 / 0 NaN."),
      modulo(),
      arithmetic("power", "Power", {"Pow", "Pow2"}, "function", "The first input to the power of the second.",
                 "y = aᵇ for each value. Of a negative base with a broken exponent it is NaN, and so is the exponent's "
                 "gradient."),
      arithmetic("maximum", "Maximum", {"Max2", "Maximum2"}, "function", "The larger of two values.",
                 "y = max(a, b) for each value; where both are equal, the gradient goes to b."),
      arithmetic("minimum", "Minimum", {"Min2", "Minimum2"}, "function", "The smaller of two values.",
                 "y = min(a, b) for each value; where both are equal, the gradient goes to b."),
      comparison("equal", "Equal", {"EqualScalar"}, "equals"),
      comparison("not_equal", "NotEqual", {"NotEqualScalar"}, "differs from"),
      comparison("greater", "Greater", {"GreaterScalar", "GreaterThan"}, "is greater than"),
      comparison("greater_equal", "GreaterEqual", {"GreaterOrEqual", "GreaterEqualScalar"}, "is at least"),
      comparison("less", "Less", {"LessScalar", "LessThan"}, "is less than"),
      comparison("less_equal", "LessEqual", {"LessOrEqual", "LessEqualScalar"}, "is at most"),
      logic("multiply", "LogicalAnd", {"And"}, "both are not 0"),
      logic("maximum", "LogicalOr", {"Or"}, "at least one is not 0"),
      logic("not_equal", "LogicalXor", {"Xor"}, "exactly one is not 0"),
  };
  return all;
}

bool isLogic(const Values& values) {
  return values.entry().id.starts_with("Logical");
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Row& row = parts::rowOf(rows(), arguments.values);
  const bool ofA = row.entry.field("sign_of_a") != nullptr && arguments.values.boolean("sign_of_a");
  const char* const function = ofA ? "fmod" : row.function;
  TensorId a = arguments.inputs[0], b = arguments.inputs[1];
  if (b == kNoTensor)
    return {parts::binary(arguments, function, a, parts::number(arguments, a, arguments.values.real("value")))};
  if (isLogic(arguments.values))
    for (TensorId* input : {&a, &b})
      *input = parts::binary(arguments, "not_equal", *input, parts::number(arguments, *input, 0));
  return {elementwise(arguments, function, a, b)};
}

Entry notEntry() {
  return parts::completed({.id = "LogicalNot",
                           .category = "shape",
                           .icon = "compare",
                           .aliases = {"Not"},
                           .summary = "1 where the value is 0, else 0.",
                           .help = "A value counts as true where it is not 0; the answer is the opposite, as 1 or 0. "
                                   "Nothing flows back through it.\n\nNo parameters."});
}

std::vector<TensorId> lowerNot(const LowerArguments& arguments) {
  const TensorId x = arguments.inputs[0];
  return {parts::binary(arguments, "equal", x, parts::number(arguments, x, 0))};
}

Entry whereEntry() {
  return parts::completed(
      {.id = "Where",
       .category = "shape",
       .icon = "compare",
       .aliases = {"Choose", "MaskedFill"},
       .summary = "The second input where the first is not 0, else the third.",
       .help = "y = a where the condition is not 0, else b: a mask that chooses, so that what is not chosen may be "
               "infinite without harm. Nothing flows back into the condition." +
               std::string(kStretches) + "\n\nNo parameters.",
       .inputs = {{.key = "input", .label = "Condition", .help = "0 chooses B, everything else A."},
                  {.key = "a", .label = "A", .help = "What stands where the condition is not 0."},
                  {.key = "b", .label = "B", .help = "What stands where the condition is 0."}},
       .outputs = {parts::valuesOut("The shape to which all three stretch.")}});
}

std::vector<TensorId> lowerWhere(const LowerArguments& arguments) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < 3; ++i) shapes.push_back(parts::sampleShape(arguments, i));
  const Shape full = stretchedShape(shapes);
  std::vector<TensorId> inputs;
  for (TensorId input : arguments.inputs)
    inputs.push_back(parts::stretchedTo(arguments, alignedTo(arguments, input, full), full));
  return {arguments.builder.add("select", inputs)};
}

}  // namespace arithmetic_layers

#define LOOM_ARITHMETIC_LAYER(ID) \
  LOOM_ROW_LAYER(ID, arithmetic_layers::rows, elementwiseShapes, arithmetic_layers::lower)
LOOM_ARITHMETIC_LAYER(Subtract)
LOOM_ARITHMETIC_LAYER(Divide)
LOOM_ARITHMETIC_LAYER(Modulo)
LOOM_ARITHMETIC_LAYER(Power)
LOOM_ARITHMETIC_LAYER(Maximum)
LOOM_ARITHMETIC_LAYER(Minimum)
LOOM_ARITHMETIC_LAYER(Equal)
LOOM_ARITHMETIC_LAYER(NotEqual)
LOOM_ARITHMETIC_LAYER(Greater)
LOOM_ARITHMETIC_LAYER(GreaterEqual)
LOOM_ARITHMETIC_LAYER(Less)
LOOM_ARITHMETIC_LAYER(LessEqual)
LOOM_ARITHMETIC_LAYER(LogicalAnd)
LOOM_ARITHMETIC_LAYER(LogicalOr)
LOOM_ARITHMETIC_LAYER(LogicalXor)

const LayerDefinition& defineLogicalNotLayer() {
  using namespace arithmetic_layers;
  static const LayerDefinition definition{notEntry(), parts::sameShape, lowerNot};
  return definition;
}

const LayerDefinition& defineWhereLayer() {
  using namespace arithmetic_layers;
  static const LayerDefinition definition{whereEntry(), elementwiseShapes, lowerWhere};
  return definition;
}

}  // namespace loom
