#include "engine/exchange/onnx/export_ops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "engine/base/error.h"
#include "engine/exchange/onnx/export_sequence.h"
#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {

bool OpExport::isWeight(std::size_t input) const {
  if (!has(input)) return false;
  const TensorRole role = program.tensor(operation.inputs[input]).role;
  return role == TensorRole::parameter || role == TensorRole::state;
}

std::string reshapeTo(const OpExport& given, const std::string& x, Extents extents) {
  for (std::int64_t& extent : extents)
    if (holdsBatch(extent)) extent = -1;  // one at most: what is left
  return given.graph.node("Reshape", {x, given.graph.wholes(extents)});
}

namespace {

using Names = std::vector<std::string>;
using Written = GraphWriter::Attributes;

std::string number(const OpExport& given, double value) {
  return given.graph.number(value);
}

Names unary(const OpExport& given) {
  const Attributes& attributes = given.operation.attributes;
  const std::string function = attributes.text("function"), x = given.at(0);
  GraphWriter& graph = given.graph;
  static const std::map<std::string, const char*> plain{{"relu", "Relu"},
                                                        {"selu", "Selu"},
                                                        {"sigmoid", "Sigmoid"},
                                                        {"tanh", "Tanh"},
                                                        {"exp", "Exp"},
                                                        {"log", "Log"},
                                                        {"sqrt", "Sqrt"},
                                                        {"negative", "Neg"},
                                                        {"absolute", "Abs"},
                                                        {"reciprocal", "Reciprocal"},
                                                        {"hard_swish", "HardSwish"},
                                                        {"softsign", "Softsign"},
                                                        {"erf", "Erf"},
                                                        {"sign", "Sign"},
                                                        {"floor", "Floor"},
                                                        {"ceil", "Ceil"},
                                                        {"round", "Round"},
                                                        {"sin", "Sin"},
                                                        {"cos", "Cos"},
                                                        {"tan", "Tan"},
                                                        {"asin", "Asin"},
                                                        {"acos", "Acos"},
                                                        {"atan", "Atan"},
                                                        {"sinh", "Sinh"},
                                                        {"cosh", "Cosh"},
                                                        {"asinh", "Asinh"},
                                                        {"acosh", "Acosh"},
                                                        {"atanh", "Atanh"}};
  if (const auto found = plain.find(function); found != plain.end()) return {graph.node(found->second, {x})};
  if (function == "leaky_relu") return {graph.node("LeakyRelu", {x}, {{"alpha", attributes.real("alpha", 0.01)}})};
  if (function == "elu") return {graph.node("Elu", {x}, {{"alpha", attributes.real("alpha", 1)}})};
  if (function == "silu") return {graph.node("Mul", {x, graph.node("Sigmoid", {x})})};
  if (function == "square") return {graph.node("Mul", {x, x})};
  if (function == "reciprocal_sqrt") return {graph.node("Reciprocal", {graph.node("Sqrt", {x})})};
  if (function == "hard_sigmoid")
    return {graph.node("HardSigmoid", {x},
                       {{"alpha", attributes.real("alpha", 1.0 / 6)}, {"beta", attributes.real("beta", 0.5)}})};
  if (function == "clamp")
    return {graph.node("Clip", {x, attributes.has("alpha") ? number(given, attributes.real("alpha")) : "",
                                attributes.has("beta") ? number(given, attributes.real("beta")) : ""})};
  if (function == "softplus") {
    const double alpha = attributes.real("alpha", 1);
    if (alpha == 1) return {graph.node("Softplus", {x})};
    return {graph.node("Div",
                       {graph.node("Softplus", {graph.node("Mul", {x, number(given, alpha)})}), number(given, alpha)})};
  }
  if (function == "gelu" && !attributes.boolean("approximate", false)) {
    const std::string erf = graph.node("Erf", {graph.node("Div", {x, number(given, std::sqrt(2.0))})});
    return {
        graph.node("Mul", {graph.node("Mul", {x, graph.node("Add", {erf, number(given, 1)})}), number(given, 0.5)})};
  }
  if (function == "gelu") {
    const std::string cube = graph.node("Mul", {graph.node("Pow", {x, number(given, 3)}), number(given, 0.044715)});
    const std::string inner =
        graph.node("Mul", {graph.node("Add", {x, cube}), number(given, std::sqrt(2 / 3.14159265358979323846))});
    return {graph.node("Mul", {graph.node("Mul", {x, number(given, 0.5)}),
                               graph.node("Add", {graph.node("Tanh", {inner}), number(given, 1)})})};
  }
  throwError(ErrorCode::badProject, "the function '{}' has no counterpart in ONNX", function);
}

Names binary(const OpExport& given) {
  const std::string function = given.operation.attributes.text("function");
  static const std::map<std::string, const char*> plain{{"add", "Add"},    {"subtract", "Sub"}, {"multiply", "Mul"},
                                                        {"divide", "Div"}, {"maximum", "Max"},  {"minimum", "Min"},
                                                        {"power", "Pow"}};
  static const std::map<std::string, const char*> comparisons{{"equal", "Equal"},
                                                              {"greater", "Greater"},
                                                              {"greater_equal", "GreaterOrEqual"},
                                                              {"less", "Less"},
                                                              {"less_equal", "LessOrEqual"}};
  const Names inputs{given.at(0), given.at(1)};
  if (const auto found = plain.find(function); found != plain.end()) return {given.graph.node(found->second, inputs)};
  if (function == "fmod" || function == "modulo") {
    // Of broken numbers ONNX has the form with the sign of a alone.
    GraphWriter& graph = given.graph;
    const std::string left = graph.node("Mod", inputs, {{"fmod", std::int64_t{1}}});
    if (function == "fmod") return {left};
    const std::string none = number(given, 0);
    const std::string differs =
        graph.node("Xor", {graph.node("Less", {left, none}), graph.node("Less", {inputs[1], none})});
    const std::string moves = graph.node("And", {differs, graph.node("Not", {graph.node("Equal", {left, none})})});
    return {graph.node("Where", {moves, graph.node("Add", {left, inputs[1]}), left})};
  }
  std::string truth;
  if (const auto found = comparisons.find(function); found != comparisons.end())
    truth = given.graph.node(found->second, inputs);
  else if (function == "not_equal")
    truth = given.graph.node("Not", {given.graph.node("Equal", inputs)});
  else
    throwError(ErrorCode::badProject, "the function '{}' has no counterpart in ONNX", function);
  return {given.graph.node("Cast", {truth}, {{"to", std::int64_t{1}}})};
}

Names scale(const OpExport& given) {
  const double factor = given.operation.attributes.real("factor", 1),
               offset = given.operation.attributes.real("offset", 0);
  std::string x = given.at(0);
  if (factor == -1 && offset == 0) return {given.graph.node("Neg", {x})};
  if (factor == -1) return {given.graph.node("Sub", {number(given, offset), x})};
  if (factor != 1) x = given.graph.node("Mul", {x, number(given, factor)});
  if (offset != 0) x = given.graph.node("Add", {x, number(given, offset)});
  return {x};
}

Names scaleBy(const OpExport& given) {
  return {given.graph.node("Mul", {given.at(0), given.at(1)})};
}

std::vector<std::int64_t> fromFront(std::vector<std::int64_t> axes, std::size_t rank) {
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
  return axes;
}

std::int64_t axisOf(const OpExport& given, std::int64_t otherwise) {
  return fromFront({given.operation.attributes.integer("axis", otherwise)}, given.of(0).rank())[0];
}

Names reduce(const OpExport& given) {
  const Attributes& attributes = given.operation.attributes;
  const std::string function = attributes.text("function");
  const auto axes = fromFront(attributes.integers("axes"), given.of(0).rank());
  const std::int64_t keep = attributes.boolean("keep", false) ? 1 : 0;
  if (function == "sum")
    return {given.graph.node("ReduceSum", {given.at(0), given.graph.wholes(axes)}, {{"keepdims", keep}})};
  static const std::map<std::string, const char*> ops{
      {"mean", "ReduceMean"}, {"maximum", "ReduceMax"}, {"minimum", "ReduceMin"}, {"product", "ReduceProd"}};
  const auto found = ops.find(function);
  if (found == ops.end()) throwError(ErrorCode::badProject, "the reduction '{}' has no counterpart in ONNX", function);
  return {given.graph.node(found->second, {given.at(0)}, {{"axes", axes}, {"keepdims", keep}})};
}

Names broadcast(const OpExport& given) {
  return {given.graph.node("Expand", {given.at(0), given.shape(given.made().extents())})};
}

Names softmax(const OpExport& given) {
  return {given.graph.node("Softmax", {given.at(0)}, {{"axis", axisOf(given, -1)}})};
}

Names concatenate(const OpExport& given) {
  Names inputs;
  for (std::size_t i = 0; i < given.operation.inputs.size(); ++i) inputs.push_back(given.at(i));
  return {given.graph.node("Concat", inputs, {{"axis", axisOf(given, 1)}})};
}

Names slice(const OpExport& given) {
  const Attributes& attributes = given.operation.attributes;
  const std::int64_t axis = axisOf(given, 1), start = attributes.integer("start", 0),
                     step = attributes.integer("step", 1);
  const std::int64_t end = start + (attributes.integer("length") - 1) * step + 1;
  GraphWriter& graph = given.graph;
  return {graph.node(
      "Slice", {given.at(0), graph.wholes({start}), graph.wholes({end}), graph.wholes({axis}), graph.wholes({step})})};
}

Names reshape(const OpExport& given) {
  return {reshapeTo(given, given.at(0), given.made().extents())};
}

Names transpose(const OpExport& given) {
  return {given.graph.node("Transpose", {given.at(0)},
                           {{"perm", fromFront(given.operation.attributes.integers("axes"), given.of(0).rank())}})};
}

Names embedding(const OpExport& given) {
  return {given.graph.node("Gather", {given.at(1), given.at(0)})};
}

// With its last two axes swapped: a weight as another constant, anything else by a node.
std::string swapped(const OpExport& given, std::size_t input) {
  const Shape& shape = given.of(input);
  if (given.isWeight(input) && shape.rank() == 2) {
    const std::vector<float> values = given.values(input);
    std::vector<float> turned(values.size());
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t k = 0; k < shape[1]; ++k)
        turned[static_cast<std::size_t>(k * shape[0] + i)] = values[static_cast<std::size_t>(i * shape[1] + k)];
    return given.graph.constant(given.program.tensor(given.operation.inputs[input]).name, {shape[1], shape[0]}, turned);
  }
  std::vector<std::int64_t> axes(shape.rank());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return given.graph.node("Transpose", {given.at(input)}, {{"perm", axes}});
}

