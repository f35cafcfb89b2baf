#pragma once
// All drawings of a project, written out and analysed, for checkProject().
#include "engine/network/flatten.h"
#include "engine/network/incremental_analysis.h"
#include "engine/network/node_analysis.h"

namespace loom {

class CheckedDrawings {
 public:
  // `memory`: what was found the last time; referred to.
  CheckedDrawings(const Project& project, AnalysisMemory& memory);

  // Of names, networks, units and sharing. A drawing's fault is told once, however many networks use it.
  std::vector<Problem> problems();
  // Of a network of the project.
  const Network& flat(const Network& network) const { return m_flat[placeOf(network)].network; }
  bool isSound(const Network& network) const;
  // Names of the weights that training has.
  std::vector<std::string> weightNames(const Network& network) const {
    return m_memory.networks[network.name].trainedWeights();
  }
  // Its Inputs against what a dataset has; null: not known.
  std::vector<Problem> columnProblems(const Network& network, const KnownColumns* columns) const;
  // What would give it a loss.
  Remedy lossRemedy(const Network& network) const;

 private:
  std::size_t placeOf(const Network& network) const {
    return static_cast<std::size_t>(&network - m_project.networks.data());
  }
  void add(std::vector<Problem> problems);
  void checkNames();
  void checkUnits();
  void checkSharing();
  void checkShares(std::size_t network, std::size_t node, const std::map<std::string_view, const Node*>& byId);

  const Project& m_project;
  AnalysisMemory& m_memory;
  std::vector<FlatNetwork> m_flat;  // by network
  std::vector<const Analysis*> m_analyses;
  ParameterUses m_parameters;
  std::vector<Problem> m_problems;
};

}  // namespace loom
