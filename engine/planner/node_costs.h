#pragma once
// What each node of a drawing costs in training, at the batch that is set: what it keeps for the backward pass, its
// part of the memory, and how long it takes. Counted from the program that would run; the time is predicted, for a
// processor.
#include <map>
#include <string>

#include "engine/network/project.h"
#include "engine/planner/processor_times.h"

namespace loom {

struct NodeCost {
  double activations = 0;  // bytes that its forward part keeps for the backward part
  double memory =
      0;  // those, its weights, their gradients and slots of the optimizer, its statistics; an Input's batch
  double seconds = 0;   // of a step, forward and backward and the update of its weights: predicted
  double measured = 0;  // the same as a run measured it; 0 = none has

  void add(const NodeCost& other);
};

struct NetworkCosts {
  std::map<std::string, NodeCost> nodes;  // by the ids of the drawing; a unit's node has the sum of what stands inside
  NodeCost total;                         // of the network that runs
  std::string network;
  std::int64_t batch = 0;  // samples of a step
};

// Of a network as the first update that trains it would run it, else as the first update would; of a unit within the
// first network that uses it, all its uses together. `measured`: seconds by node of the flat network, as a run told
// them. Throws Error(badProject).
NetworkCosts planNodes(const Project& project, const Network& drawing, const ProcessorModel& processor,
                       const std::map<std::string, double>& measured = {});

}  // namespace loom
