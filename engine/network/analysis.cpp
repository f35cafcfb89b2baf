#include "engine/network/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/catalogue/text.h"
#include "engine/network/graph.h"
#include "engine/network/node_analysis.h"
#include "engine/network/remedies.h"

namespace loom {
namespace {

// Looking for a remedy walks the graph: for the first faults only, a drawing with thousands is not mended one by one.
constexpr std::size_t kMostRemedies = 50;

std::string_view nameOf(PortType type) {
  return type == PortType::labels ? "labels" : type == PortType::indices ? "indices" : "values";
}

// "Any shape." -> "any shape.": behind a colon.
std::string inSentence(std::string text) {
  if (text.size() > 1 && (text[1] == ' ' || (text[1] >= 'a' && text[1] <= 'z')) && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

class Analyser {
 public:
  Analyser(const Network& network, ParameterUses& uses)
      : m_network(network), m_graph(network, m_result.problems), m_uses(uses) {}

  Analysis run() {
    const std::size_t count = m_graph.nodes().size();
    m_facts.resize(count);
    m_usable.resize(count, false);
    for (std::size_t i = 0; i < count; ++i)
      if (m_graph.nodes()[i].layer) m_usable[i] = checkFields(m_graph.nodes()[i], m_network.name, m_result.problems);
    for (std::size_t i : m_graph.order()) {
      visit(i);
      m_result.order.push_back(m_graph.nodes()[i].node->id);
    }
    for (const auto& [name, elements] : m_own) m_result.parameters += elements;
    warnAboutLoose();
    for (std::size_t i = 0; i < count; ++i) {
      m_result.multiplyAdds += m_facts[i].multiplyAdds;
      m_result.nodes[m_graph.nodes()[i].node->id] = std::move(m_facts[i]);
    }
    sortProblems();
    return std::move(m_result);
  }

 private:
  void visit(std::size_t i) {
    const GraphNode& node = m_graph.nodes()[i];
    NodeFacts& facts = m_facts[i];
    if (!node.layer) return;
    bool ready = checkPorts(i);
    std::vector<DataType> types;
    for (std::size_t port = 0; port < node.inputs.size(); ++port) {
      for (const GraphSource& source : node.inputs[port]) {
        const NodeFacts& from = m_facts[source.node];
        ready = ready && from.known && source.port < from.outputs.size();
        if (!ready) continue;
        facts.inputs.push_back(from.outputs[source.port]);
        types.push_back(outputType(m_graph.nodes()[source.node], source.port) == PortType::values ? DataType::f32
                                                                                                  : DataType::i32);
      }
    }
    if (!ready || !m_usable[i]) return;
    const std::size_t before = m_result.problems.size();
    if (!inferShapes(node, m_network.name, facts, m_result.problems)) {
      Problem& problem = m_result.problems[before];
      if (problem.remedy.kind == Remedy::Kind::none && before < kMostRemedies)
        problem.remedy = findUpstreamRemedy(m_graph, m_facts, i);
      return;
    }
    countCosts(node, m_network.name, types, facts, m_uses, m_own, m_result.problems);
    warnAboutHabits(m_graph, i, m_network.name, m_result.problems);
  }

  // Missing wires and wires of the wrong type.
  bool checkPorts(std::size_t i) {
    const GraphNode& node = m_graph.nodes()[i];
    bool sound = true;
    for (std::size_t p = 0; p < node.inputs.size(); ++p) {
      const Port& port = node.layer->entry.inputs[p];
      const std::size_t wires = node.inputs[p].size();
      const std::size_t wanted = port.optional ? 0 : port.several ? 2 : 1;
      sound = sound && wires >= wanted;
      if (wires + node.faultyInputs[p] < wanted) {
        Remedy remedy = m_result.problems.size() < kMostRemedies ? findWire(m_graph, m_facts, i, p) : Remedy{};
        m_result.problems.push_back(
            {.network = m_network.name,
             .node = node.node->id,
             .message =
                 wanted == 2
                     ? fmt::format("{}: {} takes two and more wires, but {} to it", clipped(node.node->id), port.key,
                                   wires == 0 ? "none leads" : "only one leads")
                     : fmt::format("{}: nothing is wired to {}. It takes: {}", clipped(node.node->id), port.key, inSentence(port.help)),
             .remedy = std::move(remedy)});
      }
      for (const GraphSource& source : node.inputs[p]) sound = checkType(node, port, source) && sound;
    }
    return sound;
  }

  bool checkType(const GraphNode& node, const Port& port, const GraphSource& source) {
    const GraphNode& from = m_graph.nodes()[source.node];
    if (!from.layer) return true;
    const PortType given = outputType(from, source.port);
    if ((given == PortType::values) == (port.type == PortType::values))
      return true;  // labels and indices are both whole numbers
    const Edge& edge = m_network.edges[source.edge];
    const bool isInput = from.layer->entry.id == "Input";
    Problem problem{.network = m_network.name,
                    .node = node.node->id,
                    .edge = edge,
                    .message = fmt::format("{}: {} takes {}, but {} gives {}", clipped(node.node->id), port.key,
                                           nameOf(port.type), clipped(from.node->id), nameOf(given))};
    if (isInput) {
      const char* type = port.type == PortType::labels ? "label" : port.type == PortType::indices ? "index" : "values";
      problem.remedy = {.kind = Remedy::Kind::setField,
                        .label = fmt::format("Set type of {} to {}", clipped(from.node->id), type),
                        .node = from.node->id,
                        .field = "type",
                        .value = type};
    } else {
      problem.message += fmt::format("; {} come from an Input of that type", nameOf(port.type));
      problem.remedy = {.kind = Remedy::Kind::removeEdge, .label = "Remove the wire", .edge = edge};
    }
    m_result.problems.push_back(std::move(problem));
    return false;
  }

  // Where there is a loss or a metric, what leads to none takes no part in training.
  void warnAboutLoose() {
    std::vector<char> leads(m_graph.nodes().size(), 0);
    bool any = false;
    for (auto i = m_graph.order().rbegin(); i != m_graph.order().rend(); ++i) {
      const GraphNode& node = m_graph.nodes()[*i];
      const bool isResult = node.layer && node.layer->entry.category == "lossMetric";
      any = any || isResult;
      leads[*i] = isResult || node.faultyOutput ||
                  std::any_of(node.consumers.begin(), node.consumers.end(),
                              [&](std::size_t consumer) { return leads[consumer]; });
    }
    if (!any) return;
    for (std::size_t i : m_graph.order())
      if (!leads[i] && m_graph.nodes()[i].consumers.empty() && m_graph.nodes()[i].layer)
        m_result.problems.push_back({.severity = Severity::warning,
                                     .network = m_network.name,
                                     .node = m_graph.nodes()[i].node->id,
                                     .message = fmt::format("{}: leads to no loss or metric, so training leaves it out",
                                                            clipped(m_graph.nodes()[i].node->id))});
  }

  void sortProblems() {
    const auto place = [&](const Problem& problem) { return problem.node.empty() ? -1 : m_graph.find(problem.node); };
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> keys;
    for (std::size_t i = 0; i < m_result.problems.size(); ++i) keys.emplace_back(place(m_result.problems[i]), i);
    std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
      const Severity sa = m_result.problems[a.second].severity, sb = m_result.problems[b.second].severity;
      return sa != sb ? sa < sb : a < b;
    });
    std::vector<Problem> sorted;
    for (const auto& [at, i] : keys) sorted.push_back(std::move(m_result.problems[i]));
    m_result.problems = std::move(sorted);
  }

  const Network& m_network;
  Analysis m_result;
  Graph m_graph;
  std::vector<NodeFacts> m_facts;
  std::vector<char> m_usable;
  ParameterUses& m_uses;
  std::map<std::string, std::int64_t> m_own;  // elements of this network's weights by name: shared ones once
};

}  // namespace

bool Analysis::sound() const {
  return std::none_of(problems.begin(), problems.end(),
                      [](const Problem& problem) { return problem.severity == Severity::error; });
}

Analysis analyse(const Network& network, ParameterUses& uses) {
  return Analyser(network, uses).run();
}

Analysis analyse(const Network& network) {
  ParameterUses uses;
  return analyse(network, uses);
}

std::vector<DatasetInput> datasetInputs(const Network& network) {
  std::vector<DatasetInput> inputs;
  for (const Node& node : network.nodes) {
    const LayerDefinition* layer = findLayer(node.layer);
    if (!layer || layer->entry.id != "Input") continue;
    try {
      const Values values(layer->entry, node.values);
      if (values.text("source") != "dataset" || !values.has("shape")) continue;
      DatasetInput
          input;  // member by member: what throws inside of braces leaves g++ 12 to destroy what was never made
      input.node = node.id;
      input.variable = values.text("variable");
      if (input.variable.empty()) input.variable = node.id;
      input.shape = Shape(values.integers("shape"));
      input.type = values.text("type") == "values" ? DataType::f32 : DataType::i32;
      inputs.push_back(std::move(input));
    } catch (const Error&) {
      continue;  // analyse() tells what is wrong with its fields
    }
  }
  return inputs;
}

}  // namespace loom
