#include "engine/network/drawing_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/catalogue/text.h"
#include "engine/network/graph.h"

namespace loom {
namespace {

class DrawingPlanner {
 public:
  explicit DrawingPlanner(const Network& drawing) : m_drawing(drawing) { m_plan.drawing = &drawing; }

  DrawingPlan run() {
    indexNodes();
    indexWires();
    findBodies();
    for (std::size_t body = 1; body < m_plan.bodies.size(); ++body) findEnds(body);
    checkPins();
    return std::move(m_plan);
  }

 private:
  void report(std::vector<Problem>& to, const std::string& node, const std::string& field, std::string message,
              Severity severity = Severity::error) {
    to.push_back(
        {.severity = severity, .network = m_drawing.name, .node = node, .field = field, .message = std::move(message)});
  }

  void indexNodes() {
    for (std::size_t i = 0; i < m_drawing.nodes.size(); ++i) {
      const Node& node = m_drawing.nodes[i];
      const bool isNew = m_plan.byId.emplace(node.id, i).second;
      const bool isPin = isInputPin(node) || isOutputPin(node);
      // Of layers the flat network tells all but the '/' that paths have.
      auto& problems = isPin ? m_plan.unitProblems : m_plan.problems;
      const bool isWritten = node.unit.empty() && !isPin;
      if (isWritten ? node.id.find('/') != std::string::npos : !isValidId(node.id))
        report(problems, node.id, "id",
               fmt::format("'{}' is no name for a node: a letter, then letters, digits, '_' and '-', at most 128",
                           clipped(node.id)));
      if (!isNew && !isWritten)
        report(problems, node.id, "id",
               fmt::format("{}: two nodes are called so, but names must differ", clipped(node.id)));
      if (isInputPin(node)) m_plan.inputs.push_back(i);
      if (isOutputPin(node)) m_plan.outputs.push_back(i);
    }
  }

  void indexWires() {
    m_plan.incoming.resize(m_drawing.nodes.size());
    const auto find = [&](const std::string& id) {
      const auto found = m_plan.byId.find(id);
      return found == m_plan.byId.end() ? std::ptrdiff_t{-1} : static_cast<std::ptrdiff_t>(found->second);
    };
    for (std::size_t e = 0; e < m_drawing.edges.size(); ++e) {
      m_plan.wires.push_back({find(m_drawing.edges[e].from.node), find(m_drawing.edges[e].to.node)});
      if (m_plan.wires[e].to >= 0) m_plan.incoming[static_cast<std::size_t>(m_plan.wires[e].to)].push_back(e);
    }
  }

  // Parents by group, and for each the nearest repeated group that it stands in, itself included: its body.
  void findBodies() {
    const std::size_t groups = m_drawing.groups.size();
    std::unordered_map<std::string_view, std::size_t> byId;
    for (std::size_t g = 0; g < groups; ++g)
      if (!byId.emplace(m_drawing.groups[g].id, g).second ||
          (isRepeated(m_drawing.groups[g].repeat) && m_plan.byId.count(m_drawing.groups[g].id)))
        report(m_plan.problems, "", "groups",
               fmt::format("the group '{}': the name is taken already", clipped(m_drawing.groups[g].id)));
    const auto parentOf = [&](std::size_t g) {
      const auto found = byId.find(m_drawing.groups[g].parent);
      return found == byId.end() ? groups : found->second;
    };
    m_plan.bodies.emplace_back();
    std::vector<std::size_t> bodyOfGroup(groups, 0);
    for (std::size_t g = 0; g < groups; ++g) {
      const Group& group = m_drawing.groups[g];
      if (!group.parent.empty() && parentOf(g) == groups)
        report(m_plan.problems, "", "groups",
               fmt::format("the group '{}' stands in '{}', but there is no such group", clipped(group.id),
                           clipped(group.parent)),
               Severity::warning);
      if (isRepeated(group.repeat)) {
        if (!isArgumentName(group.counter))
          report(m_plan.problems, "", "groups",
                 fmt::format("the group '{}': '{}' is no name for a counter: a letter, then letters, digits and '_'",
                             clipped(group.id), clipped(group.counter)));
        bodyOfGroup[g] = m_plan.bodies.size();
        m_plan.bodies.push_back({.group = static_cast<std::ptrdiff_t>(g)});
      }
    }
    // From a group outwards to the first that repeats; a circle of groups is told and cut.
    const auto outward = [&](std::size_t g) {
      for (std::size_t steps = 0; g < groups; ++steps, g = parentOf(g)) {
        if (bodyOfGroup[g] != 0) return bodyOfGroup[g];
        if (steps > groups) break;
      }
      return std::size_t{0};
    };
    for (std::size_t g = 0; g < groups; ++g) {
      std::size_t at = parentOf(g), steps = 0;
      while (at < groups && at != g && steps++ <= groups) at = parentOf(at);
      if (at == g) {
        report(m_plan.problems, "", "groups",
               fmt::format("the group '{}' stands in itself", clipped(m_drawing.groups[g].id)));
        m_isCircular = true;
      }
    }
    for (std::size_t b = 1; b < m_plan.bodies.size(); ++b)
      m_plan.bodies[b].parent = m_isCircular ? 0 : outward(parentOf(static_cast<std::size_t>(m_plan.bodies[b].group)));
    m_plan.bodyOf.resize(m_drawing.nodes.size(), 0);
    m_plan.placeIn.resize(m_drawing.nodes.size(), 0);
    std::vector<char> placed(m_plan.bodies.size(), 0);
    for (std::size_t i = 0; i < m_drawing.nodes.size(); ++i) {
      const Node& node = m_drawing.nodes[i];
      const auto group = node.group.empty() ? byId.end() : byId.find(node.group);
      if (!node.group.empty() && group == byId.end())
        report(
            m_plan.problems, node.id, "group",
            fmt::format("{}: stands in group '{}', but there is no such group", clipped(node.id), clipped(node.group)),
            Severity::warning);
      const std::size_t body = group == byId.end() ? 0 : outward(group->second);
      m_plan.bodyOf[i] = body;
      m_plan.placeIn[i] = m_plan.bodies[body].nodeCount++;
      for (std::size_t b = body; b != 0 && !placed[b]; b = m_plan.bodies[b].parent) {
        placed[b] = 1;
        m_pending.push_back(b);
      }
      while (!m_pending.empty()) {  // the outermost first
        m_plan.bodies[m_plan.bodies[m_pending.back()].parent].items.push_back({true, m_pending.back()});
        m_pending.pop_back();
      }
      m_plan.bodies[body].items.push_back({false, i});
    }
  }

