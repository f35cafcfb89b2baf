#pragma once
// analyse() that remembers: shapes are inferred again only behind what changed, and what a layer costs is known from
// the last layer of its kind, values and input shapes. The answer is the one of analyse() (which is its first update),
// problem for problem.
//
// A keystroke in a drawing of 5,000 layers costs what lies behind the node until shapes are as they were, and a look at
// each node. One thread at a time; it may be another each time.
#include <memory>

#include "engine/network/analysis.h"
#include "engine/network/node_analysis.h"

namespace loom {

class IncrementalAnalysis {
 public:
  IncrementalAnalysis();
  ~IncrementalAnalysis();
  IncrementalAnalysis(IncrementalAnalysis&&) noexcept;
  IncrementalAnalysis& operator=(IncrementalAnalysis&&) noexcept;

  // Of this flat network as it is now; what changed is found by comparing with the last one, of which a copy is kept.
  // Good until the next update. `uses`: parameters of networks that were analysed before, to which these are added;
  // null: there are no others.
  const Analysis& update(const Network& network, ParameterUses* uses = nullptr);
  const Analysis& result() const;
  // Names of its weights, in the order of the flow, of nodes that lead to a loss or metric: those that training has.
  std::vector<std::string> trainedWeights() const;
  // How many nodes the last update looked at in full.
  std::size_t visited() const;

 private:
  class State;
  std::unique_ptr<State> m_state;
};

// Of the networks of a project, by their names.
struct AnalysisMemory {
  std::map<std::string, IncrementalAnalysis> networks;
};

}  // namespace loom
