#pragma once
// A network lowered for a look at what flows along its wires.
#include <string>

#include "engine/network/analysis.h"

namespace loom {

// As lower(), but every output of every node becomes a result, labels and indices too; of all nodes, whatever they lead
// to.
Program lowerForTensors(const Network& network, const LowerOptions& options);
// What an output is called among a program's results: "conv1", or "conv1.second" where it is not the first.
std::string resultName(const Node& node, std::size_t port);

}  // namespace loom
