#pragma once
// What rules of shapes are written with.
#include <algorithm>
#include <optional>
#include <vector>

#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {

class RuleParts {
 public:
  using Answer = std::optional<std::vector<Extents>>;
  RuleParts(const OnnxNode& node, const Facts& facts, int opset) : m_node(node), m_facts(facts), m_opset(opset) {}

 protected:
  bool known(std::size_t i) const { return m_facts.of(m_node.input(i)).known; }
  const Extents& of(std::size_t i) const { return m_facts.of(m_node.input(i)).extents; }
  const Constant* constant(std::size_t i) const { return m_facts.constant(m_node.input(i)); }
  std::size_t rank(std::size_t i = 0) const { return of(i).size(); }

  const OnnxNode& m_node;
  const Facts& m_facts;
  int m_opset;
};

// The numbers of a small constant; nothing where there is none.
std::optional<std::vector<std::int64_t>> wholesOf(const Constant* constant);
// Of operators that slide a window, pad or resize. Nothing for all others.
RuleParts::Answer windowShapes(const OnnxNode& node, const Facts& facts, int opset);
// Of operators that no rule draws. Nothing for all others.
RuleParts::Answer furtherShapes(const OnnxNode& node, const Facts& facts, int opset);

}  // namespace loom::onnx_file