Names matmul(const OpExport& given) {
  const Attributes& attributes = given.operation.attributes;
  const bool a = attributes.boolean("transpose_a", false), b = attributes.boolean("transpose_b", false);
  if (given.of(0).rank() == 2 && given.of(1).rank() == 2) {
    Names inputs{given.at(0), given.at(1)};
    if (given.has(2)) inputs.push_back(given.at(2));
    return {given.graph.node("Gemm", inputs, {{"transA", std::int64_t{a}}, {"transB", std::int64_t{b}}})};
  }
  const std::string left = a ? swapped(given, 0) : given.at(0), right = b ? swapped(given, 1) : given.at(1);
  const std::string product = given.graph.node("MatMul", {left, right});
  return {given.has(2) ? given.graph.node("Add", {product, given.at(2)}) : product};
}

Written window(const OpExport& given, const Extents& kernel) {
  const Attributes& attributes = given.operation.attributes;
  Written written{
      {"kernel_shape", kernel}, {"strides", attributes.integers("strides")}, {"pads", attributes.integers("padding")}};
  if (attributes.has("dilation")) written["dilations"] = attributes.integers("dilation");
  if (attributes.has("groups")) written["group"] = attributes.integer("groups");
  return written;
}

Extents kernelOf(const OpExport& given) {
  return {given.of(1).begin() + 2, given.of(1).end()};
}

