#include "widgets/document/network_edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

constexpr auto kNone = NetworkIndex::kNone;

std::string labelOf(const Port& port) {
  return port.label.empty() ? port.key : port.label;
}

// First input and output of a node as the wires name them; empty where it has none.
std::string firstInput(const Project& project, const Node& node) {
  const auto ports = drawnPorts(project, node);
  if (!ports) return "input";
  return ports->inputs.empty() ? std::string() : ports->inputs.front().key;
}
std::string firstOutput(const Project& project, const Node& node) {
  const auto ports = drawnPorts(project, node);
  if (!ports) return "output";
  return ports->outputs.empty() ? std::string() : ports->outputs.front().key;
}

}  // namespace

bool validId(std::string_view id) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !id.empty() && letter(id.front()) && std::all_of(id.begin(), id.end(), allowed);
}

bool isTerminal(const LayerDefinition& layer) {
  return layer.entry.outputs.empty() || isResult(layer.role);
}

WireRules::WireRules(const Drawing& drawing, Endpoint end, bool output, const std::optional<Edge>& except)
    : m_drawing(drawing), m_end(std::move(end)), m_output(output) {
  if (except) m_except = drawing.index.wire(drawing.network, *except);
  const auto at = drawing.index.node(m_end.node);
  if (at != kNone) m_round = output ? drawing.index.before(at, m_except) : drawing.index.behind(at, m_except);
}

WireRules::Refusal WireRules::refusal(const Endpoint& other) const {
  const NetworkIndex& index = m_drawing.index;
  const Endpoint &from = m_output ? m_end : other, &to = m_output ? other : m_end;
  const auto source = index.node(from.node), target = index.node(to.node);
  if (source == kNone || target == kNone) return Refusal::unknown;
  if (source == target) return Refusal::itself;
  const Node &reads = m_drawing.network.nodes[target], &gives = m_drawing.network.nodes[source];
  const auto inputs = drawnPorts(m_drawing.project, reads), outputs = drawnPorts(m_drawing.project, gives);
  // Wires to ports that a layer lacks (an unknown layer, a file made by hand) make pins of their own.
  bool anyInput = inputs && !inputs->inputs.empty(), thisInput = inputs && findPort(inputs->inputs, to.port) != nullptr;
  for (const auto wire : index.into(target)) {
    if (wire == m_except) continue;
    anyInput = true;
    thisInput = thisInput || m_drawing.network.edges[wire].to.port == to.port;
  }
  if (!anyInput) return Refusal::noInputs;
  if (outputs && outputs->outputs.empty()) return Refusal::noOutputs;
  if (outputs ? findPort(outputs->outputs, from.port) == nullptr : from.port != "output") return Refusal::noOutput;
  if (!thisInput) return Refusal::noInput;
  for (const auto wire : index.into(target))
    if (wire != m_except && m_drawing.network.edges[wire].from == from && m_drawing.network.edges[wire].to == to)
      return Refusal::twice;
  if (!m_round[m_output ? target : source]) return Refusal::none;
  // Round through a Delay is how a loop carries a state to its next step.
  const auto isDelay = [&](NetworkIndex::Position at) { return m_drawing.network.nodes[at].layer == "Delay"; };
  const auto way = index.way(target, source, m_except);
  return std::any_of(way.begin(), way.end(), isDelay) ? Refusal::none : Refusal::loop;
}

std::string WireRules::whyNot(const Endpoint& other) const {
  const Edge edge = wire(other);
  const std::string &from = edge.from.node, &to = edge.to.node;
  switch (refusal(other)) {
    case Refusal::none:
      return {};
    case Refusal::unknown:
      return fmt::format("{} is not in this network", m_drawing.find(from) == nullptr ? from : to);
    case Refusal::itself:
      return fmt::format("{} cannot read its own output", from);
    case Refusal::noInputs:
      return fmt::format("{} takes no input: it is where data comes in", to);
    case Refusal::noOutputs:
      return fmt::format("{} gives no output: nothing goes on behind it", from);
    case Refusal::noOutput:
      return fmt::format("{} has no output '{}'", from, edge.from.port);
    case Refusal::noInput:
      return fmt::format("{} has no input '{}'", to, edge.to.port);
    case Refusal::twice: {
      const auto ports = drawnPorts(m_drawing.project, *m_drawing.find(to));
      const Port* port = ports ? findPort(ports->inputs, edge.to.port) : nullptr;
      return fmt::format("{} reads {} already, at {}", to, from, port != nullptr ? labelOf(*port) : edge.to.port);
    }
    case Refusal::loop:
      break;
  }
  const auto loop = m_drawing.index.way(m_drawing.index.node(to), m_drawing.index.node(from), m_except);
  const auto name = [&](NetworkIndex::Position at) -> const std::string& { return m_drawing.network.nodes[at].id; };
  std::string round = name(loop.front());
  const std::size_t shown = loop.size() > 5 ? 2 : loop.size();
  for (std::size_t i = 1; i < shown; ++i) round += " → " + name(loop[i]);
  if (shown < loop.size()) round += " → … → " + name(loop.back());
  return fmt::format("this would close a loop: {} already leads to {} ({} → {})", to, from, round, to);
}

