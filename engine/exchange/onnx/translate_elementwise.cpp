// Functions of single values, and arithmetic of two.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {
namespace {

// Operators that are one layer with fields from their attributes: ONNX's default, our key.
struct FieldOf {
  const char* attribute;
  double otherwise;
  const char* key;
};
struct Activation {
  const char* layer;
  std::vector<FieldOf> fields;
};

const std::unordered_map<std::string, Activation>& activations() {
  static const std::unordered_map<std::string, Activation> table{
      {"Relu", {"ReLU", {}}},
      {"LeakyRelu", {"LeakyReLU", {{"alpha", 0.01, "alpha"}}}},
      {"Elu", {"ELU", {{"alpha", 1, "alpha"}}}},
      {"Sigmoid", {"Sigmoid", {}}},
      {"Tanh", {"Tanh", {}}},
      {"HardSwish", {"HardSwish", {}}},
      {"HardSigmoid", {"HardSigmoid", {{"alpha", 0.2, "alpha"}, {"beta", 0.5, "beta"}}}},
      {"Softplus", {"Softplus", {}}},
      {"Softsign", {"Softsign", {}}},
      {"Mish", {"Mish", {}}},
      {"Celu", {"CELU", {{"alpha", 1, "alpha"}}}},
      {"ThresholdedRelu", {"ThresholdedReLU", {{"alpha", 1, "alpha"}}}},
      {"Erf", {"Erf", {}}},
      {"Abs", {"Abs", {}}},
      {"Neg", {"Negative", {}}},
      {"Exp", {"Exp", {}}},
      {"Log", {"Log", {}}},
      {"Sqrt", {"Sqrt", {}}},
      {"Reciprocal", {"Reciprocal", {}}},
      {"Sign", {"Sign", {}}},
      {"Floor", {"Floor", {}}},
      {"Ceil", {"Ceil", {}}},
      {"Round", {"Round", {}}},
      {"Sin", {"Sin", {}}},
      {"Cos", {"Cos", {}}},
      {"Tan", {"Tan", {}}},
      {"Asin", {"Asin", {}}},
      {"Acos", {"Acos", {}}},
      {"Atan", {"Atan", {}}},
      {"Sinh", {"Sinh", {}}},
      {"Cosh", {"Cosh", {}}},
      {"Asinh", {"Asinh", {}}},
      {"Acosh", {"Acosh", {}}},
      {"Atanh", {"Atanh", {}}},
      {"Not", {"LogicalNot", {}}}};
  return table;
}

// Operators of two values, as the layer of two inputs and as those of one and a number (x first, number first); null:
// the number becomes a Parameter.
struct Pair {
  const char* layer;
  const char* withNumber;
  const char* ofNumber;
};
const std::unordered_map<std::string, Pair>& pairs() {
  static const std::unordered_map<std::string, Pair> table{
      {"Add", {"Add", "AddScalar", "AddScalar"}},
      {"Sum", {"Add", "AddScalar", "AddScalar"}},
      {"Mean", {"Add", nullptr, nullptr}},
      {"Mul", {"Multiply", "MultiplyScalar", "MultiplyScalar"}},
      {"Sub", {"Subtract", "AddScalar", "SubtractFromScalar"}},
      {"Div", {"Divide", "MultiplyScalar", "DivideScalarBy"}},
      {"Mod", {"Modulo", "Modulo", nullptr}},
      {"Pow", {"Power", "PowerScalar", "ScalarToThePower"}},
      {"Max", {"Maximum", "MaximumScalar", "MaximumScalar"}},
      {"Min", {"Minimum", "MinimumScalar", "MinimumScalar"}},
      {"Equal", {"Equal", "Equal", "Equal"}},
      {"Greater", {"Greater", "Greater", "Less"}},
      {"GreaterOrEqual", {"GreaterEqual", "GreaterEqual", "LessEqual"}},
      {"Less", {"Less", "Less", "Greater"}},
      {"LessOrEqual", {"LessEqual", "LessEqual", "GreaterEqual"}},
      {"And", {"LogicalAnd", nullptr, nullptr}},
      {"Or", {"LogicalOr", nullptr, nullptr}},
      {"Xor", {"LogicalXor", nullptr, nullptr}}};
  return table;
}

// What the attributes of such an operator say.
Json fieldsOf(const OnnxNode& node) {
  if (node.op == "Mod" && node.integer("fmod", 0) != 0) return {{"sign_of_a", true}};
  return Json::object();
}

}  // namespace