Names convolution(const OpExport& given) {
  Names inputs{given.at(0), given.at(1)};
  if (given.has(2)) inputs.push_back(given.at(2));
  return {given.graph.node("Conv", inputs, window(given, kernelOf(given)))};
}

// A deconvolution, forward.
Names deconvolution(const OpExport& given) {
  const Attributes& attributes = given.operation.attributes;
  const Extents kernel = kernelOf(given);
  const auto &strides = attributes.integers("strides"), &pads = attributes.integers("padding"),
             &dilation = attributes.integers("dilation"), &shape = attributes.integers("input_shape");
  std::vector<std::int64_t> further;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t in = given.of(0).extents()[i + 2];
    further.push_back(shape[shape.size() - kernel.size() + i] -
                      ((in - 1) * strides[i] + dilation[i] * (kernel[i] - 1) + 1 - pads[i] - pads[i + kernel.size()]));
    if (further.back() < 0) throwError(ErrorCode::badProject, "its output is smaller than ONNX can say");
  }
  Names inputs{given.at(0), given.at(1)};
  if (given.has(2)) inputs.push_back(given.at(2));
  Written written = window(given, kernel);
  written["output_padding"] = further;
  return {given.graph.node("ConvTranspose", inputs, written)};
}

Names maxPooling(const OpExport& given) {
  return {given.graph.node("MaxPool", {given.at(0)}, window(given, given.operation.attributes.integers("kernel")))};
}

Names averagePooling(const OpExport& given) {
  Written written = window(given, given.operation.attributes.integers("kernel"));
  written["count_include_pad"] = std::int64_t{given.operation.attributes.boolean("include_padding", false)};
  return {given.graph.node("AveragePool", {given.at(0)}, written)};
}

// gamma and beta, or ones and zeros where a layer has none.
std::string orConstant(const OpExport& given, std::size_t input, const Extents& extents, float value,
                       const char* wish) {
  if (given.has(input)) return given.at(input);
  return given.graph.constant(given.operation.origin + "/" + wish, extents,
                              std::vector<float>(static_cast<std::size_t>(elementsOf(extents)), value));
}