  // One entry and one exit of a repeated group.
  void findEnds(std::size_t b) {
    Body& body = m_plan.bodies[b];
    const Group& group = m_drawing.groups[static_cast<std::size_t>(body.group)];
    const auto inside = [&](std::ptrdiff_t node) {
      return node >= 0 && m_plan.isWithin(m_plan.bodyOf[static_cast<std::size_t>(node)], b);
    };
    const auto fail = [&](std::string what) {
      report(m_plan.problems, "", "groups",
             fmt::format("the group '{}' repeats, so it has one entry and one exit, but {}", clipped(group.id), what));
    };
    std::vector<char> feeds(m_drawing.nodes.size(), 0);
    for (std::size_t e = 0; e < m_plan.wires.size(); ++e) {
      const DrawingPlan::Wire& wire = m_plan.wires[e];
      const Endpoint& from = m_drawing.edges[e].from;
      if (wire.from < 0 || wire.to < 0) continue;
      if (inside(wire.from) && inside(wire.to)) feeds[static_cast<std::size_t>(wire.from)] = 1;
      if (inside(wire.from) == inside(wire.to)) continue;
      PlannedPin& end = inside(wire.to) ? body.entry : body.exit;
      if (end.node >= 0 && (end.node != wire.from || end.port != from.port))
        return fail(fmt::format("wires {} both {} and {}: make a unit of it",
                                inside(wire.to) ? "come in from" : "leave",
                                clipped(m_drawing.nodes[static_cast<std::size_t>(end.node)].id), clipped(from.node)));
      end = {wire.from, from.port};
    }
    if (body.entry.node < 0) return fail("no wire leads into it");
    if (body.exit.node >= 0) return;
    for (std::size_t i = 0; i < m_drawing.nodes.size(); ++i) {
      if (!inside(static_cast<std::ptrdiff_t>(i)) || feeds[i]) continue;
      if (body.exit.node >= 0)
        return fail(fmt::format("both {} and {} lead nowhere",
                                clipped(m_drawing.nodes[static_cast<std::size_t>(body.exit.node)].id),
                                clipped(m_drawing.nodes[i].id)));
      body.exit.node = static_cast<std::ptrdiff_t>(i);
    }
  }

  void checkPins() {
    for (const std::size_t i : m_plan.inputs) {
      const std::string& id = m_drawing.nodes[i].id;
      if (m_plan.bodyOf[i] != 0)
        report(m_plan.problems, id, "group", fmt::format("{}: an Input stands in no group that repeats", clipped(id)));
      if (!m_plan.incoming[i].empty())
        report(m_plan.unitProblems, id, "", fmt::format("{}: Input takes no wire", clipped(id)));
    }
    for (const std::size_t i : m_plan.outputs) {
      const std::string& id = m_drawing.nodes[i].id;
      if (m_plan.bodyOf[i] != 0)
        report(m_plan.problems, id, "group", fmt::format("{}: an Output stands in no group that repeats", clipped(id)));
      if (m_plan.incoming[i].empty())
        report(m_plan.unitProblems, id, "", fmt::format("{}: nothing is wired to it", clipped(id)));
      if (m_plan.incoming[i].size() > 1)
        report(m_plan.unitProblems, id, "",
               fmt::format("{}: takes one wire, but {} lead to it", clipped(id), m_plan.incoming[i].size()));
    }
  }

  const Network& m_drawing;
  DrawingPlan m_plan;
  bool m_isCircular = false;
  std::vector<std::size_t> m_pending;
};

}  // namespace

bool isInputPin(const Node& node) {
  return node.unit.empty() && roleOf(node.layer) == LayerRole::input &&
         node.values.value("source", Json("dataset")) == "dataset";
}

bool isOutputPin(const Node& node) {
  return node.unit.empty() && roleOf(node.layer) == LayerRole::output;
}

bool DrawingPlan::isWithin(std::size_t body, std::size_t outer) const {
  while (body != outer && body != 0) body = bodies[body].parent;
  return body == outer;
}

std::ptrdiff_t DrawingPlan::pin(const std::vector<std::size_t>& pins, std::string_view id) const {
  for (std::size_t i = 0; i < pins.size(); ++i)
    if (drawing->nodes[pins[i]].id == id) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

std::ptrdiff_t DrawingPlan::edgeTo(std::size_t node, std::string_view port) const {
  for (const std::size_t e : incoming[node])
    if (drawing->edges[e].to.port == port) return static_cast<std::ptrdiff_t>(e);
  return -1;
}

DrawingPlan planOf(const Network& drawing) {
  return DrawingPlanner(drawing).run();
}

}  // namespace loom