void Translator::activation(const OnnxNode& node) {
  if (node.op == "Gelu" || node.op == "com.microsoft.Gelu" || node.op == "com.microsoft.FastGelu") {
    if (node.inputs.size() > 1 && !node.inputs[1].empty())
      refuse("its bias is part of it, which has no counterpart here");
    return map(node, "GELU",
               {{"approximate", node.op == "com.microsoft.FastGelu" || node.text("approximate", "none") == "tanh"}});
  }
  if (node.op == "Swish") {
    if (node.real("alpha", 1) != 1) refuse("its alpha is not 1");
    return map(node, "SiLU");
  }
  if (node.op == "Selu") {
    if (std::abs(node.real("alpha", 1.67326319217681884765625) - 1.67326319) > 1e-5 ||
        std::abs(node.real("gamma", 1.05070102214813232421875) - 1.05070098) > 1e-5)
      refuse("its alpha and gamma are not those of SELU");
    return map(node, "SELU");
  }
  if (node.op == "Clip") {
    constexpr double kNoBound = 1e30;  // exporters write the largest number for none
    const auto bound = [&](std::size_t input, const char* key) -> Json {
      double value = INFINITY;
      if (m_graph.opset < 11) {
        value = node.real(key, INFINITY);
      } else if (const Constant* given = optionalConstant(node, input); given && given->stored() > 0) {
        value = given->at(0);
      }
      return std::abs(value) < kNoBound ? Json(value) : Json();
    };
    const Json low = bound(1, "min"), high = bound(2, "max");
    if (low == Json(0.0) && high.is_null()) return map(node, "ReLU");
    if (low == Json(0.0) && high == Json(6.0)) return map(node, "ReLU6");
    if (low.is_null() && high.is_null()) return identity(node);
    Json values = Json::object();
    if (!low.is_null()) values["low"] = low;
    if (!high.is_null()) values["high"] = high;
    return map(node, "Clip", std::move(values));
  }
  const Activation& found = activations().at(node.op);
  Json values = Json::object();
  for (const FieldOf& field : found.fields) values[field.key] = node.real(field.attribute, field.otherwise);
  map(node, found.layer, std::move(values));
}

// loom.Function: several operators that are one function, recognised by its values (patterns.cpp).
void Translator::function(const OnnxNode& node) {
  map(node, node.text("layer", ""), parseJson(node.text("values", "{}"), node.op));
}

void Translator::softmax(const OnnxNode& node) {
  const View from = view(node.input(0));
  const std::size_t axis = axisIn(node.integer("axis", m_graph.opset < 13 ? 1 : -1), from.axes.size());
  if (!from.sampleAxis(axis)) refuse("it compares samples of a batch with each other");
  // Before version 13 all axes from this one on were taken together: as one, and apart again.
  const Extents extents = from.extents();
  const std::int64_t together = elementsOf({extents.begin() + static_cast<std::ptrdiff_t>(axis), extents.end()});
  if (m_graph.opset < 13 && together != extents[axis]) {
    if (from.batchAxis() > static_cast<std::int64_t>(axis)) refuse("it compares samples of a batch with each other");
    Extents grouped(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(axis));
    grouped.push_back(together);
    const Endpoint x = drawn(node.input(0), node);
    const auto flat = reshaped(likeView(x, m_drawing.shape(x), from), grouped);
    if (!flat) refuse("an axis of its input holds the batch and more");
    const Endpoint y =
        m_drawing.output(m_drawing.add(node.op, wish(node), {{"axis", -1}}, {m_drawing.draw(*flat, wish(node))}));
    give(node, *reshaped(likeView(y, m_drawing.shape(y), *flat), extents));
    return tell(ReportItem::Kind::translated, node, y.node, node.op + ".");
  }
  Json values = {{"axis", *from.sampleAxis(axis)}};
  map(node, node.op, std::move(values));
}

void Translator::dropout(const OnnxNode& node) {
  double ratio = node.real("ratio", 0.5);
  if (m_graph.opset >= 12)
    if (const Constant* given = optionalConstant(node, 1); given && given->stored() > 0) ratio = given->at(0);
  if (node.outputs.size() > 1 && readersOf(node.outputs[1]) > 0)
    refuse("its mask is read by others, which stays inside the layer here");
  map(node, "Dropout", {{"probability", ratio}});
}

