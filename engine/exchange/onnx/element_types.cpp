// The types of values: what an operator gives, and what a cast keeps.
#include <cmath>
#include <set>

#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {
namespace {

bool isIn(const std::string& op, const std::set<std::string>& ops) {
  return ops.count(op) > 0;
}

bool isUnsigned(int type) {
  return type == kUint8 || type == kUint16 || type == kUint32 || type == kUint64;
}

int bitsOf(int type) {
  switch (type) {
    case kUint8:
    case kInt8:
      return 8;
    case kUint16:
    case kInt16:
      return 16;
    case kUint32:
    case kInt32:
      return 32;
    default:
      return 64;
  }
}

}  // namespace

bool isReal(int type) {
  return type == kUnknownType || type == kFloat || type == kFloat16 || type == kDouble || type == kBfloat16;
}

bool isWhole(int type) {
  return (type >= kUint8 && type <= kInt64) || type == kUint32 || type == kUint64;
}

bool castKeeps(int from, int to) {
  if (isReal(to)) return true;
  if (from == kBool) return isWhole(to) || to == kBool;
  if (!isWhole(from) || !isWhole(to)) return false;
  // Indices of 64 bits as such of 32: what does not fit could not be read by anything either.
  if (!isUnsigned(to) && bitsOf(to) >= 32) return true;
  return isUnsigned(from) == isUnsigned(to) ? bitsOf(to) >= bitsOf(from)
                                            : isUnsigned(from) && bitsOf(to) > bitsOf(from);
}

int typeOf(const OnnxNode& node, std::size_t output, const Facts& facts) {
  static const std::set<std::string> truths{"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And",
                                            "Or",    "Xor",  "Not",         "IsNaN",   "IsInf"};
  static const std::set<std::string> places{"Shape", "Size", "ArgMax", "ArgMin", "NonZero"};
  static const std::set<std::string> reals{"ai.onnx.ml.Scaler",
                                           "ai.onnx.ml.Normalizer",
                                           "ai.onnx.ml.LinearRegressor",
                                           "ai.onnx.ml.FeatureVectorizer",
                                           "loom.Function",
                                           "loom.Linear"};
  const auto of = [&](std::size_t input) { return facts.of(node.input(input)).type; };
  const auto named = [&](const char* key, int otherwise) {
    return static_cast<int>(node.integer(key, otherwise) & 0xff);
  };
  if (isIn(node.op, truths) || (node.op == "Dropout" && output == 1)) return kBool;
  if (isIn(node.op, places) || ((node.op == "TopK" || node.op == "MaxPool") && output == 1)) return kInt64;
  if (isIn(node.op, reals)) return kFloat;
  if (node.op == "Cast") return named("to", kFloat);
  if (node.op == "CastLike" || node.op == "Where" || node.op == "DequantizeLinear" || node.op == "ai.onnx.ml.Imputer")
    return of(node.op == "ai.onnx.ml.Imputer" ? 0 : 1);
  if (node.op == "OneHot") return of(2);
  if (node.op == "QuantizeLinear") return node.input(2).empty() ? named("output_dtype", kUint8) : of(2);
  if (node.op == "DynamicQuantizeLinear") return output == 1 ? kFloat : kUint8;
  if (node.op == "ConvInteger" || node.op == "MatMulInteger") return kInt32;
  if (node.op == "QLinearConv" || node.op == "QLinearMatMul") return of(7);
  if (node.op == "ai.onnx.ml.LinearClassifier") return output == 0 ? kInt64 : kFloat;
  return of(0);
}

std::string whyNotCalculable(const OnnxNode& node, const Facts& facts) {
  // Those that choose, move and compare numbers, and make none.
  static const std::set<std::string> moving{"Identity",
                                            "Reshape",
                                            "Flatten",
                                            "Squeeze",
                                            "Unsqueeze",
                                            "Transpose",
                                            "Slice",
                                            "Split",
                                            "Concat",
                                            "Gather",
                                            "Expand",
                                            "Tile",
                                            "Pad",
                                            "DepthToSpace",
                                            "SpaceToDepth",
                                            "Where",
                                            "Equal",
                                            "Less",
                                            "Greater",
                                            "Max",
                                            "Min",
                                            "Clip",
                                            "LessOrEqual",
                                            "GreaterOrEqual",
                                            "Relu",
                                            "Sign",
                                            "ArgMax",
                                            "ArgMin",
                                            "TopK",
                                            "OneHot",
                                            "Cast",
                                            "CastLike",
                                            "MaxPool",
                                            "Div",
                                            "Mod",
                                            "And",
                                            "Or",
                                            "QuantizeLinear",
                                            "DequantizeLinear",
                                            "ReduceMax",
                                            "ReduceMin",
                                            "Trilu",
                                            "ai.onnx.ml.ArrayFeatureExtractor",
                                            "ai.onnx.ml.Scaler"};
  // Those that stay exact as long as the numbers do, and would wrap around where the type is small or has no sign.
  static const std::set<std::string> exact{"Add",  "Sub",    "Mul",       "Sum",         "Neg",
                                           "Abs",  "CumSum", "ReduceSum", "ReduceProd",  "MatMul",
                                           "Gemm", "Pow",    "ReduceL1",  "loom.Linear", "ReduceSumSquare"};
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (facts.of(node.inputs[i]).type == kString) return "it works on texts";
  const int type = facts.of(node.input(node.op == "Where" ? 1 : 0)).type;
  if (!isWhole(type) || isIn(node.op, moving)) return {};
  if (!isIn(node.op, exact)) return "it calculates with whole numbers in a way of its own";
  if (type != kInt32 && type != kInt64)
    return "it calculates with whole numbers that wrap around beyond their range, and numbers here do not";
  if (node.op == "Pow") {
    const Constant* power = facts.constant(node.input(1));
    for (std::size_t i = 0; power && i < power->stored(); ++i)
      if (!(power->at(i) >= 0) || power->at(i) != std::floor(power->at(i))) power = nullptr;
    if (!power) return "its power of whole numbers may be none";
  }
  return {};
}

}  // namespace loom::onnx_file
