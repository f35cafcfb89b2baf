#include "engine/network/incremental_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/catalogue/text.h"
#include "engine/network/cost_memo.h"
#include "engine/network/graph.h"
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
  if (text.size() > 1 && (text[1] == ' ' || (text[1] >= 'a' && text[1] <= 'z')) && text[0] >= 'A' && text[0] <= 'Z')
    text[0] += 'a' - 'A';
  return text;
}

bool sameContent(const Node& a, const Node& b) {
  return a.layer == b.layer && a.values == b.values && a.shares == b.shares;
}

bool sameWires(const Graph& before, const GraphNode& old, const Graph& after, const GraphNode& now) {
  const auto same = [&](const GraphSource& a, const GraphSource& b) {
    return a.port == b.port && before.nodes()[a.node].node->id == after.nodes()[b.node].node->id;
  };
  return old.inputs.size() == now.inputs.size() && old.faultyInputs == now.faultyInputs &&
         std::equal(old.inputs.begin(), old.inputs.end(), now.inputs.begin(), [&](const auto& a, const auto& b) {
           return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
         });
}

}  // namespace

class IncrementalAnalysis::State {
 public:
  const Analysis& update(const Network& network, ParameterUses* uses) {
    m_visited = 0;
    std::vector<char> dirty(network.nodes.size(), 0), changed(network.nodes.size(), 0);
    if (m_graph && sameStructure(network)) {
      for (std::size_t i = 0; i < network.nodes.size(); ++i)
        if (!sameContent(m_network.nodes[i], network.nodes[i])) {
          m_network.nodes[i] = network.nodes[i];
          dirty[i] = changed[i] = 1;
          checkNode(i);
        }
    } else {
      restructure(network, dirty, changed);
    }
    for (const std::size_t i : m_graph->order()) {
      if (!dirty[i]) continue;
      const bool stays = visit(i);
      if (stays && !changed[i]) continue;
      for (const std::size_t consumer : m_graph->nodes()[i].consumers) dirty[consumer] = 1;
    }
    // Of nodes of one id, which a drawing may have while it is read, the last in order is told, whichever was visited.
    if (m_result.nodes.size() != m_network.nodes.size())
      for (const std::size_t i : m_graph->order()) m_result.nodes[m_network.nodes[i].id] = m_facts[i];
    shareAll(uses);
    m_result.multiplyAdds = 0;
    for (const NodeFacts& facts : m_facts) m_result.multiplyAdds += facts.multiplyAdds;
    gather();
    return m_result;
  }

  const Analysis& result() const { return m_result; }
  std::size_t visited() const { return m_visited; }

  std::vector<std::string> trainedWeights() const {
    std::vector<std::string> names;
    std::set<std::string> seen;
    if (!m_graph) return names;
    for (const std::size_t i : m_graph->order())
      if (m_leads[i] && m_memory[i].cost)
        for (const LayerCost::Weight& weight : m_memory[i].cost->weights)
          if (std::string name = scopeOf(m_network.nodes[i]) + "/" + weight.name;
              !weight.isState && seen.insert(name).second)
            names.push_back(std::move(name));
    return names;
  }

 private:
  // A problem, and where a remedy for it may be looked for.
  struct Found {
    Problem problem;
    enum class Search { none, wire, upstream } search = Search::none;
    std::size_t port = 0;
  };

  // What is known of one node as long as nothing that it depends on changes.
  struct Memory {
    std::string kind;     // of its layer and values
    bool usable = false;  // its fields are
    bool visited = false;
    std::vector<Problem> fields, shares, habits;
    std::vector<Found> visit;  // ports and shapes
    NodeFacts facts;
    std::shared_ptr<const LayerCost> cost;
  };

  bool sameStructure(const Network& network) const {
    if (network.name != m_network.name || network.nodes.size() != m_network.nodes.size() ||
        network.edges != m_network.edges)
      return false;
    for (std::size_t i = 0; i < network.nodes.size(); ++i)
      if (network.nodes[i].id != m_network.nodes[i].id || network.nodes[i].layer != m_network.nodes[i].layer)
        return false;
    return true;
  }

