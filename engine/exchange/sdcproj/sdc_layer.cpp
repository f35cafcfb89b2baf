#include "engine/exchange/sdcproj/sdc_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/catalogue/text.h"

namespace loom::sdc {
namespace {

// A property of Console, the field of ours, and what Console takes where the file has none.
struct Same {
  const char* property;
  const char* field;
  const char* otherwise;
  enum class Kind { number, list, flag } kind = Kind::number;
};

// Layers that are the same arithmetic under another name.
struct Plain {
  const char* layer;
  std::vector<Same> fields;
};

const std::map<std::string, Plain>& plainLayers() {
  using enum Same::Kind;
  static const std::map<std::string, Plain> plain = {
      {"Tanh", {"Tanh", {}}},
      {"Sigmoid", {"Sigmoid", {}}},
      {"ReLU", {"ReLU", {}}},
      {"ReLU6", {"ReLU6", {}}},
      {"CReLU", {"CReLU", {{"Axis", "axis", "0"}}}},
      {"LeakyReLU", {"LeakyReLU", {{"Alpha", "alpha", "0.1"}}}},
      {"ELU", {"ELU", {{"Alpha", "alpha", "1.0"}}}},
      {"CELU", {"CELU", {{"Alpha", "alpha", "1.0"}}}},
      {"SELU", {"SELU", {}}},
      {"Swish", {"SiLU", {}}},
      {"SoftPlus", {"Softplus", {{"Beta", "alpha", "1.0"}}}},
      {"SoftSign", {"Softsign", {}}},
      {"HardTanh", {"HardTanh", {}}},
      {"Softmax", {"Softmax", {{"Axis", "axis", "0"}}}},
      {"LogSoftmax", {"LogSoftmax", {{"Axis", "axis", "0"}}}},
      {"Dropout", {"Dropout", {{"P", "probability", "0.5"}}}},
      {"Concatenate", {"Concatenate", {{"Axis", "axis", "0"}}}},
      {"Transpose", {"Transpose", {{"Axes", "axes", "1,0", list}}}},
      {"Flip", {"Flip", {{"Axes", "axes", "0", list}}}},
      {"Broadcast", {"Expand", {{"OutShape", "shape", "*Input", list}}}},
      {"Tile", {"Tile", {{"Reps", "repeats", "1", list}}}},
      {"MatrixDiag", {"MatrixDiagonal", {}}},
      {"MatrixDiagPart", {"DiagonalPart", {}}},
      {"BinaryTanh", {"BinaryTanh", {}}},
      {"BinarySigmoid", {"BinarySigmoid", {}}},
      {"OneHot", {"OneHot", {{"Shape", "classes", "10"}}}},
      {"Unpooling", {"Unpooling", {{"KernelShape", "kernel", "2,2", list}}}},
      {"Add2", {"Add", {}}},
      {"AddN", {"Add", {}}},
      {"Mul2", {"Multiply", {}}},
      {"MulN", {"Multiply", {}}},
      {"Sub2", {"Subtract", {}}},
      {"Div2", {"Divide", {}}},
      {"Pow2", {"Power", {}}},
      {"Maximum2", {"Maximum", {}}},
      {"Minimum2", {"Minimum", {}}},
      {"AddScalar", {"AddScalar", {{"Value", "value", "1"}}}},
      {"MulScalar", {"MultiplyScalar", {{"Value", "value", "1"}}}},
      {"RSubScalar", {"SubtractFromScalar", {{"Value", "value", "1"}}}},
      {"RDivScalar", {"DivideScalarBy", {{"Value", "value", "1"}}}},
      {"PowScalar", {"PowerScalar", {{"Value", "value", "1"}}}},
      {"RPowScalar", {"ScalarToThePower", {{"Value", "value", "1"}}}},
      {"MaximumScalar", {"MaximumScalar", {{"Value", "value", "1"}}}},
      {"MinimumScalar", {"MinimumScalar", {{"Value", "value", "1"}}}},
      {"Sum", {"ReduceSum", {{"Axes", "axes", "0", list}, {"KeepDims", "keep_axes", "False", flag}}}},
      {"Mean", {"ReduceMean", {{"Axes", "axes", "0", list}, {"KeepDims", "keep_axes", "False", flag}}}},
      {"Max", {"ReduceMax", {{"Axes", "axes", "0", list}, {"KeepDims", "keep_axes", "False", flag}}}},
      {"Min", {"ReduceMin", {{"Axes", "axes", "0", list}, {"KeepDims", "keep_axes", "False", flag}}}},
      {"Prod", {"ReduceProduct", {{"Axes", "axes", "0", list}, {"KeepDims", "keep_axes", "False", flag}}}},
      {"BatchMatmul",
       {"MatrixProduct", {{"TransposeA", "transpose_a", "False", flag}, {"TransposeB", "transpose_b", "False", flag}}}},
      {"BatchInv", {"MatrixInverse", {}}},
      {"CumSum",
       {"CumulativeSum",
        {{"Axis", "axis", "0"}, {"Exclusive", "exclusive", "False", flag}, {"Reverse", "reverse", "False", flag}}}},
      {"Parameter", {"Parameter", {{"Size", "shape", "1", list}}}},
      {"WorkingMemory", {"WorkingMemory", {{"Size", "shape", "1", list}}}},
  };
  return plain;
}

void plainLayer(Translation& translation, const Plain& plain) {
  translation.add(plain.layer);
  for (const Same& same : plain.fields) {
    switch (same.kind) {
      case Same::Kind::number:
        translation.set(same.field, translation.number(same.property, same.otherwise));
        break;
      case Same::Kind::list:
        translation.set(same.field, translation.list(same.property, same.otherwise));
        break;
      case Same::Kind::flag:
        translation.set(same.field, translation.flag(same.property, std::string_view(same.otherwise) == "True"));
        break;
    }
  }
}

// Whose values change nothing here, whatever they are: where memory lies, how a face looks, what a search may vary.
bool meansNothing(std::string_view key) {
  static const std::set<std::string, std::less<>> keys = {
      "InPlace", "ParameterScope", "Order",          "Search",      "GeneratorMultiplier", "T.GeneratorMultiplier",
      "Input",   "Output",         "IsLossFunction", "AutoInPlace", "AutoInPlaceOnce"};
  return keys.count(key) > 0 || key.starts_with("Cost");
}

bool isUsual(std::string_view key, std::string_view value) {
  if (value.empty() || value.starts_with("*Name")) return true;
  return (key == "ChannelLast" && value == "False") || (key == "BaseAxis" && value == "0") ||
         (key == "Group" && value == "1") || (key.ends_with("Generator") && value == "None") ||
         (key == "SkipAtTest" && value == "False");
}

}  // namespace

const std::string* Translation::find(const char* key) {
  m_known.insert(key);
  const std::string* value = m_layer.property(key);
  return value && !trimmed(*value).empty() ? value : nullptr;
}

std::string Translation::text(const char* key, const char* otherwise) {
  const std::string* value = find(key);
  return value ? trimmed(*value) : otherwise;
}

bool Translation::flag(const char* key, bool otherwise) {
  const std::string value = text(key, otherwise ? "True" : "False");
  if (value == "True" || value == "true" || value == "1") return true;
  if (value != "False" && value != "false" && value != "0")
    fault(fmt::format("{} is {}, but True or False is understood here", key, clipped(value)));
  return false;
}

Json Translation::number(const char* key, const char* otherwise) {
  const std::string value = text(key, otherwise);
  if (auto found = numberValue(value, m_names)) return *found;
  fault(fmt::format("{} is {}, which has no meaning here: set the field", key, clipped(value)));
  return {};
}

Json Translation::list(const char* key, const char* otherwise) {
  const std::string value = text(key, otherwise);
  if (auto found = listValue(value, m_names)) return *found;
  fault(fmt::format("{} is {}, which has no meaning here: set the field", key, clipped(value)));
  return {};
}

Json& Translation::add(const std::string& layer) {
  const LayerDefinition* definition = findLayer(layer);
  if (!definition) fault(fmt::format("there is no layer {} here", layer));
  nodes.push_back({definition ? definition->entry.id : layer});
  return nodes.back().values;
}

void Translation::set(const char* field, Json value) {
  if (value.is_null() || nodes.empty()) return;
  const LayerDefinition* definition = findLayer(nodes.back().layer);
  if (!definition) return;
  const Field* known = definition->entry.field(field);
  if (!known) {
    fault(fmt::format("{} has no field '{}' for {}", definition->entry.id, field, clipped(value.dump())));
    return;
  }
  if (known->type == FieldType::real && value.is_number()) value = value.get<double>();
  if (value != known->defaultValue) nodes.back().values[field] = std::move(value);
}

std::vector<std::string> Translation::unread() const {
  std::vector<std::string> left;
  for (const auto& [key, value] : m_layer.properties)
    if (!m_known.count(key) && !meansNothing(key) && !isUsual(key, value)) left.push_back(key + "=" + clipped(value));
  return left;
}

void translate(Translation& translation) {
  const std::string& type = translation.layer().type;
  if (const auto plain = plainLayers().find(type); plain != plainLayers().end())
    return plainLayer(translation, plain->second);
  for (const auto* rules : {&weightRules(), &windowRules(), &imageRules(), &lossRules(), &loopRules()})
    if (const auto rule = rules->find(type); rule != rules->end()) return rule->second(translation);
  // A layer without settings that the catalogue knows by Console's name.
  if (const LayerDefinition* same = findLayer(type); same && same->entry.id == type) {
    translation.add(type);
    return;
  }
  translation.fault(fmt::format("there is no counterpart of {} here", clipped(type)));
}

bool isNumbers(const Json& list) {
  return list.is_array() &&
         std::all_of(list.begin(), list.end(), [](const Json& each) { return each.is_number_integer(); });
}
bool allOf(const Json& list, std::int64_t value) {
  return isNumbers(list) && std::all_of(list.begin(), list.end(), [value](const Json& each) { return each == value; });
}
std::int64_t lastAt(const Json& list, std::size_t axis) {
  return list[std::min(axis, list.size() - 1)].get<std::int64_t>();
}

std::string sidePort(const std::string& type, std::int64_t pin) {
  if (type == "Where") return pin == 1 ? "a" : pin == 2 ? "b" : "";
  // R, the right operand.
  static const std::set<std::string, std::less<>> twos = {
      "Sub2",    "Div2",         "Pow2", "Maximum2",  "Minimum2",   "BatchMatmul", "Equal",     "NotEqual",
      "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr",   "LogicalXor"};
  return pin == 1 && twos.count(type) ? "b" : "";
}

}  // namespace loom::sdc
