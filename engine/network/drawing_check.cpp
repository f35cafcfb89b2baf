#include "engine/network/drawing_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/catalogue/text.h"
#include "engine/network/column_check.h"
#include "engine/network/remedies.h"

namespace loom {
namespace {

bool hasError(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.severity == Severity::error; });
}

}  // namespace

CheckedDrawings::CheckedDrawings(const Project& project, AnalysisMemory& memory)
    : m_project(project), m_memory(memory) {
  std::set<std::string_view> names;
  for (const Network& network : project.networks) {
    m_flat.push_back(flatten(project, network));
    // With others its weights are shared by name; alone there is nothing to compare. Of two of one name each is looked
    // at by itself.
    const std::string key =
        names.insert(network.name).second ? network.name : fmt::format("{}#{}", network.name, m_flat.size());
    m_analyses.push_back(
        &m_memory.networks[key].update(m_flat.back().network, project.networks.size() > 1 ? &m_parameters : nullptr));
  }
}

std::vector<Problem> CheckedDrawings::problems() {
  checkNames();
  for (std::size_t i = 0; i < m_flat.size(); ++i) {
    add(m_flat[i].problems);
    add(drawnProblems(m_flat[i], m_analyses[i]->problems));
  }
  checkUnits();
  checkSharing();
  return std::move(m_problems);
}

void CheckedDrawings::add(std::vector<Problem> problems) {
  std::set<std::tuple<std::string, std::string, std::string, std::string, Edge>> told;
  const auto key = [](const Problem& problem) {
    return std::tuple(problem.network, problem.node, problem.field, problem.message, problem.edge.value_or(Edge{}));
  };
  const bool isUsed = !m_project.units.empty();
  if (isUsed)
    for (const Problem& problem : m_problems) told.insert(key(problem));
  for (Problem& problem : problems)
    if (!isUsed || told.insert(key(problem)).second) m_problems.push_back(std::move(problem));
}

void CheckedDrawings::checkNames() {
  std::set<std::string_view> names;
  const auto check = [&](const Network& drawing, const char* place, const char* what) {
    if (!names.insert(drawing.name).second)
      m_problems.push_back(
          {.field = fmt::format("{}.{}", place, drawing.name),
           .message = fmt::format("{}.{}: {} are called so, but names must differ", place, drawing.name, what)});
  };
  for (const Network& network : m_project.networks) check(network, "networks", "two networks");
  for (const Network& unit : m_project.units) check(unit, "units", "a unit and another drawing");
}

// What no network uses is checked by itself. Its weights are none of the project's.
void CheckedDrawings::checkUnits() {
  std::set<const Network*> used;
  for (const FlatNetwork& flat : m_flat)
    for (const DrawingUse& use : flat.uses) used.insert(use.drawing);
  for (const Network& unit : m_project.units) {
    if (used.count(&unit)) continue;
    const FlatNetwork alone = flatten(m_project, unit);
    for (const DrawingUse& use : alone.uses) used.insert(use.drawing);
    add(alone.problems);
    add(drawnProblems(alone, analyse(alone.network).problems));
  }
}

// `shares` names a node of this or another network, or a path in it: of the same layer, with parameters of its own.
void CheckedDrawings::checkSharing() {
  std::map<std::string_view, const Node*> byId;
  for (const FlatNetwork& flat : m_flat)
    for (const Node& node : flat.network.nodes) byId.emplace(node.id, &node);
  for (std::size_t i = 0; i < m_flat.size(); ++i)
    for (std::size_t n = 0; n < m_flat[i].network.nodes.size(); ++n)
      if (!m_flat[i].network.nodes[n].shares.empty()) checkShares(i, n, byId);
}

void CheckedDrawings::checkShares(std::size_t network, std::size_t n,
                                  const std::map<std::string_view, const Node*>& byId) {
  const FlatNetwork& flat = m_flat[network];
  const Node& node = flat.network.nodes[n];
  const auto found = byId.find(node.shares);
  Problem problem{.network = flat.network.name, .node = node.id, .field = "shares"};
  if (found == byId.end()) {
    std::vector<std::string> ids;
    if (m_problems.size() < 50)
      for (const auto& [id, other] : byId) ids.emplace_back(id);
    const std::string near = nearest(node.shares, ids);
    problem.message = fmt::format("{}: shares the parameters of '{}', but there is no such node{}", clipped(node.id),
                                  clipped(node.shares), near.empty() ? "" : fmt::format(": did you mean '{}'?", near));
  } else if (const Node& other = *found->second; findLayer(other.layer) != findLayer(node.layer)) {
    problem.message = fmt::format("{}: is a {}, but shares the parameters of '{}', a {}: both must be of one layer",
                                  clipped(node.id), clipped(node.layer), clipped(other.id), clipped(other.layer));
  } else if (!other.shares.empty() && other.shares != other.id) {
    problem.message =
        fmt::format("{}: shares the parameters of '{}', which has none of its own: it shares those of '{}'",
                    clipped(node.id), clipped(other.id), clipped(other.shares));
  } else {
    return;
  }
  // Of a unit that shares another's: told at the node that uses it.
  const DrawnNode& origin = flat.origins[n];
  if (origin.drawing && origin->shares.empty()) {
    std::size_t use = origin.use;
    while (
        use != 0 &&
        (flat.uses[use].node < 0 ||
         flat.uses[flat.uses[use].parent].drawing->nodes[static_cast<std::size_t>(flat.uses[use].node)].shares.empty()))
      use = flat.uses[use].parent;
    if (use != 0) {
      const DrawingUse& around = flat.uses[flat.uses[use].parent];
      problem.network = around.drawing->name;
      problem.node = around.drawing->nodes[static_cast<std::size_t>(flat.uses[use].node)].id;
      add({problem});
      return;
    }
  }
  add(drawnProblems(flat, {problem}));
}

bool CheckedDrawings::isSound(const Network& network) const {
  return m_analyses[placeOf(network)]->sound() && !hasError(m_flat[placeOf(network)].problems);
}

std::vector<Problem> CheckedDrawings::columnProblems(const Network& network, const KnownColumns* columns) const {
  std::vector<Problem> found;
  const FlatNetwork& flat = m_flat[placeOf(network)];
  checkColumns(flat.network, *m_analyses[placeOf(network)], columns, found);
  return drawnProblems(flat, found);
}

Remedy CheckedDrawings::lossRemedy(const Network& network) const {
  if (hasError(m_flat[placeOf(network)].problems)) return {};
  const FlatNetwork& flat = m_flat[placeOf(network)];
  const Problem whole{.network = network.name, .remedy = addLoss(flat.network, *m_analyses[placeOf(network)])};
  return drawnProblems(flat, {whole}).front().remedy;
}

}  // namespace loom