std::string whyNotConnect(const Drawing& drawing, const Edge& edge, const std::optional<Edge>& except) {
  return WireRules(drawing, edge.from, true, except).whyNot(edge.to);
}

void connect(DrawingEdit& edit, const Edge& edge) {
  const Node* to = edit.find(edge.to.node);
  const auto ports = to == nullptr ? nullptr : drawnPorts(edit.project(), *to);
  const Port* port = ports ? findPort(ports->inputs, edge.to.port) : nullptr;
  if (to != nullptr && (port == nullptr || !port->several))
    for (const auto wire : edit.index().into(edit.index().node(edge.to.node)))
      if (edit.network().edges[wire].to == edge.to) return edit.changeWire(wire, edge);
  edit.addWire(edge);
}

void removeWires(DrawingEdit& edit, const std::vector<Edge>& wires) {
  std::set<std::size_t> at;
  for (const Edge& edge : wires) {
    const auto node = edit.index().node(edge.to.node);
    if (node == kNone) {
      for (std::size_t i = 0; i < edit.network().edges.size(); ++i)
        if (edit.network().edges[i] == edge) at.insert(i);
      continue;
    }
    for (const auto wire : edit.index().into(node))
      if (edit.network().edges[wire] == edge) at.insert(wire);
  }
  edit.removeWires({at.begin(), at.end()});
}

void removeNodes(DrawingEdit& edit, const std::vector<std::string>& ids, bool heal) {
  const NetworkIndex& index = edit.index();
  const Network& network = edit.network();
  std::vector<char> goes(network.nodes.size(), 0);
  std::vector<std::size_t> nodes;
  for (const std::string& id : ids) {
    const auto at = index.node(id);
    if (at == kNone || goes[at]) continue;
    goes[at] = 1;
    nodes.push_back(at);
  }
  if (nodes.empty()) return;
  std::sort(nodes.begin(), nodes.end());
  // What a reader of the removed node reads instead: along first inputs until something stays.
  const auto source = [&](Endpoint end) -> Endpoint {
    for (std::size_t steps = 0; steps <= nodes.size(); ++steps) {
      const auto at = index.node(end.node);
      if (at == kNone || !goes[at]) return end;
      const std::string input = firstInput(edit.project(), network.nodes[at]);
      const auto wires = index.into(at);
      const auto feeding =
          std::find_if(wires.begin(), wires.end(), [&](auto wire) { return network.edges[wire].to.port == input; });
      if (feeding == wires.end()) return {};
      end = network.edges[*feeding].from;
    }
    return {};
  };
  std::set<std::size_t> wires;
  std::vector<std::pair<std::size_t, Edge>> healed;
  for (const std::size_t node : nodes) {
    wires.insert(index.into(node).begin(), index.into(node).end());
    for (const auto wire : index.outOf(node))
      if (const auto to = index.to(wire); to == kNone || !goes[to]) {
        Edge kept = network.edges[wire];
        if (heal) kept.from = source(kept.from);
        if (!heal || kept.from.node.empty())
          wires.insert(wire);
        else
          healed.emplace_back(wire, std::move(kept));
      }
  }
  // In the order of the file: of two that become the same the first stays.
  std::sort(healed.begin(), healed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [wire, kept] : healed) {
    if (index.wire(network, kept) != kNone)
      wires.insert(wire);
    else
      edit.changeWire(wire, kept);
  }
  edit.removeWires({wires.begin(), wires.end()});
  edit.removeNodes(std::move(nodes));
}

