#pragma once
// Which weights of a network a rule with products steps by them.
#include <set>
#include <string>
#include <vector>

#include "engine/optimizers/product_rule.h"
#include "engine/program/program.h"

namespace loom {

// "weight", "bias", "normalisation": as patterns of an update name them.
std::string_view kindName(ParameterKind kind);

class ProductChoice {
 public:
  // `trained`: with gradients of the weights that change. Keeps a reference to `rule`.
  ProductChoice(const ProductRule& rule, const Program& trained);
  bool takes(const Parameter& parameter) const;

 private:
  const ProductRule& m_rule;
  std::set<std::string> m_left;
};

}  // namespace loom
