#pragma once
// What an output of a network is compared with, and the way of its numbers back to the unit of the column that they
// predict. Pure functions and values, any thread.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/columns/target_meaning.h"
#include "engine/data/dataset.h"
#include "engine/exchange/exporter.h"
#include "engine/network/network.h"

namespace loom {

// What a loss compares an output with, and what the loss applies to the output inside.
struct OutputTarget {
  std::string variable;         // that losses and metrics compare the output with; empty when it comes from no Input
  const char* unary = nullptr;  // what the loss applies to the output inside
  bool softmax = false;
  bool chance = false;
};
// `node`: whose output it is, of a flat network.
OutputTarget targetOf(const Network& network, const std::string& node);

// A target that was scaled for training is told in the unit of its column: raw = (prepared - shift) / scale, and then
// the steps on columns backwards.
class TargetUnit {
 public:
  // `variable`: the target, in the shape in which the network gives it; `prepare`: resolved.
  TargetUnit(const Variable& variable, const std::vector<Json>& prepare);
  void restore(std::span<float> values) const;
  // What restore() undoes, without the steps on columns: the pack holds what those have made.
  void prepare(std::span<float> values) const;
  // Of values as the pack holds them: no step on samples was applied.
  void restoreColumns(std::span<float> values) const;
  // restore() of `elements` numbers as steps for a graph; empty: there is nothing to undo. Nothing: its numbers go
  // different ways back, which a graph does not write.
  std::optional<std::vector<UnitStep>> steps(std::int64_t elements) const;

 private:
  std::vector<TargetMeaning> m_columns;  // what the steps on columns made of the file's, a number each
  std::vector<float> m_scale, m_shift;
  std::int64_t m_inner = 1;  // values that stand side by side in one channel
};

}  // namespace loom
