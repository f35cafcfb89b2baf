#include "widgets/document/network_edits.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string labelOf(const Port& port) { return port.label.empty() ? port.key : port.label; }

// The way from `from` to `to` along wires, both included; empty when there is none.
std::vector<std::string> way(const Network& network, const std::string& from, const std::string& to) {
  std::unordered_multimap<std::string_view, const Edge*> leaving;  // asked for every pin while a wire is drawn
  for (const Edge& edge : network.edges) leaving.emplace(edge.from.node, &edge);
  std::map<std::string, std::string> cameFrom{{from, {}}};
  std::deque<std::string> open{from};
  while (!open.empty() && !cameFrom.contains(to)) {
    const std::string here = open.front();
    open.pop_front();
    for (auto [edge, end] = leaving.equal_range(here); edge != end; ++edge)
      if (cameFrom.emplace(edge->second->to.node, here).second) open.push_back(edge->second->to.node);
  }
  std::vector<std::string> path;
  if (!cameFrom.contains(to)) return path;
  for (std::string at = to; !at.empty(); at = cameFrom[at]) path.insert(path.begin(), at);
  return path;
}

// First input and output of a node as the wires name them.
std::string firstInput(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer == nullptr) return "input";
  return layer->entry.inputs.empty() ? std::string() : layer->entry.inputs.front().key;
}
std::string firstOutput(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer == nullptr) return "output";
  return layer->entry.outputs.empty() ? std::string() : layer->entry.outputs.front().key;
}

}  // namespace

bool validId(std::string_view id) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !id.empty() && letter(id.front()) && std::all_of(id.begin(), id.end(), allowed);
}

bool reaches(const Network& network, const std::string& from, const std::string& to) {
  return !way(network, from, to).empty();
}

std::vector<std::string> downstream(const Network& network, const std::string& from) {
  std::vector<std::string> found{from};
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const Edge& edge : network.edges)
      if (edge.from.node == found[next] && !contains(found, edge.to.node)) found.push_back(edge.to.node);
  found.erase(found.begin());
  return found;
}

const Port* findInput(const Node& node, std::string_view port) {
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer == nullptr) return nullptr;
  for (const Port& input : layer->entry.inputs)
    if (input.key == port) return &input;
  return nullptr;
}

bool isTerminal(const LayerDefinition& layer) {
  return layer.entry.outputs.empty() || layer.entry.category == "lossMetric";
}

std::string whyNotConnect(const Network& network, const Edge& edge) {
  const Node* from = network.find(edge.from.node);
  const Node* to = network.find(edge.to.node);
  if (from == nullptr || to == nullptr)
    return fmt::format("{} is not in this network", from == nullptr ? edge.from.node : edge.to.node);
  if (from == to) return fmt::format("{} cannot read its own output", from->id);
  const std::vector<PinSlot> outputs = outputSlots(*from), inputs = inputSlots(network, *to);
  const auto named = [](const std::string& port) { return [&port](const PinSlot& slot) { return slot.port == port; }; };
  if (inputs.empty()) return fmt::format("{} takes no input: it is where data comes in", to->id);
  if (outputs.empty()) return fmt::format("{} gives no output: nothing goes on behind it", from->id);
  if (std::none_of(outputs.begin(), outputs.end(), named(edge.from.port)))
    return fmt::format("{} has no output '{}'", from->id, edge.from.port);
  if (std::none_of(inputs.begin(), inputs.end(), named(edge.to.port)))
    return fmt::format("{} has no input '{}'", to->id, edge.to.port);
  if (std::find(network.edges.begin(), network.edges.end(), edge) != network.edges.end()) {
    const Port* port = findInput(*to, edge.to.port);
    return fmt::format("{} reads {} already, at {}", to->id, from->id, port != nullptr ? labelOf(*port) : edge.to.port);
  }
  const std::vector<std::string> loop = way(network, to->id, from->id);
  if (!loop.empty()) {
    std::string round = loop.front();
    const std::size_t shown = loop.size() > 5 ? 2 : loop.size();
    for (std::size_t i = 1; i < shown; ++i) round += " → " + loop[i];
    if (shown < loop.size()) round += " → … → " + loop.back();
    return fmt::format("this would close a loop: {} already leads to {} ({} → {})", to->id, from->id, round, to->id);
  }
  return {};
}

void connect(Network& network, const Edge& edge) {
  const Node* to = network.find(edge.to.node);
  const Port* port = to == nullptr ? nullptr : findInput(*to, edge.to.port);
  if (port == nullptr || !port->several) {
    const auto taken = std::find_if(network.edges.begin(), network.edges.end(), [&](const Edge& e) { return e.to == edge.to; });
    if (taken != network.edges.end()) {
      *taken = edge;
      return;
    }
  }
  network.edges.push_back(edge);
}