  void restructure(const Network& network, std::vector<char>& dirty, std::vector<char>& changed) {
    const bool sameName = network.name == m_network.name;
    const Network before = std::exchange(m_network, network);
    m_graphProblems.clear();
    const std::unique_ptr<Graph> old =
        std::move(m_graph);  // its nodes are those of `before`, which were moved as a whole
    m_graph = std::make_unique<Graph>(m_network, m_graphProblems);
    std::vector<Memory> memory = std::exchange(m_memory, std::vector<Memory>(network.nodes.size()));
    m_facts.assign(network.nodes.size(), {});
    m_result.nodes.clear();
    std::vector<char> reused(memory.size(), 0);
    for (std::size_t i = 0; i < m_network.nodes.size(); ++i) {
      const Node& node = m_network.nodes[i];
      const std::ptrdiff_t was = old && sameName ? old->find(node.id) : -1;
      changed[i] = was < 0 || reused[static_cast<std::size_t>(was)] ||
                   !sameContent(before.nodes[static_cast<std::size_t>(was)], node);
      dirty[i] =
          changed[i] || !sameWires(*old, old->nodes()[static_cast<std::size_t>(was)], *m_graph, m_graph->nodes()[i]);
      if (changed[i]) {
        checkNode(i);
        continue;
      }
      reused[static_cast<std::size_t>(was)] = 1;
      m_memory[i] = std::move(memory[static_cast<std::size_t>(was)]);
      m_facts[i] = m_memory[i].facts;
    }
    m_result.order.clear();
    std::vector<char> ordered(m_network.nodes.size(), 0);
    for (const std::size_t i : m_graph->order()) {
      m_result.order.push_back(m_network.nodes[i].id);
      ordered[i] = 1;
    }
    for (std::size_t i = 0; i < m_memory.size(); ++i) {
      if (!ordered[i]) forget(i);
      dirty[i] = dirty[i] || !m_memory[i].visited;
      m_result.nodes[m_network.nodes[i].id] = m_facts[i];
    }
    findLoose();
    m_isShared = std::any_of(m_network.nodes.begin(), m_network.nodes.end(),
                             [](const Node& node) { return !node.shares.empty(); });
  }

  void forget(std::size_t i) {
    Memory& memory = m_memory[i];
    memory.visited = false;
    memory.visit.clear();
    memory.habits.clear();
    memory.facts = {};
    memory.cost.reset();
    m_facts[i] = {};
  }

  void checkNode(std::size_t i) {
    Memory& memory = m_memory[i];
    memory.fields.clear();
    memory.usable = m_graph->nodes()[i].layer && checkFields(m_graph->nodes()[i], m_network.name, memory.fields);
    memory.kind = CostMemo::kindOf(m_network.nodes[i]);
    m_isShared = m_isShared || !m_network.nodes[i].shares.empty();
  }

  // True when what others see of the node is as it was.
  bool visit(std::size_t i) {
    ++m_visited;
    const GraphNode& node = m_graph->nodes()[i];
    Memory& memory = m_memory[i];
    const bool wasKnown = memory.facts.known;
    const std::vector<Shape> outputs = std::move(memory.facts.outputs);
    forget(i);
    memory.visited = true;
    if (node.layer) infer(i, node, memory);
    m_facts[i] = memory.facts;
    m_result.nodes[node.node->id] = memory.facts;
    return wasKnown == memory.facts.known && outputs == memory.facts.outputs;
  }

  void infer(std::size_t i, const GraphNode& node, Memory& memory) {
    bool ready = checkPorts(i, memory);
    std::vector<DataType> types;
    for (const auto& port : node.inputs)
      for (const GraphSource& source : port) {
        const NodeFacts& from = m_facts[source.node];
        ready = ready && from.known && source.port < from.outputs.size();
        if (!ready) continue;
        memory.facts.inputs.push_back(from.outputs[source.port]);
        types.push_back(outputType(m_graph->nodes()[source.node], source.port) == PortType::values ? DataType::f32
                                                                                                   : DataType::i32);
      }
    if (!ready || !memory.usable) return;
    std::vector<Problem> problems;
    memory.cost = m_costs.of(node, memory.kind, m_network.name, memory.facts.inputs, types, memory.facts, problems);
    for (Problem& problem : problems)
      memory.visit.push_back({std::move(problem), memory.facts.known ? Found::Search::none : Found::Search::upstream});
    if (memory.facts.known) warnAboutHabits(*m_graph, i, m_network.name, memory.habits);
  }