void Translator::arithmetic(const OnnxNode& node) {
  if (node.inputs.size() == 1) return identity(node);
  std::size_t fed = node.inputs.size();
  std::size_t constants = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (m_facts.isConstant(node.inputs[i]))
      ++constants;
    else if (fed == node.inputs.size())
      fed = i;
  }
  if (fed == node.inputs.size()) refuse("it works on constants alone, which are too many numbers to calculate here");
  if (constants > 0 && node.inputs.size() == 2 && node.op != "Mean") return arithmeticWithConstant(node, fed);
  if (constants > 0) refuse("constants and fed values are mixed in it");
  twoValues(node, pairs().at(node.op).layer);
}

void Translator::twoValues(const OnnxNode& node, const std::string& layer) {
  if (node.op == "Mul" && node.inputs.size() == 2 && node.inputs[0] == node.inputs[1]) return map(node, "Square");
  const bool several = layer == "Add" || layer == "Multiply";
  if (node.inputs.size() > 2 && !several) refuse("it has more than two inputs");
  std::vector<Endpoint> inputs;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (view(node.inputs[i]).axes.size() > view(node.inputs[widest]).axes.size()) widest = i;
  const View like = view(node.inputs[widest]);
  const std::size_t rank = like.axes.size();
  for (const std::string& input : node.inputs) {
    View from = view(input);
    if (!from.hasBatch()) refuse("an input of it does not depend on what is fed");
    // Counted from the last axis, as shapes stretch.
    if (from.batchAxis() - static_cast<std::int64_t>(from.axes.size()) !=
            like.batchAxis() - static_cast<std::int64_t>(rank) ||
        from.axes[static_cast<std::size_t>(from.batchAxis())].size() !=
            like.axes[static_cast<std::size_t>(like.batchAxis())].size())
      refuse("its inputs have the batch at different places");
    from.axes.insert(from.axes.begin(), rank - from.axes.size(), {});
    inputs.push_back(m_drawing.draw(from, wish(node)));
  }
  const bool divides = node.op == "Div" && isWhole(m_facts.of(node.input(0)).type);
  Endpoint y = m_drawing.output(m_drawing.add(layer, wish(node), fieldsOf(node), inputs));
  if (divides) y = truncated(y, node);
  View result = likeView(y, m_drawing.shape(y), like);
  if (node.op == "Mean") result.factor /= static_cast<double>(inputs.size());
  give(node, std::move(result));
  tell(ReportItem::Kind::translated, node, y.node, layer + (divides ? ", rounded towards zero." : "."));
}

void Translator::arithmeticWithConstant(const OnnxNode& node, std::size_t fed) {
  const Pair& pair = pairs().at(node.op);
  const Constant& number = *m_facts.constant(node.inputs[1 - fed]);
  const View from = view(node.inputs[fed]);
  const std::int64_t elements = elementsOf(number.extents);
  if (elements == 0) refuse("it works with a constant that holds nothing");
  bool equal = number.uniform() || elements == 1;
  for (std::int64_t i = 1; !equal && i < elements && number.at(static_cast<std::size_t>(i)) == number.at(0); ++i)
    equal = i + 1 == elements;
  const Fact& fact = m_facts.of(node.outputs.at(0));
  const char* single = fed == 0 ? pair.withNumber : pair.ofNumber;
  const bool divides = node.op == "Div" && isWhole(fact.type);
  if (equal && single && !divides && (!fact.known || fact.extents == from.extents())) {
    double value = number.at(0);
    if (fed == 0 && node.op == "Sub") value = -value;
    if (fed == 0 && node.op == "Div") value = 1 / value;
    const std::string layer = single;
    const bool nothing =
        (value == 0 && layer == "AddScalar") || (value == 1 && (layer == "MultiplyScalar" || layer == "PowerScalar"));
    const OnnxNode turned = fed == 0 ? node : [&] {
      OnnxNode copy = node;
      std::swap(copy.inputs[0], copy.inputs[1]);
      return copy;
    }();
    if (nothing) return identity(turned);
    if (layer == "MultiplyScalar" && std::isfinite(value) && value != 0) {
      View scaled = from;  // an attention takes it up; else it is drawn where a layer wants the value
      scaled.factor *= value;
      give(node, std::move(scaled));
      return tell(ReportItem::Kind::translated, node, {}, "MultiplyScalar, where a layer wants it.");
    }
    Json values = fieldsOf(node);
    values["value"] = value;
    return map(turned, layer, std::move(values));
  }
  // A learned constant, stretched over the batch: T x C added to a sequence is a PositionEmbedding.
  const Endpoint x = m_drawing.draw(from, wish(node));
  const Shape& sample = m_drawing.shape(x);
  Extents extents = withoutBatch(number, from, OverBatch::alike);
  if (node.op == "Add" && sample.rank() == 2 && Shape(extents) == sample &&
      elementsOf(number.extents) == sample.elements()) {
    const std::string id = m_drawing.add("PositionEmbedding", wish(node), Json::object(), {x});
    m_drawing.weight(id, "weight", sample, number.allReals());
    give(node, likeView(m_drawing.output(id), sample, from));
    return tell(ReportItem::Kind::translated, node, id, "PositionEmbedding.");
  }
  while (extents.size() > 1 && extents.front() == 1) extents.erase(extents.begin());
  const Endpoint constant = parameter(node, node.inputs[1 - fed], extents);
  std::vector<Endpoint> inputs{x, constant};
  if (fed == 1) std::swap(inputs[0], inputs[1]);
  Endpoint y = m_drawing.output(m_drawing.add(pair.layer, wish(node), fieldsOf(node), inputs));
  if (divides) y = truncated(y, node);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, y.node,
       fmt::format("{} with a Parameter{}.", pair.layer, divides ? ", rounded towards zero" : ""));
}

