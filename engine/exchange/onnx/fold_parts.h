#pragma once
// What the calculation of constants is written with.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {

// With room for so many numbers, all 0.
std::shared_ptr<Constant> made(Constant::Kind kind, Extents extents, std::size_t stored);
void put(Constant& constant, std::size_t i, double value);

// Steps through the elements of `extents` in order and says, for an operand stretched to them, which of its elements
// stands there.
class Walk {
 public:
  Walk(const Extents& extents, const Extents& operand)
      : m_extents(extents), m_steps(extents.size(), 0), m_at(extents.size(), 0) {
    std::int64_t step = 1;
    for (std::size_t i = operand.size(); i-- > 0;) {
      const std::size_t axis = i + extents.size() - operand.size();
      m_steps[axis] = operand[i] == 1 ? 0 : step;
      step *= operand[i];
    }
  }
  std::size_t place() const { return static_cast<std::size_t>(m_place); }
  void next() {
    for (std::size_t axis = m_extents.size(); axis-- > 0;) {
      m_place += m_steps[axis];
      if (++m_at[axis] < m_extents[axis]) return;
      m_place -= m_steps[axis] * m_extents[axis];
      m_at[axis] = 0;
    }
  }

 private:
  const Extents& m_extents;
  std::vector<std::int64_t> m_steps, m_at;
  std::int64_t m_place = 0;
};

// Operators of single numbers: arithmetic, comparisons, functions. `room`: how many numbers to store for these extents,
// one where all are the same. Throws Error(badData) where the shapes do not fit together.
bool foldsElement(const std::string& op);
ConstantPointer foldElement(const std::string& op, const std::vector<const Constant*>& inputs,
                            const std::function<std::size_t(const Extents&, bool)>& room);

// Places to store for these extents: one where the result is one number everywhere, none for 0 elements. Throws
// Error(badData) beyond `most`.
std::size_t storedOf(const Extents& extents, bool uniform, std::int64_t most);

// These are null where the node must be drawn instead.
ConstantPointer foldConstant(const OnnxNode& node);  // the operator Constant
ConstantPointer foldBounded(const OnnxNode& node, const std::vector<const Constant*>& inputs,
                            int opset);  // Clip, HardSigmoid
ConstantPointer foldReduction(const std::string& op, const Constant& x, const Extents& result, std::int64_t most);
ConstantPointer foldDequantized(const OnnxNode& node, const std::vector<const Constant*>& inputs, std::int64_t most);

}  // namespace loom::onnx_file