  // Missing wires and wires of the wrong type.
  bool checkPorts(std::size_t i, Memory& memory) {
    const GraphNode& node = m_graph->nodes()[i];
    bool sound = true;
    for (std::size_t p = 0; p < node.inputs.size(); ++p) {
      const Port& port = node.layer->entry.inputs[p];
      const std::size_t wires = node.inputs[p].size();
      const std::size_t wanted = port.optional ? 0 : port.several ? 2 : 1;
      sound = sound && wires >= wanted;
      if (wires + node.faultyInputs[p] < wanted)
        memory.visit.push_back(
            {{.network = m_network.name,
              .node = node.node->id,
              .message = wanted == 2
                             ? fmt::format("{}: {} takes two and more wires, but {} to it", clipped(node.node->id),
                                           port.key, wires == 0 ? "none leads" : "only one leads")
                             : fmt::format("{}: nothing is wired to {}. It takes: {}", clipped(node.node->id), port.key,
                                           inSentence(port.help))},
             Found::Search::wire,
             p});
      for (const GraphSource& source : node.inputs[p]) sound = checkType(node, port, source, memory) && sound;
    }
    return sound;
  }

  bool checkType(const GraphNode& node, const Port& port, const GraphSource& source, Memory& memory) {
    const GraphNode& from = m_graph->nodes()[source.node];
    if (!from.layer) return true;
    const PortType given = outputType(from, source.port);
    if ((given == PortType::values) == (port.type == PortType::values))
      return true;  // labels and indices are both whole numbers
    const Edge& edge = m_network.edges[source.edge];
    const bool isInput = from.layer->role == LayerRole::input;
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
    memory.visit.push_back({std::move(problem)});
    return false;
  }

  // Where there is a loss or a metric, what leads to none takes no part in training.
  void findLoose() {
    m_leads.assign(m_graph->nodes().size(), 0);
    m_loose.clear();
    bool any = false;
    for (auto i = m_graph->order().rbegin(); i != m_graph->order().rend(); ++i) {
      const GraphNode& node = m_graph->nodes()[*i];
      const bool measures = node.layer && isResult(node.layer->role);
      any = any || measures;
      m_leads[*i] = measures || node.faultyOutput ||
                    std::any_of(node.consumers.begin(), node.consumers.end(),
                                [&](std::size_t consumer) { return m_leads[consumer]; });
    }
    if (!any) return;
    for (const std::size_t i : m_graph->order()) {
      const GraphNode& node = m_graph->nodes()[i];
      if (!m_leads[i] && node.consumers.empty() && node.layer && node.layer->role != LayerRole::output)
        m_loose.insert(i);
    }
  }

  // Weights that several nodes use count once and must agree; where each has its own there is nothing to compare.
  void shareAll(ParameterUses* uses) {
    m_result.parameters = 0;
    if (!uses && !m_isShared) {
      for (std::size_t i = 0; i < m_memory.size(); ++i) {
        m_memory[i].shares.clear();
        const std::int64_t before = m_facts[i].parameters;
        m_facts[i].parameters = 0;
        if (m_memory[i].cost)
          for (const LayerCost::Weight& weight : m_memory[i].cost->weights)
            m_facts[i].parameters += weight.isState ? 0 : weight.shape.elements();
        m_result.parameters += m_facts[i].parameters;
        if (before != m_facts[i].parameters || m_memory[i].facts.parameters != m_facts[i].parameters) keepParameters(i);
      }
      return;
    }
    ParameterUses alone;
    std::map<std::string, std::int64_t> own;
    for (Memory& memory : m_memory) memory.shares.clear();
    for (const std::size_t i : m_graph->order()) {
      if (!m_memory[i].cost) continue;
      shareWeights(m_graph->nodes()[i], m_network.name, *m_memory[i].cost, m_facts[i], uses ? *uses : alone, own,
                   m_memory[i].shares);
      keepParameters(i);
    }
    for (const auto& [name, elements] : own) m_result.parameters += elements;
  }

