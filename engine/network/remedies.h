#pragma once
// What would make a fault right, where that can be tried out rather than guessed.
#include <functional>

#include "engine/network/graph.h"

namespace loom {

// The shapes at a node disagree: a field of a layer further up (stride, channels, outputs ...) with which they agree,
// tried by running the shape rules again along that path. None when no single change helps.
Remedy findUpstreamRemedy(const Graph& graph, const std::vector<NodeFacts>& facts, std::size_t node);
// The same for one wire: a shape like `wanted` that `accept` says yes to.
Remedy findRemedyFor(const Graph& graph, const std::vector<NodeFacts>& facts, const GraphSource& source,
                     const Shape& wanted, const std::function<bool(const Shape&)>& accept);
// A port lacks its wire: the one node that could be meant, when there is just one; for a loss or metric without its
// target else an Input of its own.
Remedy findWire(const Graph& graph, const std::vector<NodeFacts>& facts, std::size_t node, std::size_t port);
// A network without a loss: one at its only loose end, with the Input of its target; for an empty network a whole small
// one.
Remedy addLoss(const Network& network, const Analysis& analysis);
// Drawings that are possible and hardly meant: a softmax before a loss that contains one.
void warnAboutHabits(const Graph& graph, std::size_t node, const std::string& network, std::vector<Problem>& problems);

}  // namespace loom
