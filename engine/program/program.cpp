#include "engine/program/program.h"

#include <fmt/format.h>

namespace loom {
namespace {

std::string_view toString(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return "input";
    case TensorRole::scalar:
      return "scalar";
    case TensorRole::parameter:
      return "parameter";
    case TensorRole::parameterGradient:
      return "gradient of";
    case TensorRole::slot:
      return "slot";
    case TensorRole::state:
      return "state";
    case TensorRole::constant:
      return "constant";
    case TensorRole::intermediate:
      return "";
  }
  return "";
}

template <class T>
std::string listOf(const std::vector<T>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string toText(const Attributes::Value& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<std::int64_t>& v) const { return listOf(v); }
    std::string operator()(const std::vector<double>& v) const { return listOf(v); }
  };
  return std::visit(Visitor{}, value);
}

// "%7 conv1: 8×16×28×28", "%2 (parameter conv1/weight)", "-".
std::string describe(const Program& program, TensorId id, bool withShape) {
  if (id == kNoTensor) return "-";
  const Tensor& tensor = program.tensor(id);
  std::string text = fmt::format("%{}", id);
  if (tensor.role == TensorRole::constant)
    text += fmt::format(" (constant {})", tensor.value);
  else if (tensor.role != TensorRole::intermediate)
    text += fmt::format(" ({} {})", toString(tensor.role), tensor.name);
  if (withShape) text += fmt::format(": {} {}", toString(tensor.type), tensor.shape.toString());
  return text;
}

}  // namespace

std::string slotName(std::string_view parameter, std::string_view slot) {
  return fmt::format("{}#{}", parameter, slot);
}

std::pair<std::string, std::string> parameterAndSlot(std::string_view name) {
  const std::size_t mark = name.rfind('#');
  return {std::string(name.substr(0, mark)), std::string(name.substr(mark + 1))};
}

std::string_view toString(ResultKind kind) {
  switch (kind) {
    case ResultKind::output:
      return "output";
    case ResultKind::loss:
      return "loss";
    case ResultKind::metric:
      return "metric";
  }
  return "";
}

TensorId Program::findTensor(std::string_view name, TensorRole role) const {
  for (std::size_t id = 0; id < tensors.size(); ++id)
    if (tensors[id].role == role && tensors[id].name == name) return static_cast<TensorId>(id);
  return kNoTensor;
}

const Parameter* Program::findParameter(std::string_view name) const {
  for (const Parameter& parameter : parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

std::vector<TensorSpec> Program::specs(const std::vector<TensorId>& ids) const {
  std::vector<TensorSpec> specs;
  specs.reserve(ids.size());
  for (TensorId id : ids) {
    if (id == kNoTensor)
      specs.push_back({.present = false});
    else
      specs.push_back({tensor(id).shape, tensor(id).type});
  }
  return specs;
}

std::vector<TensorSpec> Program::wideSpecs(const std::vector<TensorId>& ids) const {
  std::vector<TensorSpec> wide = specs(ids);
  for (TensorSpec& spec : wide)
    if (spec.type == DataType::bf16 || spec.type == DataType::f16) spec.type = DataType::f32;
  return wide;
}

double Program::multiplyAdds(bool backward) const {
  double sum = 0;
  for (const Operation& operation : operations)
    if (operation.backward == backward && operation.op->multiplyAdds)
      sum +=
          operation.op->multiplyAdds(wideSpecs(operation.inputs), wideSpecs(operation.outputs), operation.attributes);
  return sum;
}

std::string Program::toString() const {
  std::string text = fmt::format("program: batch {}, seed {}, {}\n", batch, seed, training ? "training" : "evaluation");
  for (const Operation& operation : operations) {
    std::vector<std::string> outputs, inputs, attributes;
    for (TensorId id : operation.outputs) outputs.push_back(describe(*this, id, true));
    for (TensorId id : operation.inputs) inputs.push_back(describe(*this, id, false));
    for (const auto& [key, value] : operation.attributes) attributes.push_back(key + "=" + toText(value));
    text += fmt::format("{}{} = {}({}){}  # {}{}\n", operation.backward ? "  " : "", fmt::join(outputs, ", "),
                        operation.op->name, fmt::join(inputs, ", "),
                        attributes.empty() ? "" : fmt::format(" {{{}}}", fmt::join(attributes, ", ")), operation.origin,
                        operation.backward ? ", backward" : "");
  }
  for (const NamedResult& result : results)
    text +=
        fmt::format("{} '{}' is {}\n", loom::toString(result.kind), result.name, describe(*this, result.tensor, true));
  return text;
}

}  // namespace loom