Names batchNormalization(const OpExport& given) {
  const std::int64_t axis = axisOf(given, 1), channels = given.of(0)[axis];
  std::vector<std::int64_t> turn(given.of(0).rank()), back(turn.size());
  std::iota(turn.begin(), turn.end(), std::int64_t{0});
  if (axis != 1) {
    turn.erase(turn.begin() + axis);
    turn.insert(turn.begin() + 1, axis);
    for (std::size_t i = 0; i < turn.size(); ++i)
      back[static_cast<std::size_t>(turn[i])] = static_cast<std::int64_t>(i);
  }
  std::string x = given.at(0);
  if (axis != 1) x = given.graph.node("Transpose", {x}, {{"perm", turn}});
  x = given.graph.node("BatchNormalization",
                       {x, orConstant(given, 1, {channels}, 1, "gamma"), orConstant(given, 2, {channels}, 0, "beta"),
                        given.at(3), given.at(4)},
                       {{"epsilon", given.operation.attributes.real("epsilon", 1e-5)}});
  return {axis == 1 ? x : given.graph.node("Transpose", {x}, {{"perm", back}})};
}

Names layerNormalization(const OpExport& given) {
  const std::int64_t axes = given.operation.attributes.integer("axes", 1);
  const Shape& x = given.of(0);
  const Extents normalised(x.end() - axes, x.end());
  Names inputs{given.at(0), orConstant(given, 1, normalised, 1, "gamma")};
  if (given.has(2)) inputs.push_back(given.at(2));
  return {given.graph.node("LayerNormalization", inputs,
                           {{"axis", -axes}, {"epsilon", given.operation.attributes.real("epsilon", 1e-5)}})};
}

Names localResponse(const OpExport& given) {
  const Attributes& attributes = given.operation.attributes;
  return {given.graph.node("LRN", {given.at(0)},
                           {{"size", attributes.integer("size", 5)},
                            {"alpha", attributes.real("alpha", 1e-4)},
                            {"beta", attributes.real("beta", 0.75)},
                            {"bias", attributes.real("k", 1)}})};
}

Names select(const OpExport& given) {
  const std::string condition = given.graph.node("Cast", {given.at(0)}, {{"to", std::int64_t{9}}});
  return {given.graph.node("Where", {condition, given.at(1), given.at(2)})};
}

Names stopGradient(const OpExport& given) {
  return {given.graph.node("Identity", {given.at(0)})};
}

Names oneHot(const OpExport& given) {
  const std::string values = given.graph.constant("off_and_on", {2}, {0, 1});
  return {given.graph.node("OneHot",
                           {given.at(0), given.graph.wholes({given.operation.attributes.integer("classes")}), values},
                           {{"axis", std::int64_t{-1}}})};
}

Names topK(const OpExport& given) {
  const std::string values = given.graph.node(
      "TopK", {given.at(0), given.graph.wholes({given.operation.attributes.integer("k")})},
      {{"axis", std::int64_t{-1}}, {"largest", std::int64_t{given.operation.attributes.boolean("largest", true)}}}, 2);
  return {values, given.graph.node("Cast", {values + "_1"}, {{"to", std::int64_t{1}}})};
}

// The same distribution; the numbers are those of whatever runs the file.
Names random(const OpExport& given) {
  const std::string like = given.graph.node("Expand", {number(given, 0), given.shape(given.made().extents())});
  return {given.graph.node(
      given.operation.attributes.text("distribution") == "normal" ? "RandomNormalLike" : "RandomUniformLike", {like})};
}

}  // namespace

OpWriter opWriter(const std::string& op) {
  static const std::map<std::string, OpWriter> table{{"unary", unary},
                                                     {"binary", binary},
                                                     {"scale", scale},
                                                     {"scale_by", scaleBy},
                                                     {"reduce", reduce},
                                                     {"broadcast", broadcast},
                                                     {"softmax", softmax},
                                                     {"concatenate", concatenate},
                                                     {"slice", slice},
                                                     {"reshape", reshape},
                                                     {"transpose", transpose},
                                                     {"embedding", embedding},
                                                     {"matmul", matmul},
                                                     {"convolution", convolution},
                                                     {"convolution_input_gradient", deconvolution},
                                                     {"max_pooling", maxPooling},
                                                     {"average_pooling", averagePooling},
                                                     {"batch_normalization_inference", batchNormalization},
                                                     {"layer_normalization", layerNormalization},
                                                     {"local_response_normalization", localResponse},
                                                     {"select", select},
                                                     {"stop_gradient", stopGradient},
                                                     {"one_hot", oneHot},
                                                     {"top_k", topK},
                                                     {"random", random},
                                                     {"resample", writeResample},
                                                     {"lstm", writeLstm},
                                                     {"gru", writeGru},
                                                     {"attention", writeAttention}};
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace loom::onnx_file
