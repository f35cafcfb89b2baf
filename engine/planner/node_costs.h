#pragma once
// What each node of a drawing costs in training, at the batch that is set: what it keeps for the backward pass, its
// part of the memory, and how long it takes. Counted from the program that would run; the time is predicted, for a
// processor.
#include <map>
#include <string>
#include <vector>

#include "engine/network/flatten.h"
#include "engine/network/project.h"
#include "engine/planner/processor_times.h"
#include "engine/planner/step_time.h"

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
  NodeCost total;                         // of those together
  NodeCost step;                          // of the whole network that runs
  std::string network;                    // which that is
  std::int64_t batch = 0;                 // samples of a step
  double stepMemory = 0;                  // of all that a step takes, nodes and the rest; 0 = the caller did not say
  std::string measuredBy;                 // the run that measured; the caller's to say
  // Of a node, as measured: what a scale of colours begins with. In a unit that is shown inside of another drawing,
  // that one's.
  double largestMeasured = 0;
};

// One plan of a step, asked about any drawing that the step runs through. `drawing`: a network as the first update that
// trains it would run it, else as the first update would; a unit within the first network that uses it. `measured`:
// seconds by node of the flat network, as a run told them. `predicted`: of each update, from the program as a machine
// would run it (nodeTimes()); what belongs to no node goes to those whose weights change, by their bytes, so that all
// together are the step. None: by a roofline over what `processor` is taken to reach. The project outlives this and
// stays as it is. The constructor throws Error(badProject); of() may be asked on any thread.
class StepPlan {
 public:
  // A node that uses a unit, by its drawing and its id.
  struct Use {
    std::string drawing, node;
    bool operator==(const Use&) const = default;
  };

  StepPlan(const Project& project, const Network& drawing, const ProcessorModel& processor,
           const std::map<std::string, double>& measured = {}, const std::vector<NodeTimes>& predicted = {});

  // A unit that several nodes use has the costs of all of them, and with `through` only what runs in that node, each
  // repeat of it: what that node has in its own drawing. Several: the one drawing opened in the other, the outermost
  // first.
  NetworkCosts of(const Network& drawing, const std::vector<Use>& through = {}) const;

 private:
  FlatNetwork m_flat;
  std::map<std::string, NodeCost> m_costs;  // by flat node
  NodeCost m_step;
  std::string m_network;
  std::int64_t m_batch = 0;
};

// StepPlan(...).of(drawing): for one question.
NetworkCosts planNodes(const Project& project, const Network& drawing, const ProcessorModel& processor,
                       const std::map<std::string, double>& measured = {});

}  // namespace loom
