#pragma once
// Einsum: its equation, and written out in operators that have counterparts here: transpositions, reshapes, sums over
// axes and one product of matrices for each pair of operands.
#include <map>

#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {

// The axes of each operand and of the result by name: letters as the file has them, those of "..." as digits.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};
// Of operands with these numbers of axes. A result that is not said is what ONNX takes then: each letter that stands
// there once, in the order of the alphabet. Throws Error(badData) for what is no equation of such operands.
Equation equationOf(const std::string& text, const std::vector<std::size_t>& ranks);
inline bool holds(const std::string& axes, char axis) {
  return axes.find(axis) != axes.npos;
}
// The extent of each axis; of those that stretch the longer. Throws Error(badData) where two of them do not fit.
std::map<char, std::int64_t> extentsByAxis(const Equation& equation, const std::vector<Extents>& operands);
// Extents of its result. Throws Error(badData) where an axis has two extents, of which neither is 1.
Extents einsumExtents(const Equation& equation, const std::vector<Extents>& operands);
// The result of constants; null where that is more than `most` steps.
ConstantPointer foldEinsum(const Equation& equation, const std::vector<const Constant*>& operands, std::int64_t most);

// Puts other nodes in the place of each Einsum; with a bias that is added behind, where there is one. One that cannot
// be written out stays, and its attribute "reason" says why.
void writeOutEinsums(OnnxGraph& graph, Facts& facts, ImportReport& report);

}  // namespace loom::onnx_file
