#include "widgets/document/project_delta.h"

#include <algorithm>
#include <tuple>

namespace loom {

namespace {

auto parts(const DatasetSpec& spec) { return std::tie(spec.name, spec.csv, spec.prepare, spec.ownPrepare, spec.extra); }
auto parts(const UpdateSpec& spec) {
  return std::tie(spec.network, spec.dataset, spec.parameters, spec.decayExclude, spec.optimizer, spec.schedule,
                  spec.warmup, spec.every);
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return parts(x) == parts(y); });
}
bool same(const TrainingSpec& a, const TrainingSpec& b) {
  return same(a.updates, b.updates) &&
         std::tie(a.validation, a.validationNetwork, a.settings) == std::tie(b.validation, b.validationNetwork, b.settings);
}

const Node* findNode(const std::vector<Node>& nodes, const std::string& id) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

bool sameNames(const std::vector<Network>& a, const std::vector<Network>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Network& x, const Network& y) { return x.name == y.name; });
}

template <class T>
void swapIn(T& target, const std::optional<std::pair<T, T>>& swap, bool forward) {
  if (swap) target = forward ? swap->second : swap->first;
}

}  // namespace

ProjectDelta ProjectDelta::between(const Project& before, const Project& after) {
  ProjectDelta delta;
  if (!sameNames(before.networks, after.networks)) {
    delta.m_list.emplace(before.networks, after.networks);
  } else {
    for (std::size_t i = 0; i < before.networks.size(); ++i) {
      const Network &from = before.networks[i], &to = after.networks[i];
      OfNetwork of{from.name, Splice<Node>::between(from.nodes, to.nodes), Splice<Edge>::between(from.edges, to.edges)};
      if (!of.nodes.empty() || !of.edges.empty()) delta.m_networks.push_back(std::move(of));
    }
  }
  if (!same(before.datasets, after.datasets)) delta.m_datasets.emplace(before.datasets, after.datasets);
  if (!same(before.training, after.training)) delta.m_training.emplace(before.training, after.training);
  if (before.notes != after.notes) delta.m_notes.emplace(before.notes, after.notes);
  return delta;
}

bool ProjectDelta::empty() const { return m_networks.empty() && !m_list && !m_datasets && !m_training && !m_notes; }

void ProjectDelta::apply(Project& project, bool forward) const {
  swapIn(project.networks, m_list, forward);
  for (const OfNetwork& of : m_networks) {
    Network* network = project.network(of.name);
    if (network == nullptr) continue;
    of.nodes.apply(network->nodes, forward);
    of.edges.apply(network->edges, forward);
  }
  swapIn(project.datasets, m_datasets, forward);
  swapIn(project.training, m_training, forward);
  swapIn(project.notes, m_notes, forward);
}

ProjectChange ProjectDelta::change(bool forward) const {
  ProjectChange change;
  change.networkList = m_list.has_value();
  change.datasets = m_datasets.has_value();
  change.training = m_training.has_value();
  change.notes = m_notes.has_value();
  for (const OfNetwork& of : m_networks) {
    NetworkChange item{of.name};
    const std::vector<Node>& old = forward ? of.nodes.before : of.nodes.after;
    const std::vector<Node>& now = forward ? of.nodes.after : of.nodes.before;
    for (const Node& node : now) {
      const Node* was = findNode(old, node.id);
      if (was == nullptr) {
        item.added.push_back(node.id);
      } else if (!(*was == node)) {
        const bool content = was->layer != node.layer || was->values != node.values || was->shares != node.shares;
        (content ? item.changed : item.moved).push_back(node.id);
        if (content && (was->x != node.x || was->y != node.y)) item.moved.push_back(node.id);
      }
    }
    for (const Node& node : old)
      if (findNode(now, node.id) == nullptr) item.removed.push_back(node.id);
    item.edges = !of.edges.empty();
    change.networks.push_back(std::move(item));
  }
  return change;
}

}  // namespace loom