void insertInto(DrawingEdit& edit, const std::string& id, const Edge& edge) {
  const Node* node = edit.find(id);
  const auto at = edit.index().wire(edit.network(), edge);
  if (node == nullptr || at == kNone) return;
  const std::string input = firstInput(edit.project(), *node), output = firstOutput(edit.project(), *node);
  if (output.empty() || input.empty()) return;
  edit.changeWire(at, {{id, output}, edge.to});
  edit.addWire(at, {edge.from, {id, input}});
}

void insertAfter(DrawingEdit& edit, const std::string& id, const std::string& after) {
  const Node *node = edit.find(id), *before = edit.find(after);
  if (node == nullptr || before == nullptr) return;
  const std::string input = firstInput(edit.project(), *node), from = firstOutput(edit.project(), *before);
  if (input.empty() || from.empty()) return;
  const LayerDefinition* layer = findLayer(node->layer);
  const std::string output =
      layer != nullptr && isTerminal(*layer) ? std::string() : firstOutput(edit.project(), *node);
  const Endpoint source{after, from};
  std::size_t first = edit.network().edges.size();
  if (!output.empty()) {
    const auto leaving = edit.index().outOf(edit.index().node(after));
    for (const auto wire : std::vector(leaving.begin(), leaving.end())) {
      Edge edge = edit.network().edges[wire];
      if (edge.from != source) continue;
      edge.from = {id, output};
      edit.changeWire(wire, std::move(edge));
      first = std::min<std::size_t>(first, wire);
    }
  }
  edit.addWire(first, {source, {id, input}});
}

void renameNode(ProjectEdit& edit, const std::string& name, const std::string& from, const std::string& to) {
  bool found = false;
  edit.drawing(name, [&](DrawingEdit& drawing) {
    const auto at = drawing.index().node(from);
    if (at == kNone) return;
    found = true;
    std::set<std::size_t> wires(drawing.index().into(at).begin(), drawing.index().into(at).end());
    wires.insert(drawing.index().outOf(at).begin(), drawing.index().outOf(at).end());
    drawing.change(std::size_t{at}, [&](Node& node) { node.id = to; });
    for (const std::size_t wire : wires) {
      Edge edge = drawing.network().edges[wire];
      if (edge.from.node == from) edge.from.node = to;
      if (edge.to.node == from) edge.to.node = to;
      drawing.changeWire(wire, std::move(edge));
    }
  });
  if (!found) return;
  // A node of the same id in another network keeps its sharers and its patterns.
  bool another = false;
  edit.everyDrawing([&](DrawingEdit& other) { another = another || other.find(from) != nullptr; });
  if (another) return;
  edit.everyDrawing([&](DrawingEdit& other) {
    for (std::size_t i = 0; i < other.network().nodes.size(); ++i)
      if (other.network().nodes[i].shares == from) other.change(i, [&](Node& sharer) { sharer.shares = to; });
  });
  const auto follow = [&](std::vector<std::string>& patterns) {
    for (std::string& pattern : patterns) {
      const bool whole = pattern == from;
      const bool scope = pattern.size() > from.size() && pattern.starts_with(from) &&
                         (pattern[from.size()] == '.' || pattern[from.size()] == '/');
      if (whole || scope) pattern.replace(0, from.size(), to);
    }
  };
  for (UpdateSpec& update : edit.training().updates) {
    follow(update.parameters);
    follow(update.decayExclude);
  }
}

void passOnShares(ProjectEdit& edit, const std::vector<std::string>& removed) {
  std::unordered_set<std::string> gone(removed.begin(), removed.end());
  edit.everyDrawing([&](DrawingEdit& drawing) {
    std::erase_if(gone, [&](const std::string& id) { return drawing.find(id) != nullptr; });
  });
  if (gone.empty()) return;
  std::map<std::string, std::string> heirs;
  edit.everyDrawing([&](DrawingEdit& drawing) {
    for (std::size_t i = 0; i < drawing.network().nodes.size(); ++i) {
      const std::string owner = drawing.network().nodes[i].shares;
      if (owner.empty() || !gone.contains(owner)) continue;
      const auto [heir, isFirst] = heirs.emplace(owner, drawing.network().nodes[i].id);
      drawing.change(i, [&](Node& node) { node.shares = isFirst ? std::string() : heir->second; });
    }
  });
}

}  // namespace loom
