// Layers that are one function of the op `unary`: activations, and the arithmetic of a single input.
#include <fmt/format.h>

#include <utility>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/rows.h"

namespace loom {
namespace function_layers {

struct Row {
  const char* function;
  Entry entry;  // its fields become the op's attributes alpha and beta
};

Row activation(const char* function, parts::Activation activation) {
  return {function, parts::activationEntry(std::move(activation))};
}

Row arithmetic(const char* function, std::string id, std::vector<std::string> aliases, std::string summary,
               const std::string& formula) {
  return {
      function,
      parts::completed(
          {.id = std::move(id),
           .category = "shape",
           .icon = "function",
           .aliases = std::move(aliases),
           .summary = std::move(summary),
           .help = formula + "\n\nIt is applied to each value by itself, whatever the shape, and has no parameters.",
           .inputs = {parts::valuesIn("Values of any shape.")}})};
}

// Nothing flows back through a step.
constexpr const char* kStep =
    " It is a step: its derivative is 0 wherever there is one, so nothing flows back through it.";

std::vector<Row> activations() {
  const Range slopes{1e-6, 1e6}, any{-1e30, 1e30};
  const auto slope = [&](double value) {
    return parts::numberField("alpha", "Slope", "Slope α of its middle part.", value, slopes);
  };
  const auto offset = [&] { return parts::numberField("beta", "Offset", "Its value β at 0.", 0.5, Range{-1e6, 1e6}); };
  Field low = parts::numberField("low", "Low", "Least value; absent: none.", 0.0, any),
        high = parts::numberField("high", "High", "Largest value; absent: none.", 0.0, any);
  for (Field* field : {&low, &high}) {
    field->defaultValue = nullptr;
    field->optional = true;
    field->absent = "none";
  }
  return {
      activation("clamp", {.id = "ReLU6",
                           .aliases = {"BoundedReLU"},
                           .summary = "ReLU that stops at 6: what MobileNet uses, good for 8 and 16 bits.",
                           .help = "y = min(max(x, 0), 6). Nothing flows back where it was cut.\n\nHoward et al., "
                                   "MobileNets, arXiv 1704.04861."}),
      activation("clamp", {.id = "HardTanh",
                           .aliases = {"HardTanH"},
                           .summary = "Cuts values below −1 and above 1.",
                           .help = "y = min(max(x, −1), 1): a tanh of three straight lines, cheap and exact in few "
                                   "bits.\n\nCollobert 2004."}),
      activation("clamp",
                 {.id = "Clip",
                  .aliases = {"Clamp"},
                  .summary = "Cuts what lies below the least and above the largest value.",
                  .help = "y = min(max(x, low), high); either bound may be absent. The gradient is 0 where something "
                          "was cut.",
                  .fields = {low, high}}),
      activation("hard_sigmoid",
                 {.id = "HardSigmoid",
                  .summary = "A sigmoid of three straight lines.",
                  .help = "y = min(max(α · x + β, 0), 1). PyTorch and Keras 3 take α = 1/6, ONNX and Sony NNC 0.2.",
                  .fields = {slope(1.0 / 6), offset()}}),
      activation(
          "hard_swish",
          {.id = "HardSwish",
           .aliases = {"HardSiLU"},
           .summary = "Swish with a sigmoid of straight lines: what MobileNetV3 uses.",
           .help =
               "y = x · min(max(x / 6 + 1/2, 0), 1).\n\nHoward et al., Searching for MobileNetV3, arXiv 1905.02244."}),
      activation("softplus", {.id = "Softplus",
                              .aliases = {"SmoothReLU"},
                              .summary = "A smooth ReLU: always positive.",
                              .help = "y = log(1 + e^(α · x)) / α. Large values pass as they are, very negative ones "
                                      "become 0. PyTorch calls α beta.",
                              .fields = {parts::numberField("alpha", "Sharpness", "Sharpness α of the bend at 0.", 1.0,
                                                            Range{1e-3, 1e3})}}),
      activation("softsign", {.id = "Softsign",
                              .summary = "Bends to −1 and 1 like tanh, but more slowly.",
                              .help = "y = x / (1 + |x|). Its slope falls with the square of x only, not "
                                      "exponentially.\n\nBergstra et al. 2009."}),
      activation("erf", {.id = "Erf",
                         .aliases = {"ErrorFunction"},
                         .summary = "The Gauss error function; GELU is made of it.",
                         .help = "y = 2/√π · ∫ e^(−t²) dt from 0 to x. GELU is x/2 · (1 + erf(x/√2)): use that layer "
                                 "where it is meant."}),
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows = activations();
    const std::vector<Row> others{
        arithmetic("absolute", "Abs", {"Absolute"}, "The magnitude of each value.", "y = |x|."),
        arithmetic("negative", "Negative", {"Neg", "Negate"}, "The value with the other sign.", "y = −x."),
        arithmetic("exp", "Exp", {"Exponential"}, "The exponential of each value.",
                   "y = eˣ; beyond 88 it is infinite."),
        arithmetic("log", "Log", {"Logarithm"}, "The natural logarithm of each value.",
                   "y = ln x; of 0 it is minus infinity, of negative values NaN."),
        arithmetic("sqrt", "Sqrt", {"SquareRoot"}, "The square root of each value.", "y = √x; of negative values NaN."),
        arithmetic("reciprocal_sqrt", "Rsqrt", {"ReciprocalSqrt", "InverseSqrt"}, "One over the square root.",
                   "y = 1 / √x."),
        arithmetic("square", "Square", {"Squared"}, "Each value times itself.", "y = x²."),
        arithmetic("reciprocal", "Reciprocal", {"Inverse"}, "One over each value.", "y = 1 / x."),
        arithmetic("sign", "Sign", {"Signum"}, "1 for positive values, −1 for negative ones, 0 for 0.",
                   std::string("y = 1, 0 or −1.") + kStep),
        arithmetic("floor", "Floor", {"RoundDown"}, "The next whole number below.", std::string("y = ⌊x⌋.") + kStep),
        arithmetic("ceil", "Ceil", {"Ceiling", "RoundUp"}, "The next whole number above.",
                   std::string("y = ⌈x⌉.") + kStep),
        arithmetic("round", "Round", {"RoundEven"}, "The nearest whole number; halves go to the even one.",
                   std::string("2.5 becomes 2, 3.5 becomes 4, as in ONNX, NumPy and PyTorch.") + kStep),
        arithmetic("sin", "Sin", {"Sine"}, "The sine of each value, in radians.", "y = sin x."),
        arithmetic("cos", "Cos", {"Cosine"}, "The cosine of each value, in radians.", "y = cos x."),
        arithmetic("tan", "Tan", {"Tangent"}, "The tangent of each value, in radians.", "y = tan x."),
        arithmetic("asin", "Asin", {"ArcSin"}, "The angle whose sine it is.",
                   "y = arcsin x, in radians; beyond −1 and 1 NaN."),
        arithmetic("acos", "Acos", {"ArcCos"}, "The angle whose cosine it is.",
                   "y = arccos x, in radians; beyond −1 and 1 NaN."),
        arithmetic("atan", "Atan", {"ArcTan"}, "The angle whose tangent it is.", "y = arctan x, in radians."),
        arithmetic("sinh", "Sinh", {"HyperbolicSine"}, "The hyperbolic sine of each value.", "y = (eˣ − e⁻ˣ) / 2."),
        arithmetic("cosh", "Cosh", {"HyperbolicCosine"}, "The hyperbolic cosine of each value.", "y = (eˣ + e⁻ˣ) / 2."),
        arithmetic("asinh", "Asinh", {"ArcSinh"}, "The inverse of the hyperbolic sine.", "y = ln(x + √(x² + 1))."),
        arithmetic("acosh", "Acosh", {"ArcCosh"}, "The inverse of the hyperbolic cosine.",
                   "y = ln(x + √(x² − 1)); below 1 NaN."),
        arithmetic("atanh", "Atanh", {"ArcTanh"}, "The inverse of the hyperbolic tangent.",
                   "y = ½ · ln((1 + x) / (1 − x)); beyond −1 and 1 NaN."),
    };
    rows.insert(rows.end(), others.begin(), others.end());
    return rows;
  }();
  return all;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Values& values = arguments.values;
  if (values.entry().id == "Clip" && values.has("low") && values.has("high") &&
      values.real("low") > values.real("high"))
    throw LayerError(
        fmt::format("'low' is {}, but must not be above 'high', {}", values.real("low"), values.real("high")), "low",
        values.real("high"));
  return parts::sameShape(arguments);
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  const std::string& id = values.entry().id;
  Attributes attributes{{"function", std::string(parts::rowOf(rows(), values).function)}};
  if (id == "ReLU6") attributes.set("alpha", 0.0).set("beta", 6.0);
  if (id == "HardTanh") attributes.set("alpha", -1.0).set("beta", 1.0);
  for (const auto& [key, attribute] :
       {std::pair{"alpha", "alpha"}, {"beta", "beta"}, {"low", "alpha"}, {"high", "beta"}})
    if (values.entry().field(key) != nullptr && values.has(key)) attributes.set(attribute, values.real(key));
  return {arguments.builder.add("unary", {arguments.inputs[0]}, attributes)};
}

}  // namespace function_layers

#define LOOM_FUNCTION_LAYER(ID) \
  LOOM_ROW_LAYER(ID, function_layers::rows, function_layers::shapes, function_layers::lower)
LOOM_FUNCTION_LAYER(ReLU6)
LOOM_FUNCTION_LAYER(HardTanh)
LOOM_FUNCTION_LAYER(Clip)
LOOM_FUNCTION_LAYER(HardSigmoid)
LOOM_FUNCTION_LAYER(HardSwish)
LOOM_FUNCTION_LAYER(Softplus)
LOOM_FUNCTION_LAYER(Softsign)
LOOM_FUNCTION_LAYER(Erf)
LOOM_FUNCTION_LAYER(Abs)
LOOM_FUNCTION_LAYER(Negative)
LOOM_FUNCTION_LAYER(Exp)
LOOM_FUNCTION_LAYER(Log)
LOOM_FUNCTION_LAYER(Sqrt)
LOOM_FUNCTION_LAYER(Rsqrt)
LOOM_FUNCTION_LAYER(Square)
LOOM_FUNCTION_LAYER(Reciprocal)
LOOM_FUNCTION_LAYER(Sign)
LOOM_FUNCTION_LAYER(Floor)
LOOM_FUNCTION_LAYER(Ceil)
LOOM_FUNCTION_LAYER(Round)
LOOM_FUNCTION_LAYER(Sin)
LOOM_FUNCTION_LAYER(Cos)
LOOM_FUNCTION_LAYER(Tan)
LOOM_FUNCTION_LAYER(Asin)
LOOM_FUNCTION_LAYER(Acos)
LOOM_FUNCTION_LAYER(Atan)
LOOM_FUNCTION_LAYER(Sinh)
LOOM_FUNCTION_LAYER(Cosh)
LOOM_FUNCTION_LAYER(Asinh)
LOOM_FUNCTION_LAYER(Acosh)
LOOM_FUNCTION_LAYER(Atanh)

}  // namespace loom
