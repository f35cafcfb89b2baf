#pragma once
// A network with its names resolved: which layer a node is, which wire ends on which port. Made anew for each analysis.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/network/analysis.h"
#include "engine/network/network.h"

namespace loom {

struct GraphSource {
  std::size_t node = 0;  // index into Network::nodes
  std::size_t port = 0;  // of its outputs
  std::size_t edge = 0;  // index into Network::edges
};

struct GraphNode {
  const Node* node = nullptr;
  const LayerDefinition* layer = nullptr;        // null: unknown
  std::vector<std::vector<GraphSource>> inputs;  // by port of the entry, in the order of the edges
  std::vector<std::size_t> consumers;            // nodes, once for each wire
  // Wires with a fault of their own: told once there, and not again as a missing input or a loose end.
  std::vector<std::size_t> faultyInputs;  // by port
  bool faultyOutput = false;
};

class Graph {
 public:
  // Reports what is wrong with ids, layers and wires.
  Graph(const Network& network, std::vector<Problem>& problems);

  const Network& network() const { return m_network; }
  const std::vector<GraphNode>& nodes() const { return m_nodes; }
  // Topological, the earlier in the file the earlier where there is a choice; without nodes on cycles or behind them.
  const std::vector<std::size_t>& order() const { return m_order; }
  // -1 when there is none.
  std::ptrdiff_t find(std::string_view id) const;

 private:
  void addNodes(std::vector<Problem>& problems);
  void addEdges(std::vector<Problem>& problems);
  void sort(std::vector<Problem>& problems);
  void reportCycles(const std::vector<std::size_t>& waiting, std::vector<Problem>& problems);

  const Network& m_network;
  std::vector<GraphNode> m_nodes;
  std::vector<std::size_t> m_order;
  std::unordered_map<std::string_view, std::size_t> m_byId;
};

// "conv1" or, where the port is not the first one, "loss.target".
std::string endpointText(const Endpoint& endpoint, const LayerDefinition* layer, bool isInput);
// Whether a node's values may be called so: a letter, then letters, digits, '_' and '-'.
bool isValidId(std::string_view id);
// The same of a flat network: names and numbers of repeats, parted by '/'.
bool isValidPath(std::string_view path);
// The type of what an output port gives; an Input's depends on its field.
PortType outputType(const GraphNode& node, std::size_t port);

}  // namespace loom
