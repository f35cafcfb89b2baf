#include "engine/program/op.h"

#include <map>

#include "engine/base/error.h"

namespace loom {
namespace {

std::vector<std::string> splitNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return names;
}

}  // namespace

OpSignature signatureOf(const OpDefinition& op) {
  const std::string_view text = op.signature;
  const std::size_t arrow = text.find("->");
  if (arrow == std::string_view::npos)
    throwError(ErrorCode::internal, "op '{}' has the signature '{}', which has no '->'", op.name, text);
  OpSignature signature;
  for (std::string& name : splitNames(text.substr(0, arrow))) {
    OpSignature::Input input{std::move(name)};
    if (input.name.ends_with("...")) {
      signature.several = true;
      input.name.resize(input.name.size() - 3);
    } else if (input.name.ends_with('?')) {
      input.optional = true;
      input.name.pop_back();
    }
    signature.inputs.push_back(std::move(input));
  }
  signature.outputs = splitNames(text.substr(arrow + 2));
  return signature;
}

std::vector<TensorSpec> completeInputs(const OpDefinition& op, std::span<const TensorSpec> inputs) {
  const OpSignature signature = signatureOf(op);
  std::vector<TensorSpec> complete(inputs.begin(), inputs.end());
  if (complete.size() > signature.inputs.size() && !signature.several)
    throwError(ErrorCode::badProject, "{} takes {} inputs ({}), but {} are given", op.name, signature.inputs.size(),
               op.signature, inputs.size());
  while (complete.size() < signature.inputs.size()) complete.push_back({.present = false});
  for (std::size_t i = 0; i < complete.size(); ++i) {
    const OpSignature::Input& input = signature.inputs[std::min(i, signature.inputs.size() - 1)];
    if (!complete[i].present && !input.optional)
      throwError(ErrorCode::badProject, "{} ({}) lacks its input '{}': {} of {} are given", op.name, op.signature,
                 input.name, inputs.size(), signature.inputs.size());
  }
  return complete;
}

std::vector<int> updatedInputs(const OpDefinition& op, std::size_t inputs, const Attributes& attributes) {
  return op.updatesOf == nullptr ? op.updates : op.updatesOf(inputs, attributes);
}

const OpDefinition& findOp(std::string_view name) {
  static const std::map<std::string_view, const OpDefinition*> byName = [] {
    std::map<std::string_view, const OpDefinition*> map;
    for (const OpDefinition* op : opTable()) map.emplace(op->name, op);
    return map;
  }();
  const auto found = byName.find(name);
  if (found == byName.end())
    throwError(ErrorCode::internal, "there is no op '{}' among the {} of the table", name, byName.size());
  return *found->second;
}

}  // namespace loom
