// From what was found in a flat network back to what a person drew.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "engine/catalogue/text.h"
#include "engine/network/drawing_plan.h"
#include "engine/network/flattener.h"
#include "engine/network/incremental_analysis.h"

namespace loom {
namespace {

// "in stage1 (Residual), at repeat 2"
std::string placeText(const FlatNetwork& flat, std::size_t use) {
  std::vector<std::string> parts;
  for (std::size_t at = use; at != 0; at = flat.uses[at].parent) {
    const DrawingUse& each = flat.uses[at];
    std::string text;
    if (each.group >= 0) {
      text = fmt::format("at repeat {} of {}", each.repeat,
                         clipped(each.drawing->groups[static_cast<std::size_t>(each.group)].id));
    } else {
      text = fmt::format("in {} ({})",
                         clipped(flat.uses[each.parent].drawing->nodes[static_cast<std::size_t>(each.node)].id),
                         clipped(each.drawing->name));
      if (each.repeats > 1) text += fmt::format(", at repeat {}", each.repeat);
    }
    parts.insert(parts.begin(), std::move(text));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

auto keyOf(const Problem& problem) {
  return std::tuple(problem.network, problem.node, problem.field, problem.message, problem.edge.value_or(Edge{}));
}

bool sameRemedy(const Remedy& a, const Remedy& b) {
  return std::tie(a.kind, a.label, a.node, a.field, a.value, a.edge, a.network, a.edges) ==
             std::tie(b.kind, b.label, b.node, b.field, b.value, b.edge, b.network, b.edges) &&
         a.nodes == b.nodes;
}

void replaceAll(std::string& text, const std::string& what, const std::string& with) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// The use of the whole drawing around a node: that of its unit, or the network.
std::size_t rootOf(const FlatNetwork& flat, std::size_t use) {
  while (flat.uses[use].group >= 0) use = flat.uses[use].parent;
  return use;
}

class WayBack {
 public:
  WayBack(const FlatNetwork& flat) : m_flat(flat) {
    for (std::size_t i = 0; i < flat.network.nodes.size(); ++i) m_nodes.emplace(flat.network.nodes[i].id, i);
  }

  std::vector<Problem> problems(const std::vector<Problem>& given) const {
    std::vector<std::pair<Problem, std::size_t>> told;
    for (const Problem& problem : given) {
      if (problem.node.empty()) {
        told.emplace_back(problem, 0);
        told.back().first.remedy = drawnRemedy(problem.remedy, {}, 0);
        continue;
      }
      const auto found = m_nodes.find(problem.node);
      if (found == m_nodes.end() || !m_flat.origins[found->second].drawing) continue;
      told.emplace_back(drawn(problem, found->second), m_flat.origins[found->second].use);
    }
    return gathered(m_flat, std::move(told));
  }

  void facts(const Network& drawing, const Analysis& analysis, Analysis& result) const {
    std::size_t base = 0;
    if (m_flat.uses[0].drawing != &drawing) {
      while (base < m_flat.uses.size() && (m_flat.uses[base].drawing != &drawing || m_flat.uses[base].group >= 0))
        ++base;
      if (base == m_flat.uses.size()) return;
    }
    std::vector<std::ptrdiff_t> rank(drawing.nodes.size(), -1);
    std::vector<NodeFacts> byNode(drawing.nodes.size());
    for (std::size_t at = 0; at < analysis.order.size(); ++at) {
      const std::size_t flat = m_nodes.find(analysis.order[at])->second;
      const std::ptrdiff_t node = within(flat, base);
      if (node >= 0) rank[static_cast<std::size_t>(node)] = static_cast<std::ptrdiff_t>(at);
    }
    for (std::size_t i = 0; i < m_flat.network.nodes.size(); ++i) {
      const std::ptrdiff_t node = within(i, base);
      const auto found = node < 0 ? analysis.nodes.end() : analysis.nodes.find(m_flat.network.nodes[i].id);
      if (found == analysis.nodes.end()) continue;
      NodeFacts& facts = byNode[static_cast<std::size_t>(node)];
      const NodeFacts& one = found->second;
      if (drawing.nodes[static_cast<std::size_t>(node)].unit.empty() && !facts.known) {
        facts.inputs = one.inputs;
        facts.outputs = one.outputs;
        facts.known = one.known;
      }
      facts.parameters += one.parameters;
      facts.multiplyAdds += one.multiplyAdds;
      facts.outputValues += one.outputValues;
    }
    unitPins(drawing, base, analysis, byNode);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
      const bool isPin = base != 0 && (isInputPin(drawing.nodes[i]) || isOutputPin(drawing.nodes[i]));
      if (isPin) rank[i] = isInputPin(drawing.nodes[i]) ? 0 : static_cast<std::ptrdiff_t>(analysis.order.size());
      if (rank[i] >= 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
    for (const std::size_t i : order) result.order.push_back(drawing.nodes[i].id);
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
      if (base != 0) {
        result.parameters += byNode[i].parameters;
        result.multiplyAdds += byNode[i].multiplyAdds;
      }
      result.nodes[drawing.nodes[i].id] = std::move(byNode[i]);
    }
    if (base != 0) return;
    result.parameters = analysis.parameters;
    result.multiplyAdds = analysis.multiplyAdds;
  }

 private:
  // The node of the drawing's use `base` that a flat node is, or in whose unit it stands; -1: neither.
  std::ptrdiff_t within(std::size_t flat, std::size_t base) const {
    if (!m_flat.origins[flat].drawing) return -1;
    std::size_t use = rootOf(m_flat, m_flat.origins[flat].use);
    auto node = static_cast<std::ptrdiff_t>(m_flat.origins[flat].node);
    while (use != base && use != 0) {
      node = m_flat.uses[use].node;
      use = rootOf(m_flat, m_flat.uses[use].parent);
    }
    return use == base ? node : -1;
  }

  std::optional<Shape> shapeOf(const Endpoint& pin, const Analysis& analysis) const {
    const auto node = m_nodes.find(pin.node);
    const auto found = analysis.nodes.find(pin.node);
    const LayerDefinition* const layer =
        node == m_nodes.end() ? nullptr : findLayer(m_flat.network.nodes[node->second].layer);
    if (!layer || found == analysis.nodes.end() || !found->second.known) return std::nullopt;
    for (std::size_t i = 0; i < found->second.outputs.size() && i < layer->entry.outputs.size(); ++i)
      if (layer->entry.outputs[i].key == pin.port) return found->second.outputs[i];
    return std::nullopt;
  }

  // Shapes at the pins: of nodes that use a unit, and of the drawing's own where it is one.
  void unitPins(const Network& drawing, std::size_t base, const Analysis& analysis,
                std::vector<NodeFacts>& byNode) const {
    const auto fill = [&](const std::vector<Endpoint>& pins, std::vector<Shape>& shapes) {
      for (const Endpoint& pin : pins) {
        const std::optional<Shape> shape = shapeOf(pin, analysis);
        if (!shape) return false;
        shapes.push_back(*shape);
      }
      return true;
    };
    for (std::size_t u = 1; u < m_flat.uses.size(); ++u) {
      const DrawingUse& use = m_flat.uses[u];
      if (use.group >= 0 || rootOf(m_flat, use.parent) != base) continue;
      NodeFacts& facts = byNode[static_cast<std::size_t>(use.node)];
      if (use.repeat == 0 && facts.inputs.empty()) fill(use.inputs, facts.inputs);
      if (use.repeat + 1 == use.repeats && facts.outputs.empty()) facts.known = fill(use.outputs, facts.outputs);
    }
    if (base == 0) return;
    std::size_t input = 0, output = 0;
    for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
      NodeFacts& facts = byNode[i];
      std::optional<Shape> shape;
      if (isInputPin(drawing.nodes[i]) && input < m_flat.uses[base].inputs.size())
        shape = shapeOf(m_flat.uses[base].inputs[input++], analysis);
      if (isOutputPin(drawing.nodes[i]) && output < m_flat.uses[base].outputs.size())
        shape = shapeOf(m_flat.uses[base].outputs[output++], analysis);
      if (!shape) continue;
      if (isOutputPin(drawing.nodes[i])) facts.inputs = {*shape};
      facts.outputs = {*shape};
      facts.known = true;
    }
  }

  Problem drawn(Problem problem, std::size_t flat) const {
    const DrawnNode& origin = m_flat.origins[flat];
    const std::string& path = m_flat.uses[origin.use].path;
    if (problem.edge) problem.edge = drawnEdge(*problem.edge);
    problem.remedy = drawnRemedy(problem.remedy, problem.node, origin.use);
    if (!path.empty()) {
      replaceAll(problem.message, clipped(problem.node), clipped(origin->id));
      replaceAll(problem.message, path + "/", "");
    }
    problem.network = origin.drawing->name;
    problem.node = origin->id;
    return problem;
  }

  std::optional<Edge> drawnEdge(const Edge& edge) const {
    for (std::size_t e = 0; e < m_flat.network.edges.size(); ++e) {
      if (!(m_flat.network.edges[e] == edge)) continue;
      for (const std::string* end : {&edge.to.node, &edge.from.node})
        if (const auto node = m_nodes.find(*end); node != m_nodes.end() && m_flat.origins[node->second].drawing)
          return m_flat.origins[node->second].drawing->edges[m_flat.edges[e]];
    }
    return std::nullopt;
  }

  // Remedies were tried in the flat network. One that can be carried out in the drawing is kept: a field that holds a
  // value and no expression, wires between nodes of one use.
  Remedy drawnRemedy(const Remedy& remedy, const std::string& flatNode, std::size_t use) const {
    if (remedy.kind == Remedy::Kind::none) return {};
    Remedy result = remedy;
    switch (remedy.kind) {
      case Remedy::Kind::setField:
      case Remedy::Kind::removeField:
      case Remedy::Kind::renameLayer: {
        const auto at = m_nodes.find(remedy.node.empty() ? flatNode : remedy.node);
        if (at == m_nodes.end() || !m_flat.origins[at->second].drawing) return {};
        const DrawnNode& other = m_flat.origins[at->second];
        const Json& values = other->values;
        if (values.contains(remedy.field) && holdsExpression(values[remedy.field])) return {};
        if (!remedy.node.empty()) result.node = other->id;
        if (other.drawing != m_flat.uses[use].drawing) result.network = other.drawing->name;
        const std::string& path = m_flat.uses[other.use].path;
        if (!path.empty()) replaceAll(result.label, path + "/", "");
        return result;
      }
      case Remedy::Kind::removeEdge: {
        const std::optional<Edge> edge = drawnEdge(remedy.edge);
        if (!edge) return {};
        result.edge = *edge;
        break;
      }
      case Remedy::Kind::addEdge:
        if (!seenFrom(use, result.edge.from) || !seenFrom(use, result.edge.to)) return {};
        break;
      case Remedy::Kind::addNodes:
        for (Edge& edge : result.edges)
          for (Endpoint* end : {&edge.from, &edge.to}) {
            const bool isNew = std::any_of(result.nodes.begin(), result.nodes.end(),
                                           [&](const Node& node) { return node.id == end->node; });
            if (!isNew && !seenFrom(use, *end)) return {};
          }
        break;
      case Remedy::Kind::none:
        return {};
    }
    const std::string& path = m_flat.uses[use].path;
    if (!path.empty()) replaceAll(result.label, path + "/", "");
    return result;
  }

  // A pin of a flat node by the names of one use's drawing: of a node that stands there, or of a unit's Output that
  // gives it.
  bool seenFrom(std::size_t use, Endpoint& pin) const {
    const auto found = m_nodes.find(pin.node);
    if (found == m_nodes.end() || !m_flat.origins[found->second].drawing) return false;
    if (m_flat.origins[found->second].use == use) {
      pin.node = m_flat.origins[found->second]->id;
      return true;
    }
    for (const DrawingUse& unit : m_flat.uses) {
      const auto output = std::find(unit.outputs.begin(), unit.outputs.end(), pin);
      if (unit.parent != use || unit.node < 0 || output == unit.outputs.end() || unit.repeat + 1 != unit.repeats)
        continue;
      std::size_t place = static_cast<std::size_t>(output - unit.outputs.begin());
      for (const Node& node : unit.drawing->nodes)
        if (isOutputPin(node) && place-- == 0) {
          pin = {m_flat.uses[use].drawing->nodes[static_cast<std::size_t>(unit.node)].id, node.id};
          return true;
        }
    }
    return false;
  }

  static bool holdsExpression(const Json& value) {
    return isExpression(value) || (value.is_array() && std::any_of(value.begin(), value.end(), isExpression));
  }

  const FlatNetwork& m_flat;
  std::unordered_map<std::string_view, std::size_t> m_nodes;
};

// Whether a drawing uses the unit, by itself or through others; `seen` guards against units in a circle.
bool usesUnit(const Project& project, const Network& drawing, const Network& unit, std::set<const Network*>& seen) {
  return seen.insert(&drawing).second && std::any_of(drawing.nodes.begin(), drawing.nodes.end(), [&](const Node& node) {
           const Network* const used = node.unit.empty() ? nullptr : project.unit(node.unit);
           return used && (used == &unit || usesUnit(project, *used, unit, seen));
         });
}

}  // namespace

std::vector<Problem> gathered(const FlatNetwork& flat, std::vector<std::pair<Problem, std::size_t>> told) {
  struct Group {
    std::size_t first;
    std::set<std::size_t> uses;
    bool remedyHolds = true;
  };
  std::vector<Group> groups;
  std::map<decltype(keyOf(Problem())), std::size_t> places;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto [place, isNew] = places.emplace(keyOf(told[i].first), groups.size());
    if (isNew) groups.push_back({i, {}});
    Group& group = groups[place->second];
    group.uses.insert(told[i].second);
    if (!sameRemedy(told[i].first.remedy, told[group.first].first.remedy)) group.remedyHolds = false;
  }
  std::map<std::pair<const Network*, std::ptrdiff_t>, std::size_t> uses;
  for (const DrawingUse& use : flat.uses) ++uses[{use.drawing, use.group}];
  std::vector<Problem> problems;
  for (const Group& group : groups) {
    const std::size_t use = told[group.first].second;
    Problem problem = std::move(told[group.first].first);
    const std::size_t all = uses[{flat.uses[use].drawing, flat.uses[use].group}];
    const bool everywhere = group.uses.size() == all;
    // What was tried in one use, or would change others, is no remedy for them.
    if (!group.remedyHolds || !everywhere) problem.remedy = {};
    if (use != 0) {
      problem.user = flat.uses[0].drawing->name;
      problem.use = flat.uses[use].path;
      if (!everywhere) {
        problem.message += fmt::format(" ({}", placeText(flat, use));
        problem.message += group.uses.size() > 1 ? fmt::format(", and {} more)", group.uses.size() - 1) : ")";
      }
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<Problem> drawnProblems(const FlatNetwork& flat, const std::vector<Problem>& found) {
  return flat.uses.size() == 1 && isFlat(*flat.uses[0].drawing) ? found : WayBack(flat).problems(found);
}

Analysis drawnAnalysis(const FlatNetwork& flat, const Analysis& analysis, const Network& drawing) {
  if (flat.uses.size() == 1 && flat.problems.empty() && isFlat(*flat.uses[0].drawing)) return analysis;
  const WayBack back(flat);
  Analysis result;
  result.problems = flat.problems;
  for (Problem& problem : back.problems(analysis.problems)) result.problems.push_back(std::move(problem));
  std::stable_sort(result.problems.begin(), result.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.severity < b.severity; });
  back.facts(drawing, analysis, result);
  return result;
}

Analysis analyseDrawing(const Project& project, const Network& drawing) {
  IncrementalAnalysis once;
  return analyseDrawing(project, drawing, once);
}

Analysis analyseDrawing(const Project& project, const Network& drawing, IncrementalAnalysis& memory) {
  const Network* from = &drawing;
  if (project.unit(drawing.name) != &drawing) {
    if (isFlat(drawing)) return memory.update(drawing);
  } else {
    for (const Network& network : project.networks) {
      std::set<const Network*> seen;
      if (!usesUnit(project, network, drawing, seen)) continue;
      from = &network;
      break;
    }
  }
  const FlatNetwork flat = flatten(project, *from);
  Analysis result = drawnAnalysis(flat, memory.update(flat.network), drawing);
  if (from != &drawing)
    std::erase_if(result.problems, [&](const Problem& problem) { return problem.network != drawing.name; });
  return result;
}

}  // namespace loom