void removeNodes(Network& network, const std::vector<std::string>& ids, bool heal) {
  // What a reader of the removed node reads instead: along first inputs until something stays.
  const auto source = [&](Endpoint at) -> Endpoint {
    for (std::size_t steps = 0; contains(ids, at.node) && steps <= ids.size(); ++steps) {
      const Node* node = network.find(at.node);
      const std::string input = node == nullptr ? std::string() : firstInput(*node);
      const auto feeding = std::find_if(network.edges.begin(), network.edges.end(), [&](const Edge& edge) {
        return edge.to.node == at.node && edge.to.port == input;
      });
      if (feeding == network.edges.end()) return {};
      at = feeding->from;
    }
    return contains(ids, at.node) ? Endpoint{} : at;
  };
  std::vector<Edge> edges;
  for (const Edge& edge : network.edges) {
    if (contains(ids, edge.to.node)) continue;
    Edge kept = edge;
    if (contains(ids, edge.from.node)) {
      if (!heal) continue;
      kept.from = source(edge.from);
      if (kept.from.node.empty() || std::find(network.edges.begin(), network.edges.end(), kept) != network.edges.end()) continue;
    }
    if (std::find(edges.begin(), edges.end(), kept) == edges.end()) edges.push_back(kept);
  }
  network.edges = std::move(edges);
  std::erase_if(network.nodes, [&](const Node& node) { return contains(ids, node.id); });
}

void insertInto(Network& network, const std::string& id, const Edge& edge) {
  const Node* node = network.find(id);
  const auto found = std::find(network.edges.begin(), network.edges.end(), edge);
  if (node == nullptr || found == network.edges.end()) return;
  const std::string input = firstInput(*node), output = firstOutput(*node);
  if (output.empty() || input.empty()) return;
  found->from = {id, output};
  network.edges.insert(found, Edge{edge.from, {id, input}});
}

void insertAfter(Network& network, const std::string& id, const std::string& after) {
  const Node *node = network.find(id), *before = network.find(after);
  if (node == nullptr || before == nullptr) return;
  const std::string input = firstInput(*node), from = firstOutput(*before);
  if (input.empty() || from.empty()) return;
  const LayerDefinition* layer = findLayer(node->layer);
  const std::string output = layer != nullptr && isTerminal(*layer) ? std::string() : firstOutput(*node);
  const Endpoint source{after, from};
  auto first = network.edges.end();
  if (!output.empty()) {
    for (auto edge = network.edges.begin(); edge != network.edges.end(); ++edge) {
      if (edge->from != source) continue;
      edge->from = {id, output};
      if (first == network.edges.end()) first = edge;
    }
  }
  network.edges.insert(first, Edge{source, {id, input}});
}

void renameNode(Project& project, const std::string& name, const std::string& from, const std::string& to) {
  Network* network = project.network(name);
  Node* node = network == nullptr ? nullptr : network->find(from);
  if (node == nullptr) return;
  node->id = to;
  for (Edge& edge : network->edges) {
    if (edge.from.node == from) edge.from.node = to;
    if (edge.to.node == from) edge.to.node = to;
  }
  // A node of the same id in another network keeps its sharers and its patterns.
  for (const Network& other : project.networks)
    if (other.find(from) != nullptr) return;
  for (Network& other : project.networks)
    for (Node& sharer : other.nodes)
      if (sharer.shares == from) sharer.shares = to;
  const auto follow = [&](std::vector<std::string>& patterns) {
    for (std::string& pattern : patterns) {
      const bool whole = pattern == from;
      const bool scope = pattern.size() > from.size() && pattern.starts_with(from) && (pattern[from.size()] == '.' || pattern[from.size()] == '/');
      if (whole || scope) pattern.replace(0, from.size(), to);
    }
  };
  for (UpdateSpec& update : project.training.updates) {
    follow(update.parameters);
    follow(update.decayExclude);
  }
}

void passOnShares(Project& project, const std::vector<std::string>& removed) {
  for (const std::string& id : removed) {
    const auto has = [&](const Network& network) { return network.find(id) != nullptr; };
    if (std::any_of(project.networks.begin(), project.networks.end(), has)) continue;
    std::string heir;
    for (Network& network : project.networks) {
      for (Node& node : network.nodes) {
        if (node.shares != id) continue;
        node.shares = heir;
        if (heir.empty()) heir = node.id;
      }
    }
  }
}

}  // namespace loom
