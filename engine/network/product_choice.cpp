#include "engine/network/product_choice.h"

#include <algorithm>

#include "engine/network/pattern.h"

namespace loom {

std::string_view kindName(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::weight:
      return "weight";
    case ParameterKind::bias:
      return "bias";
    case ParameterKind::normalisation:
      return "normalisation";
  }
  return "weight";
}

ProductChoice::ProductChoice(const ProductRule& rule, const Program& trained) : m_rule(rule) {
  const auto leaves = [&rule](std::string_view what) {
    return std::find(rule.leaves().begin(), rule.leaves().end(), what) != rule.leaves().end();
  };
  std::string last;
  for (const Parameter& parameter : trained.parameters)
    if (!parameter.isState && parameter.kind == ParameterKind::weight &&
        trained.findTensor(parameter.name, TensorRole::parameterGradient) != kNoTensor)
      last = parameter.name;
  if (leaves("last")) m_left.insert(last);
  if (!leaves("embedding")) return;
  for (const Operation& operation : trained.operations)
    if (operation.op->name == "embedding") m_left.insert(trained.tensor(operation.inputs[1]).name);
}

bool ProductChoice::takes(const Parameter& parameter) const {
  if (parameter.isState || parameter.kind != ParameterKind::weight || m_left.contains(parameter.name) ||
      !m_rule.fits(parameter.shape))
    return false;
  return std::none_of(m_rule.leaves().begin(), m_rule.leaves().end(), [&](const std::string& pattern) {
    return pattern == kindName(parameter.kind) || matchesPattern(pattern, parameter.name);
  });
}

}  // namespace loom
