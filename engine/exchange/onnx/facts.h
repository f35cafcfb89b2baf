#pragma once
// What is known of every value before anything runs: its shape, and its numbers where it depends on nothing that is
// fed. Shapes are calculated with one large prime in the place of the batch, so that whatever shape arithmetic a file
// does with it (Shape, Gather, Mul, Concat, Reshape) is ordinary arithmetic, and an extent that the prime divides holds
// the batch.
#include <map>
#include <string>

#include "engine/exchange/onnx/model.h"

namespace loom::onnx_file {

inline constexpr std::int64_t kBatch = 1000003;
inline bool holdsBatch(std::int64_t extent) {
  return extent > 0 && extent % kBatch == 0;
}
bool holdsBatch(const Extents& extents);

struct Fact {
  bool known = false;  // `extents` is its shape
  Extents extents;
  ConstantPointer constant;  // null: not known before a run
  std::int64_t inside = 1;   // of the axis that holds the batch: how many of its other elements are counted before it
  int type = kUnknownType;   // of its elements
};

class Facts {
 public:
  const Fact& of(const std::string& value) const;
  Fact& make(const std::string& value) { return m_facts[value]; }
  bool isConstant(const std::string& value) const { return of(value).constant != nullptr; }
  // The constant, or null.
  const Constant* constant(const std::string& value) const { return of(value).constant.get(); }

  std::int64_t fixedBatch = 0;  // the number that the file has in the batch's place; 0 = it leaves it open
  std::map<std::string, std::size_t> batchAxis;  // by graph input
  std::map<std::string, std::int64_t> unlike;    // inputs that hold no batch: their first extent is not fixedBatch

 private:
  std::map<std::string, Fact> m_facts;
};

// Takes branches that a constant chooses into the graph, removes nodes whose outputs became constants, and answers the
// facts. Reports what was computed while reading, and extents that the file leaves open.
Facts learnFacts(OnnxGraph& graph, ImportReport& report);

// Parts of it, by themselves for tests.
// The outputs of a node whose inputs are all constants, or nothing where the operator is not one of those that fold.
// Throws Error(badData) for what cannot be.
std::optional<std::vector<ConstantPointer>> fold(const OnnxNode& node, const std::vector<const Constant*>& inputs,
                                                 int opset, std::int64_t mostElements, std::int64_t fixedBatch = 0);
// The shapes of its outputs, or nothing where they do not follow from the facts.
std::optional<std::vector<Extents>> shapesOf(const OnnxNode& node, const Facts& facts, int opset);

// A node of a version before 7 as that version has it; what it answers is to come before it.
std::optional<OnnxNode> modernise(OnnxNode& node, int opset, Facts& facts);
// The type of an output, by those of the inputs.
int typeOf(const OnnxNode& node, std::size_t output, const Facts& facts);
// Why numbers here, which are floating point, do not give what the operator gives of whole numbers; "" where they do.
std::string whyNotCalculable(const OnnxNode& node, const Facts& facts);
// Whether a cast between these types changes no number that both hold.
bool castKeeps(int from, int to);

// Two shapes stretched to each other as ONNX (and NumPy) does; nothing where they do not fit.
std::optional<Extents> stretched(const Extents& a, const Extents& b);
// An axis from 0; throws Error(badData) where the rank has no such axis.
std::size_t axisIn(std::int64_t axis, std::size_t rank);
// Axes of a Squeeze, Unsqueeze or reduction: an attribute in old opsets, an input in newer ones. Nothing: neither is
// there.
std::optional<std::vector<std::int64_t>> axesOf(const OnnxNode& node, const Facts& facts, std::size_t input);
// Where a Slice goes on each axis that it cuts; nothing where starts and ends are not constants.
struct Cut {
  std::size_t axis = 0;
  std::int64_t start = 0, step = 1, length = 0;
};
std::optional<std::vector<Cut>> cutsOf(const OnnxNode& node, const std::vector<const Constant*>& inputs,
                                       const Extents& extents, int opset);

}  // namespace loom::onnx_file
