// Operators as they were before version 7, said as that version has them. Numbers that were attributes become inputs,
// and a second value that was to be stretched from an axis on gets the axes behind it.
#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {
namespace {

int typeNamed(const std::string& name) {
  for (const auto& [type, text] : {std::pair(kFloat, "FLOAT"),
                                   {kUint8, "UINT8"},
                                   {kInt8, "INT8"},
                                   {kInt16, "INT16"},
                                   {kInt32, "INT32"},
                                   {kInt64, "INT64"},
                                   {kBool, "BOOL"},
                                   {kFloat16, "FLOAT16"},
                                   {kDouble, "DOUBLE"}})
    if (name == text) return type;
  return kUnknownType;
}

void setReals(OnnxNode& node, const char* key, std::vector<double> numbers) {
  node.attributes[key] = {.kind = Attribute::Kind::reals, .reals = std::move(numbers)};
}

}  // namespace

std::optional<OnnxNode> modernise(OnnxNode& node, int opset, Facts& facts) {
  if (node.outputs.empty()) return {};
  if (node.op == "Reshape" && node.inputs.size() == 1) {
    auto shape = std::make_shared<Constant>();
    shape->kind = Constant::Kind::whole;
    shape->wholes = node.integers("shape");
    shape->extents = {static_cast<std::int64_t>(shape->wholes.size())};
    node.inputs.push_back(node.outputs[0] + "/shape");
    facts.make(node.inputs[1]) = {true, shape->extents, shape, 1, kInt64};
  } else if (node.op == "Cast" && !node.text("to", "").empty()) {
    node.attributes["to"] = {.kind = Attribute::Kind::integer, .integer = typeNamed(node.text("to", ""))};
  } else if (node.op == "Pad" && node.has("paddings")) {
    node.attributes["pads"] = node.attributes["paddings"];
  } else if (node.op == "Upsample" && node.has("height_scale")) {
    setReals(node, "scales", {1, 1, node.real("height_scale", 1), node.real("width_scale", 1)});
  } else if (node.op == "Selu" && opset < 6) {
    for (const auto& [key, number] : {std::pair("alpha", 1.6732), {"gamma", 1.0507}})
      if (!node.has(key)) node.attributes[key] = {.kind = Attribute::Kind::real, .real = number};
  }
  const bool slopes = node.op == "PRelu";
  if (node.inputs.size() != 2 || (!slopes && node.integer("broadcast", 0) == 0)) return {};
  const Fact &a = facts.of(node.inputs[0]), &b = facts.of(node.inputs[1]);
  if (!a.known || !b.known || b.extents.size() >= a.extents.size() || b.extents.empty() || b.extents == Extents{1})
    return {};
  const auto wide = static_cast<std::int64_t>(a.extents.size()), narrow = static_cast<std::int64_t>(b.extents.size());
  std::int64_t axis = slopes ? 1 : node.integer("axis", wide - narrow);
  if (axis < 0) axis += wide;
  if (axis < 0 || axis > wide - narrow) return {};
  OnnxNode first{
      .name = node.name, .op = "Unsqueeze", .inputs = {node.inputs[1]}, .outputs = {node.outputs[0] + "/stretched"}};
  std::vector<std::int64_t> behind;
  for (std::int64_t i = narrow; i < wide - axis; ++i) behind.push_back(i);
  if (behind.empty()) return {};
  first.attributes["axes"] = {.kind = Attribute::Kind::integers, .integers = std::move(behind)};
  node.inputs[1] = first.outputs[0];
  return first;
}

}  // namespace loom::onnx_file
