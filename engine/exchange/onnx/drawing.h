#pragma once
// The network as it grows: nodes are checked against the catalogue and their shapes follow from the layers' own rules
// as they are drawn.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/exchange/importer.h"
#include "engine/exchange/onnx/view.h"

namespace loom::onnx_file {

class Drawing {
 public:
  explicit Drawing(Network& network) : m_network(network) {}

  // A new node with these fields, its inputs wired in order to the ports of its entry ("" as a node: an optional one
  // that stays free). Throws Error(badProject) where the catalogue or the layer's shape rule refuses it; nothing is
  // drawn then.
  std::string add(const std::string& layer, const std::string& wish, Json values, const std::vector<Endpoint>& inputs);
  static bool has(const std::string& layer) { return findLayer(layer) != nullptr; }
  // The first output, or the one of that place.
  Endpoint output(const std::string& node, std::size_t port = 0) const;
  bool hasSeveralOutputs(const std::string& node) const { return m_layers.at(node)->entry.outputs.size() > 1; }
  const Shape& shape(const Endpoint& output) const { return m_shapes.at(output); }
  // The Input becomes one of indices. Throws where something calculates with its numbers; afterwards nothing can.
  void makeIndices(const Endpoint& input);
  bool isIndex(const std::string& node) const { return m_indices.count(node) > 0; }
  // A further wire, which may close a loop; and the shape of what a loop gives.
  void wire(const Endpoint& from, const Endpoint& to);
  void setShape(const Endpoint& output, Shape shape) { m_shapes[output] = std::move(shape); }
  Node& node(const std::string& id) { return m_network.nodes[m_places.at(id)]; }

  void weight(const std::string& node, const std::string& name, Shape shape, std::vector<float> values);
  ImportedWeight* findWeight(const std::string& name);
  // Draws what a view needs, once for all that want the same.
  Endpoint draw(const View& view, const std::string& wish);
  // The wires into a node, in the order in which they were drawn.
  std::vector<Endpoint> inputsOf(const std::string& node) const;
  std::size_t readers(const std::string& node) const {
    const auto found = m_readers.find(node);
    return found == m_readers.end() ? 0 : found->second;
  }
  // Whatever reads a port of `from` reads `to` instead.
  void redirect(const Endpoint& from, const Endpoint& to);
  // Takes away a node that nothing reads, and what then leads nowhere and stands in `spare`.
  void removeUnread(const std::string& node, const std::set<std::string>& spare);
  std::vector<ImportedWeight> takeWeights();

  // What was drawn since is taken back: a rule that refused half way leaves nothing.
  struct Mark {
    std::size_t nodes, edges, weights, drawn;
  };
  Mark mark() const { return {m_network.nodes.size(), m_network.edges.size(), m_weights.size(), m_drawnOrder.size()}; }
  void takeBack(const Mark& mark);

 private:
  std::string freeId(const std::string& wish);
  Network& m_network;
  std::map<Endpoint, Shape> m_shapes;
  std::map<std::pair<Endpoint, std::string>, Endpoint> m_drawn;  // by what was drawn of it, as text
  std::vector<std::pair<Endpoint, std::string>> m_drawnOrder;
  std::vector<ImportedWeight> m_weights;
  std::map<std::string, int> m_numbers;                    // last number given to a name
  std::map<std::string, const LayerDefinition*> m_layers;  // by node
  std::map<std::string, std::size_t> m_places;             // in m_network.nodes
  std::map<std::string, std::size_t> m_readers;            // wires from each node
  std::map<std::string, std::size_t> m_weightPlaces;       // in m_weights, by name
  std::set<std::string> m_indices;                         // Inputs of indices
};

// "layer1_0_conv1" of "/layer1/layer1.0/conv1/Conv", as ids of nodes may be.
std::string idFrom(const std::string& name, const std::string& op);

}  // namespace loom::onnx_file