  void keepParameters(std::size_t i) {
    m_memory[i].facts.parameters = m_facts[i].parameters;
    m_result.nodes[m_network.nodes[i].id].parameters = m_facts[i].parameters;
  }

  // All problems, errors first, then by the order of the file; remedies for the first of them.
  void gather() {
    struct Told {
      Severity severity;
      std::ptrdiff_t place;
      std::size_t number;
      const Problem* problem;
      const Found* found;
    };
    std::vector<Told> told;
    const auto tell = [&](std::ptrdiff_t place, const Problem& problem, const Found* found = nullptr) {
      told.push_back({problem.severity, place, told.size(), &problem, found});
    };
    for (const Problem& problem : m_graphProblems)
      tell(problem.node.empty() ? -1 : m_graph->find(problem.node), problem);
    std::vector<Problem> loose;
    loose.reserve(m_loose.size());
    for (std::size_t i = 0; i < m_memory.size(); ++i) {
      const Memory& memory = m_memory[i];
      const auto place = static_cast<std::ptrdiff_t>(i);
      for (const Problem& problem : memory.fields) tell(place, problem);
      for (const Found& found : memory.visit) tell(place, found.problem, &found);
      for (const Problem& problem : memory.shares) tell(place, problem);
      for (const Problem& problem : memory.habits) tell(place, problem);
      if (!m_loose.empty() && m_loose.contains(i))
        tell(place, loose.emplace_back(
                        Problem{.severity = Severity::warning,
                                .network = m_network.name,
                                .node = m_network.nodes[i].id,
                                .message = fmt::format("{}: leads to no loss or metric, so training leaves it out",
                                                       clipped(m_network.nodes[i].id))}));
    }
    std::sort(told.begin(), told.end(), [](const Told& a, const Told& b) {
      return std::tie(a.severity, a.place, a.number) < std::tie(b.severity, b.place, b.number);
    });
    m_result.problems.clear();
    for (const Told& each : told) {
      Problem problem = *each.problem;
      if (each.found && problem.remedy.kind == Remedy::Kind::none && m_result.problems.size() < kMostRemedies) {
        const auto at = static_cast<std::size_t>(each.place);
        if (each.found->search == Found::Search::wire)
          problem.remedy = findWire(*m_graph, m_facts, at, each.found->port);
        if (each.found->search == Found::Search::upstream) problem.remedy = findUpstreamRemedy(*m_graph, m_facts, at);
      }
      m_result.problems.push_back(std::move(problem));
    }
  }

  Network m_network;               // as it was analysed last
  std::unique_ptr<Graph> m_graph;  // of m_network
  std::vector<Problem> m_graphProblems;
  std::vector<Memory> m_memory;    // by node
  std::vector<NodeFacts> m_facts;  // the same as theirs, as remedies read them
  std::vector<char> m_leads;       // to a loss or metric
  std::set<std::size_t> m_loose;
  bool m_isShared = false;
  CostMemo m_costs;
  Analysis m_result;
  std::size_t m_visited = 0;
};

IncrementalAnalysis::IncrementalAnalysis() : m_state(std::make_unique<State>()) {}
IncrementalAnalysis::~IncrementalAnalysis() = default;
IncrementalAnalysis::IncrementalAnalysis(IncrementalAnalysis&&) noexcept = default;
IncrementalAnalysis& IncrementalAnalysis::operator=(IncrementalAnalysis&&) noexcept = default;

const Analysis& IncrementalAnalysis::update(const Network& network, ParameterUses* uses) {
  return m_state->update(network, uses);
}
const Analysis& IncrementalAnalysis::result() const {
  return m_state->result();
}
std::vector<std::string> IncrementalAnalysis::trainedWeights() const {
  return m_state->trainedWeights();
}
std::size_t IncrementalAnalysis::visited() const {
  return m_state->visited();
}

}  // namespace loom