// The condition, what stands where it holds, what stands elsewhere: each fed or a constant.
void Translator::where(const OnnxNode& node) {
  std::size_t widest = 3;
  for (std::size_t i = 0; i < 3; ++i)
    if (m_views.count(node.input(i)) &&
        (widest == 3 || view(node.input(i)).axes.size() > view(node.input(widest)).axes.size()))
      widest = i;
  if (widest == 3) refuse("nothing that it chooses from is fed");
  const View like = view(node.input(widest));
  std::vector<Endpoint> inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    if (const Constant* constant = m_facts.constant(node.input(i))) {
      inputs.push_back(parameter(node, node.input(i), withoutBatch(*constant, like, OverBatch::alike)));
    } else {
      if (view(node.input(i)).batchAxis() != like.batchAxis() || view(node.input(i)).axes.size() != like.axes.size())
        refuse("its inputs have the batch at different places");
      inputs.push_back(drawn(node.input(i), node));
    }
  }
  const std::string id = m_drawing.add("Where", wish(node), Json::object(), inputs);
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), like));
  tell(ReportItem::Kind::translated, node, id, "Where.");
}

void Translator::prelu(const OnnxNode& node) {
  const View from = view(node.input(0));
  const Constant& slope = constant(node, 1);
  const std::int64_t held = elementsOf(slope.extents);
  wantBatchFirst(from);
  const Extents extents = held == 1 ? Extents{} : withoutBatch(slope, from);
  if (held != 1 && (extents.empty() || extents[0] != held || extents[0] != from.extents()[1]))
    refuse("its slopes are not one a channel");
  const Endpoint x = drawn(node.input(0), node);
  const std::string id = m_drawing.add("PReLU", wish(node), {{"shared", held == 1}}, {x});
  m_drawing.weight(id, "weight", {held}, slope.allReals());
  give(node, likeView(m_drawing.output(id), m_drawing.shape(x), from));
  tell(ReportItem::Kind::translated, node, id, "PReLU.");
}

void addElementwiseRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  for (const auto& [op, activation] : activations()) rules[op] = &Translator::activation;
  for (const char* op : {"Swish", "Gelu", "com.microsoft.Gelu", "com.microsoft.FastGelu", "Selu", "Clip"})
    rules[op] = &Translator::activation;
  for (const auto& [op, pair] : pairs()) rules[op] = &Translator::arithmetic;
  rules["loom.Function"] = &Translator::function;
  rules["Softmax"] = rules["LogSoftmax"] = &Translator::softmax;
  rules["Dropout"] = &Translator::dropout;
  rules["Where"] = &Translator::where;
  rules["PRelu"] = &Translator::prelu;
}

}  // namespace loom::onnx_file
