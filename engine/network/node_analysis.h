#pragma once
// One node by itself: its fields against the catalogue, its shape rule, and what it costs.
#include <map>

#include "engine/network/cost_memo.h"

namespace loom {

// More values than this in one tensor of one sample: beyond what 32-bit extents of vendor kernels can address.
inline constexpr std::int64_t kMostValues = 2147483647;

// Problems of the node's values against its entry. True when the fields can be used: not where an expression has no
// value, which flatten() tells.
bool checkFields(const GraphNode& node, const std::string& network, std::vector<Problem>& problems);

// What its shape rule says to these inputs; a problem when it says no. True when `facts.outputs` are known.
bool inferShapes(const GraphNode& node, const std::string& network, NodeFacts& facts, std::vector<Problem>& problems);

// Parameters by name: shape and the node that had them first.
struct ParameterUse {
  Shape shape;
  std::string network, node;
  bool isState = false;
};
using ParameterUses = std::map<std::string, ParameterUse>;

// The weights that the node's layer has, under their names: those that other nodes use too must agree in shape, or a
// problem says so. `own` gains the elements of each weight of this network; facts.parameters is set.
void shareWeights(const GraphNode& node, const std::string& network, const LayerCost& cost, NodeFacts& facts,
                  ParameterUses& uses, std::map<std::string, std::int64_t>& own, std::vector<Problem>& problems);

// analyse(), with the parameters of networks that were analysed before: across a project equal names are the same
// weights.
Analysis analyse(const Network& network, ParameterUses& uses);

// The prefix of its parameters' names.
const std::string& scopeOf(const Node& node);

}  // namespace loom
