#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/network/graph.h"
#include "engine/network/lower_tensors.h"
#include "engine/network/node_analysis.h"

namespace loom {
namespace {

enum class Purpose { results, prediction, tensors };

bool isResult(const GraphNode& node) {
  return loom::isResult(node.layer->role);
}

bool isLoss(const GraphNode& node) {
  return node.layer->role == LayerRole::loss;
}

// A sound network with what is wanted of it: which nodes take part, and whose outputs leave the program.
class Lowering {
 public:
  Lowering(const Network& network, const LowerOptions& options, Purpose purpose)
      : m_network(network), m_graph(network, m_problems), m_options(options), m_purpose(purpose) {
    for (const Problem& problem : analyse(network).problems)
      if (problem.severity == Severity::error)
        throw Error(ErrorCode::badProject, problem.message).addContext(fmt::format("network '{}'", network.name));
  }

  Program run() {
    chooseOutputs();
    chooseNodes();
    ProgramBuilder builder(m_options.batch, m_options.seed, m_options.training && m_purpose != Purpose::prediction);
    m_tensors.resize(m_graph.nodes().size());
    for (std::size_t i : m_graph.order())
      if (m_wanted[i]) lowerNode(builder, i);
    for (const auto& [node, port] : m_outputs) {
      const GraphNode& from = m_graph.nodes()[node];
      builder.result(resultName(*from.node, port), ResultKind::output, m_tensors[node][port]);
    }
    return builder.take();
  }

 private:
  void addOutput(std::size_t node, std::size_t port) {
    if (outputType(m_graph.nodes()[node], port) != PortType::values) return;
    const std::pair<std::size_t, std::size_t> output{node, port};
    if (std::find(m_outputs.begin(), m_outputs.end(), output) == m_outputs.end()) m_outputs.push_back(output);
  }

  void chooseOutputs() {
    if (m_purpose == Purpose::results && m_options.training) return;
    if (m_purpose == Purpose::tensors) return chooseEverything();
    bool fed = false;
    if (m_purpose == Purpose::prediction) {
      for (std::size_t i : m_graph.order()) {
        const GraphNode& node = m_graph.nodes()[i];
        if (!isLoss(node)) continue;
        addOutput(node.inputs[0][0].node, node.inputs[0][0].port);
        fed = true;
      }
      // What a person marked as a result is one, whatever feeds the losses.
      for (std::size_t i : m_graph.order())
        if (m_graph.nodes()[i].layer->role == LayerRole::output) addOutput(i, 0);
    }
    if (fed) return;
    for (std::size_t i : m_graph.order()) {
      const GraphNode& node = m_graph.nodes()[i];
      if (isResult(node)) continue;
      // For a prediction, wires into losses and metrics do not count.
      const bool used = std::any_of(node.consumers.begin(), node.consumers.end(), [&](std::size_t consumer) {
        return m_purpose == Purpose::results || !isResult(m_graph.nodes()[consumer]);
      });
      if (!used) addOutput(i, 0);
    }
  }

  // Whatever a wire may begin at; losses and metrics are results by themselves.
  void chooseEverything() {
    for (std::size_t i : m_graph.order()) {
      const GraphNode& node = m_graph.nodes()[i];
      if (isResult(node)) continue;
      for (std::size_t port = 0; port < node.layer->entry.outputs.size(); ++port) m_outputs.push_back({i, port});
    }
  }

  void chooseNodes() {
    m_wanted.assign(m_graph.nodes().size(), false);
    for (const auto& [node, port] : m_outputs) m_wanted[node] = true;
    for (auto i = m_graph.order().rbegin(); i != m_graph.order().rend(); ++i) {
      const GraphNode& node = m_graph.nodes()[*i];
      if (m_purpose != Purpose::prediction && isResult(node)) m_wanted[*i] = true;
      if (!m_wanted[*i]) continue;
      for (const auto& port : node.inputs)
        for (const GraphSource& source : port) m_wanted[source.node] = true;
    }
  }

  void lowerNode(ProgramBuilder& builder, std::size_t i) {
    const GraphNode& node = m_graph.nodes()[i];
    std::vector<TensorId> inputs;
    for (const auto& port : node.inputs) {
      if (port.empty()) inputs.push_back(kNoTensor);
      for (const GraphSource& source : port) inputs.push_back(m_tensors[source.node][source.port]);
    }
    builder.setOrigin(node.node->id);
    const Values values(node.layer->entry, node.node->values);
    m_tensors[i] = node.layer->lower({node.node->id, scopeOf(*node.node), values, inputs, builder});
    builder.setOrigin("");
  }

  const Network& m_network;
  std::vector<Problem> m_problems;
  Graph m_graph;
  LowerOptions m_options;
  Purpose m_purpose;
  std::vector<std::pair<std::size_t, std::size_t>> m_outputs;  // node, port
  std::vector<char> m_wanted;
  std::vector<std::vector<TensorId>> m_tensors;  // by node and port
};

}  // namespace

Program lower(const Network& network, const LowerOptions& options) {
  return Lowering(network, options, Purpose::results).run();
}

Program lowerForPrediction(const Network& network, const LowerOptions& options) {
  return Lowering(network, options, Purpose::prediction).run();
}

Program lowerForTensors(const Network& network, const LowerOptions& options) {
  return Lowering(network, options, Purpose::tensors).run();
}

std::string resultName(const Node& node, std::size_t port) {
  const LayerDefinition* layer = findLayer(node.layer);
  return port == 0 || !layer ? node.id : node.id + "." + layer->entry.outputs[port].key;
}

}  // namespace loom
