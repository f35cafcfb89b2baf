#include "engine/network/lone_statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/network/analysis.h"
#include "engine/program/op.h"

namespace loom {

std::vector<std::string> loneStatistics(const Network& flat) {
  const Program program = lower(flat, {.batch = 1, .training = true});
  std::vector<std::string> nodes;
  for (const Operation& operation : program.operations) {
    if (!operation.op->batchStatistics || operation.op->updates.empty()) continue;
    const Shape& shape = program.tensor(operation.inputs[0]).shape;
    if (shape.elements() == shape[operation.attributes.integer("axis", 1)]) nodes.push_back(operation.origin);
  }
  return nodes;
}

std::string loneStatisticsText(const std::vector<std::string>& nodes) {
  return fmt::format(
      "'{}' {} in a pass of the network one number a channel, whose mean it is itself: nothing of it is left, and "
      "nothing is learned from it; make the batch larger or \"accumulate\" smaller, so that every pass of every rank "
      "has several samples (\"drop_last\" leaves out a last batch of one), or take LayerNormalization",
      fmt::join(nodes, "', '"), nodes.size() == 1 ? "sees" : "see");
}

}  // namespace loom
