#include "engine/network/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <set>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"

namespace loom {
namespace {

// "Did you mean" compares with every known name: only for the first faults, a file with thousands is not mended one by
// one.
constexpr std::size_t kMostSuggestions = 50;

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::ptrdiff_t portIndex(const std::vector<Port>& ports, std::string_view key) {
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (ports[i].key == key) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

std::vector<std::string> keysOf(const std::vector<Port>& ports) {
  std::vector<std::string> keys;
  for (const Port& port : ports) keys.push_back(port.key);
  return keys;
}

const std::vector<std::string>& layerNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const LayerDefinition* layer : layerTable()) {
      all.push_back(layer->entry.id);
      all.insert(all.end(), layer->entry.aliases.begin(), layer->entry.aliases.end());
    }
    return all;
  }();
  return names;
}

}  // namespace

bool isValidId(std::string_view id) {
  return !id.empty() && id.size() <= 128 && isLetter(id[0]) && std::all_of(id.begin(), id.end(), [](char c) {
    return isLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool isValidPath(std::string_view path) {
  const auto isNumber = [](std::string_view part) {
    return !part.empty() && part.size() <= 9 &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (!isValidId(path.substr(0, slash)) && !isNumber(path.substr(0, slash))) return false;
    path.remove_prefix(slash + 1);
  }
  return isValidId(path);
}

std::string endpointText(const Endpoint& endpoint, const LayerDefinition* layer, bool isInput) {
  const std::string first = layer ? (isInput ? layer->entry.inputs : layer->entry.outputs).empty()
                                        ? std::string()
                                        : (isInput ? layer->entry.inputs : layer->entry.outputs)[0].key
                                  : std::string(isInput ? "input" : "output");
  return endpoint.port.empty() || endpoint.port == first ? endpoint.node : endpoint.node + "." + endpoint.port;
}

PortType outputType(const GraphNode& node, std::size_t port) {
  if (node.layer->role == LayerRole::input) {
    try {
      const std::string type = Values(node.layer->entry, node.node->values).text("type");
      return type == "label" ? PortType::labels : type == "index" ? PortType::indices : PortType::values;
    } catch (const Error&) {
      return PortType::values;  // a wrong type is reported with the fields
    }
  }
  return node.layer->entry.outputs[port].type;
}

Graph::Graph(const Network& network, std::vector<Problem>& problems) : m_network(network) {
  addNodes(problems);
  addEdges(problems);
  sort(problems);
}

std::ptrdiff_t Graph::find(std::string_view id) const {
  const auto found = m_byId.find(id);
  return found == m_byId.end() ? -1 : static_cast<std::ptrdiff_t>(found->second);
}

void Graph::addNodes(std::vector<Problem>& problems) {
  m_nodes.resize(m_network.nodes.size());
  std::size_t suggestions = 0;
  for (std::size_t i = 0; i < m_nodes.size(); ++i) {
    const Node& node = m_network.nodes[i];
    GraphNode& graphNode = m_nodes[i];
    graphNode.node = &node;
    const auto report = [&](std::string field, std::string message, Remedy remedy = {}) {
      problems.push_back({.network = m_network.name,
                          .node = node.id,
                          .field = std::move(field),
                          .message = std::move(message),
                          .remedy = std::move(remedy)});
    };
    if (!isValidPath(node.id))
      report("id", fmt::format("'{}' is no name for a node: a letter, then letters, digits, '_' and '-', at most 128",
                               clipped(node.id)));
    if (!m_byId.emplace(node.id, i).second)
      report("id", fmt::format("{}: two nodes are called so, but names must differ", clipped(node.id)));
    graphNode.layer = findLayer(node.layer);
    if (!graphNode.layer) {
      if (const std::string advice = adviceOn(layerTable(), node.layer); !advice.empty()) {
        report("layer", fmt::format("{}: {}", clipped(node.id), advice));
        continue;
      }
      std::string near = ++suggestions <= kMostSuggestions ? nearest(node.layer, layerNames()) : std::string();
      if (const LayerDefinition* meant = near.empty() ? nullptr : findLayer(near)) near = meant->entry.id;
      if (near.empty()) {
        report("layer", fmt::format("{}: unknown layer '{}'", clipped(node.id), clipped(node.layer)));
      } else {
        report("layer",
               fmt::format("{}: unknown layer '{}': did you mean '{}'?", clipped(node.id), clipped(node.layer), near),
               {.kind = Remedy::Kind::renameLayer, .label = fmt::format("Make it {}", near), .value = near});
      }
      continue;
    }
    graphNode.inputs.resize(graphNode.layer->entry.inputs.size());
    graphNode.faultyInputs.resize(graphNode.inputs.size());
  }
}

void Graph::addEdges(std::vector<Problem>& problems) {
  std::set<Edge> seen;
  std::size_t suggestions = 0;
  std::vector<std::string> ids;
  const auto suggest = [&](std::string_view word, const std::vector<std::string>& known) {
    const std::string near = ++suggestions <= kMostSuggestions ? nearest(word, known) : std::string();
    return near.empty() ? std::string() : fmt::format(": did you mean '{}'?", near);
  };
  for (std::size_t e = 0; e < m_network.edges.size(); ++e) {
    const Edge& edge = m_network.edges[e];
    const auto report = [&](const std::string& node, std::string message) {
      problems.push_back({.network = m_network.name,
                          .node = node,
                          .edge = edge,
                          .message = std::move(message),
                          .remedy = {.kind = Remedy::Kind::removeEdge, .label = "Remove the wire", .edge = edge}});
    };
    const std::ptrdiff_t from = find(edge.from.node), to = find(edge.to.node);
    GraphNode* const source = from < 0 ? nullptr : &m_nodes[static_cast<std::size_t>(from)];
    GraphNode* const target = to < 0 ? nullptr : &m_nodes[static_cast<std::size_t>(to)];
    const std::ptrdiff_t output =
        source && source->layer ? portIndex(source->layer->entry.outputs, edge.from.port) : -1;
    const std::ptrdiff_t input = target && target->layer ? portIndex(target->layer->entry.inputs, edge.to.port) : -1;
    const bool twice = !seen.insert(edge).second;
    if (output < 0 || input < 0 || twice) {
      if (source) source->faultyOutput = true;
      if (input >= 0) ++target->faultyInputs[static_cast<std::size_t>(input)];
    }
    if (from < 0 || to < 0) {
      if (ids.empty())
        for (const Node& node : m_network.nodes) ids.push_back(node.id);
      const Endpoint& missing = from < 0 ? edge.from : edge.to;
      report(from >= 0 ? edge.from.node
             : to >= 0 ? edge.to.node
                       : std::string(),
             fmt::format("the wire from '{}' to '{}' {} '{}', but there is no such node{}", clipped(edge.from.node),
                         clipped(edge.to.node), from < 0 ? "begins at" : "ends at", clipped(missing.node),
                         suggest(missing.node, ids)));
      continue;
    }
    if (twice) {
      report(edge.to.node,
             fmt::format("{}: the wire from {} stands twice", clipped(edge.to.node), clipped(edge.from.node)));
      continue;
    }
    if (!source->layer || !target->layer) continue;  // the unknown layer is the fault
    if (output < 0) {
      report(edge.from.node,
             fmt::format("{}: {} has no output '{}'{}", clipped(edge.from.node), source->layer->entry.id,
                         clipped(edge.from.port), suggest(edge.from.port, keysOf(source->layer->entry.outputs))));
      continue;
    }
    if (input < 0) {
      report(edge.to.node,
             target->layer->entry.inputs.empty()
                 ? fmt::format("{}: {} takes no wire", clipped(edge.to.node), target->layer->entry.id)
                 : fmt::format("{}: {} has no input '{}'{}", clipped(edge.to.node), target->layer->entry.id,
                               clipped(edge.to.port), suggest(edge.to.port, keysOf(target->layer->entry.inputs))));
      continue;
    }
    auto& wires = target->inputs[static_cast<std::size_t>(input)];
    const Port& port = target->layer->entry.inputs[static_cast<std::size_t>(input)];
    if (!wires.empty() && !port.several) {
      report(edge.to.node, fmt::format("{}: {} takes one wire, but both {} and {} lead to it", clipped(edge.to.node),
                                       port.key, clipped(m_nodes[wires[0].node].node->id), clipped(edge.from.node)));
      continue;
    }
    wires.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(output), e});
    source->consumers.push_back(static_cast<std::size_t>(to));
  }
}

void Graph::sort(std::vector<Problem>& problems) {
  std::vector<std::size_t> waiting(m_nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < m_nodes.size(); ++i) {
    for (const auto& port : m_nodes[i].inputs) waiting[i] += port.size();
    if (waiting[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    m_order.push_back(i);
    for (std::size_t consumer : m_nodes[i].consumers)
      if (--waiting[consumer] == 0) ready.push(consumer);
  }
  if (m_order.size() < m_nodes.size()) reportCycles(waiting, problems);
}

void Graph::reportCycles(const std::vector<std::size_t>& waiting, std::vector<Problem>& problems) {
  const auto spare = [&](std::size_t e) {
    const GraphNode& target = m_nodes[static_cast<std::size_t>(find(m_network.edges[e].to.node))];
    const std::ptrdiff_t port = portIndex(target.layer->entry.inputs, m_network.edges[e].to.port);
    return target.layer->entry.inputs[static_cast<std::size_t>(port)].optional ||
           target.inputs[static_cast<std::size_t>(port)].size() > 2;
  };
  // Every waiting node has a waiting source; walking upwards from one must come back to a node seen before.
  std::vector<char> told(m_nodes.size(), 0);
  std::vector<std::ptrdiff_t> place(m_nodes.size(), -1);
  for (std::size_t start = 0; start < m_nodes.size(); ++start) {
    if (waiting[start] == 0 || told[start]) continue;
    std::vector<std::size_t> path, edges;
    std::size_t at = start;
    bool known = false;
    while (place[at] < 0 && !(known = told[at] != 0)) {
      place[at] = static_cast<std::ptrdiff_t>(path.size());
      path.push_back(at);
      const GraphSource* next = nullptr;
      for (const auto& port : m_nodes[at].inputs)
        for (const GraphSource& source : port)
          if (!next && waiting[source.node] > 0) next = &source;
      edges.push_back(next->edge);
      at = next->node;
    }
    const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(place[at], 0));
    for (std::size_t i : path) {
      told[i] = 1;
      place[i] = -1;
    }
    if (known) continue;  // leads into a cycle that was told already
    std::string way = m_nodes[at].node->id;
    std::size_t closing = edges[first];
    for (std::size_t i = path.size(); i-- > first;) {
      if (path.size() - i <= 8 || i == first)
        way += " → " + m_nodes[path[i]].node->id;
      else if (path.size() - i == 9)
        way += " → …";
      // The wire that was drawn last closed the circle; better still is one that its port can do without.
      closing = std::max(std::pair(spare(closing), closing), std::pair(spare(edges[i]), edges[i])).second;
    }
    const Edge& edge = m_network.edges[closing];
    problems.push_back({.network = m_network.name,
                        .node = edge.to.node,
                        .edge = edge,
                        .message = fmt::format("{}: the wires go in a circle: {}", clipped(edge.to.node), way),
                        .remedy = {.kind = Remedy::Kind::removeEdge,
                                   .label = fmt::format("Remove the wire from {} to {}", clipped(edge.from.node),
                                                        clipped(edge.to.node)),
                                   .edge = edge}});
  }
}

}  // namespace loom
