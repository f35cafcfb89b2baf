#include "engine/network/flattener.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/catalogue/text.h"
#include "engine/network/graph.h"

namespace loom {
namespace {

constexpr std::size_t kDeepestUnits = 64;

bool hasExpression(const Json& values) {
  for (const auto& [key, value] : values.items())
    if (isExpression(value) || (value.is_array() && std::any_of(value.begin(), value.end(), isExpression))) return true;
  return false;
}

}  // namespace

Flattener::Flattener(const Project& project, const Network& drawing) : m_project(project) {
  m_flat.network.name = drawing.name;
  Use root;
  root.plan = &plan(drawing);
  addUse({.drawing = &drawing}, std::move(root));
}

FlatNetwork Flattener::run() {
  const Network& drawing = *m_flat.uses[0].drawing;
  if (m_project.unit(drawing.name) == &drawing) m_inside.push_back(&drawing);
  m_flat.network.nodes.reserve(drawing.nodes.size());
  findArguments(0, {});
  expandBody(0);
  wire();
  unrollLoops();
  if (!m_pending.empty()) findShapes();
  for (DrawingUse& use : m_flat.uses) {
    const std::vector<ArgumentValue>& arguments = m_uses[static_cast<std::size_t>(&use - m_flat.uses.data())].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].state == State::known) use.arguments[use.drawing->arguments[i].name] = arguments[i].value;
  }
  collectProblems();
  return std::move(m_flat);
}

const DrawingPlan& Flattener::plan(const Network& drawing) {
  std::unique_ptr<DrawingPlan>& made = m_plans[&drawing];
  if (!made) {
    made = std::make_unique<DrawingPlan>(planOf(drawing));
    checkWires(*made);
  }
  return *made;
}

// Wires that end or begin at a unit's pins: the flat network has none of these.
void Flattener::checkWires(const DrawingPlan& plan) {
  const Network& drawing = *plan.drawing;
  const auto report = [&](const std::string& node, std::size_t e, std::string message) {
    const Edge& edge = drawing.edges[e];
    m_flat.problems.push_back({.network = drawing.name,
                               .node = node,
                               .edge = edge,
                               .message = std::move(message),
                               .remedy = {.kind = Remedy::Kind::removeEdge, .label = "Remove the wire", .edge = edge}});
  };
  const auto pins = [&](const Network& unit, bool inputs) {
    std::vector<std::string> ids;
    for (const Node& node : unit.nodes)
      if (inputs ? isInputPin(node) : isOutputPin(node)) ids.push_back(node.id);
    return ids;
  };
  const auto unknownPin = [&](const Node& node, const Network& unit, bool isInput, const std::string& port) {
    const std::vector<std::string> known = pins(unit, isInput);
    const std::string near = nearest(port, known);
    return fmt::format("{}: the unit {} has no {} '{}'{}", clipped(node.id), clipped(unit.name),
                       isInput ? "Input" : "Output", clipped(port),
                       !near.empty()   ? fmt::format(": did you mean '{}'?", near)
                       : known.empty() ? std::string("; it has none at all")
                                       : fmt::format("; it has {}", fmt::join(known, ", ")));
  };
  for (std::size_t e = 0; e < plan.wires.size(); ++e) {
    const Edge& edge = drawing.edges[e];
    const DrawingPlan::Wire& wire = plan.wires[e];
    const Node* const from = wire.from < 0 ? nullptr : &drawing.nodes[static_cast<std::size_t>(wire.from)];
    const Node* const to = wire.to < 0 ? nullptr : &drawing.nodes[static_cast<std::size_t>(wire.to)];
    const Network* const source = from && !from->unit.empty() ? m_project.unit(from->unit) : nullptr;
    const Network* const target = to && !to->unit.empty() ? m_project.unit(to->unit) : nullptr;
    if (source) {
      const std::vector<std::string> outputs = pins(*source, false);
      if (std::find(outputs.begin(), outputs.end(), edge.from.port) == outputs.end())
        report(from->id, e, unknownPin(*from, *source, false, edge.from.port));
    }
    if (!from && to && (!to->unit.empty() || isOutputPin(*to)))
      report(to->id, e,
             fmt::format("the wire from '{}' to '{}' begins at '{}', but there is no such node",
                         clipped(edge.from.node), clipped(edge.to.node), clipped(edge.from.node)));
    if (from && !to && !from->unit.empty())
      report(from->id, e,
             fmt::format("the wire from '{}' to '{}' ends at '{}', but there is no such node", clipped(edge.from.node),
                         clipped(edge.to.node), clipped(edge.to.node)));
    if (!target) continue;
    const std::vector<std::string> inputs = pins(*target, true);
    if (std::find(inputs.begin(), inputs.end(), edge.to.port) == inputs.end())
      report(to->id, e, unknownPin(*to, *target, true, edge.to.port));
    else if (plan.edgeTo(static_cast<std::size_t>(wire.to), edge.to.port) != static_cast<std::ptrdiff_t>(e))
      report(to->id, e,
             fmt::format("{}: {} takes one wire, but several lead to it", clipped(to->id), clipped(edge.to.port)));
  }
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    const Node& node = drawing.nodes[i];
    const Network* const unit = node.unit.empty() ? nullptr : m_project.unit(node.unit);
    if (!unit) continue;
    for (const std::string& pin : pins(*unit, true))
      if (plan.edgeTo(i, pin) < 0)
        m_flat.problems.push_back({.network = drawing.name,
                                   .node = node.id,
                                   .message = fmt::format("{}: nothing is wired to {}, an Input of the unit {}",
                                                          clipped(node.id), clipped(pin), clipped(unit->name))});
  }
}

void Flattener::addUse(DrawingUse use, Use own) {
  own.nodes.resize(own.plan->bodies[own.body].nodeCount);
  own.root = use.group >= 0 ? m_uses[use.parent].root : m_uses.size();
  m_flat.uses.push_back(std::move(use));
  m_uses.push_back(std::move(own));
}

std::string Flattener::pathOf(std::size_t use, const std::string& id) const {
  const std::string& path = m_flat.uses[use].path;
  return path.empty() ? id : path + "/" + id;
}

void Flattener::expandBody(std::size_t use) {
  const DrawingPlan& plan = *m_uses[use].plan;
  const Body& body = plan.bodies[m_uses[use].body];
  for (const Body::Item& item : body.items) {
    if (item.isBody) {
      const Slot slot = expandGroup(use, item.index);
      m_uses[use].bodies[item.index] = slot;
      continue;
    }
    const Node& node = plan.drawing->nodes[item.index];
    if (!node.unit.empty()) {
      const Slot slot = expandUnit(use, item.index);
      m_uses[use].nodes[plan.placeIn[item.index]] = slot;
    } else if (m_uses[use].root == 0 || !(isInputPin(node) || isOutputPin(node))) {
      addNode(use, item.index);
    }
  }
}

void Flattener::addNode(std::size_t use, std::size_t index) {
  const DrawingPlan& plan = *m_uses[use].plan;
  const std::size_t flat = m_flat.network.nodes.size();
  m_uses[use].nodes[plan.placeIn[index]] = {static_cast<std::ptrdiff_t>(flat), static_cast<std::ptrdiff_t>(flat)};
  m_flat.origins.push_back({plan.drawing, index, use});
  Node& node = m_flat.network.nodes.emplace_back(plan.drawing->nodes[index]);
  node.shares = sharedPath(use, node);
  node.id = pathOf(use, node.id);
  node.group.clear();
  if (hasExpression(node.values))
    for (auto field = node.values.begin(); field != node.values.end(); ++field)
      findValue(flat, field.key(), field.value());
  // A unit by itself: its Inputs bring what a use would, of a shape that nobody knows where their field names none.
  if (use == 0 && !m_inside.empty() && isInputPin(node) && !node.values.contains("shape"))
    node.values["shape"] = "=shape";
}

// Whose parameters a node of this use has: those of a node of the same drawing, or of a path from the top of a network.
// In a unit that shares another's, what its nodes have stands there.
std::string Flattener::sharedPath(std::size_t use, const Node& node) const {
  const std::string& own = m_flat.uses[use].path;
  const auto below = [](const std::string& path, const std::string& id) { return path.empty() ? id : path + "/" + id; };
  if (node.shares.empty()) return m_uses[use].scope == own ? std::string() : below(m_uses[use].scope, node.id);
  const std::string head = node.shares.substr(0, node.shares.find('/'));
  const DrawingPlan& plan = *m_uses[use].plan;
  if (const auto found = plan.byId.find(head); found != plan.byId.end()) {
    // Of the nearest use around both: the repeat in which the node stands, or the drawing.
    std::size_t at = use;
    while (m_uses[at].body != 0 && !plan.isWithin(plan.bodyOf[found->second], m_uses[at].body))
      at = m_flat.uses[at].parent;
    return below(m_uses[at].scope, node.shares);
  }
  if (plan.drawing->group(head)) return below(m_uses[m_uses[use].root].scope, node.shares);
  return node.shares;
}

bool Flattener::isFull(std::size_t use, const std::string& node) {
  if (m_flat.network.nodes.size() + m_flat.uses.size() <= kMostFlatNodes) return false;
  if (!std::exchange(m_isFull, true))
    tell(use, node, node.empty() ? "groups" : "repeat",
         fmt::format("{}: with all repeats written out the network has more than {} nodes: repeat less",
                     clipped(node.empty() ? m_flat.network.name : node), kMostFlatNodes));
  return true;
}

std::optional<std::int64_t> Flattener::repeats(std::size_t use, const Json& given, const std::string& what,
                                               const Place& place, const std::string& node) {
  if (!isRepeated(given)) return 1;
  Json count = given;
  const auto wrong = [&](std::string message) {
    tell(use, node, node.empty() ? "groups" : "repeat", fmt::format("{}: {}", what, message));
    return std::nullopt;
  };
  if (isExpression(given)) {
    Fault fault;
    const Found found = evaluate(given.get_ref<const std::string&>(), place, fault);
    const std::string text = fmt::format("'repeat' is {}", shown(given));
    if (found.state == State::needsShapes)
      return wrong(text + ", but shapes are known only when the repeats are: use an argument or a number");
    if (found.state == State::failed)
      return fault.message.empty()
                 ? std::nullopt
                 : wrong(fmt::format("{}{}: {}", text,
                                     fault.position ? fmt::format(", character {}", *fault.position + 1) : "",
                                     fault.message));
    count = found.value;
  }
  const std::optional<std::int64_t> whole = count.is_number() ? wholeNumber(count.get<double>()) : std::nullopt;
  if (!whole || *whole < 0 || *whole > kMostRepeats)
    return wrong(
        fmt::format("'repeat' is {}{}, but a whole number from 0 to {}, or an expression such as \"=depth\", is wanted",
                    shown(given), count == given ? "" : ", which is " + shown(count), kMostRepeats));
  return whole;
}

Flattener::Slot Flattener::expandUnit(std::size_t use, std::size_t index) {
  const Node& node = m_uses[use].plan->drawing->nodes[index];
  const Network* const unit = m_project.unit(node.unit);
  if (!unit) {
    std::vector<std::string> names;
    for (const Network& each : m_project.units) names.push_back(each.name);
    const std::string near = nearest(node.unit, names);
    tell(use, node.id, "unit",
         fmt::format("{}: there is no unit '{}'{}", clipped(node.id), clipped(node.unit),
                     !near.empty()   ? fmt::format(": did you mean '{}'?", near)
                     : names.empty() ? std::string(": the project has none")
                                     : fmt::format("; there are {}", fmt::join(names, ", "))));
    return {};
  }
  if (const auto around = std::find(m_inside.begin(), m_inside.end(), unit); around != m_inside.end()) {
    std::string way;
    for (auto each = around; each != m_inside.end(); ++each) way += (*each)->name + " → ";
    tell(use, node.id, "unit",
         fmt::format("{}: the unit {} uses itself: {}{}", clipped(node.id), clipped(unit->name), way, unit->name));
    return {};
  }
  if (m_inside.size() >= kDeepestUnits) {
    tell(use, node.id, "unit",
         fmt::format("{}: units stand deeper in one another than {}", clipped(node.id), kDeepestUnits));
    return {};
  }
  const Place place{use, static_cast<std::ptrdiff_t>(index)};
  const std::optional<std::int64_t> count = repeats(use, node.repeat, clipped(node.id), place, node.id);
  checkArguments(use, node, *unit);
  const DrawingPlan& inside = plan(*unit);
  if (m_usedUnits.insert(unit).second)
    m_flat.problems.insert(m_flat.problems.end(), inside.unitProblems.begin(), inside.unitProblems.end());
  if (count == 0 && inside.outputs.size() > inside.inputs.size())
    tell(use, node.id, "repeat",
         fmt::format("{}: is repeated 0 times, so that its inputs go by, but the unit {} has more Outputs than Inputs",
                     clipped(node.id), clipped(unit->name)));
  Slot slot;
  m_inside.push_back(unit);
  const std::string shared = sharedPath(use, node);
  for (std::int64_t k = 0; k < count.value_or(1) && !isFull(use, node.id); ++k) {
    const std::size_t made = m_uses.size();
    const std::string number = count.value_or(1) > 1 ? "/" + std::to_string(k) : std::string();
    Use own;
    own.plan = &inside;
    own.previous = slot.last;
    const std::string path = pathOf(use, node.id) + number;
    own.scope = shared.empty() ? path : shared + number;
    addUse({.drawing = unit,
            .parent = use,
            .node = static_cast<std::ptrdiff_t>(index),
            .repeat = k,
            .repeats = count.value_or(1),
            .path = path},
           std::move(own));
    findArguments(made, {use, static_cast<std::ptrdiff_t>(index), static_cast<std::ptrdiff_t>(made),
                         isRepeated(node.repeat) ? k : -1});
    expandBody(made);
    if (slot.first < 0) slot.first = static_cast<std::ptrdiff_t>(made);
    slot.last = static_cast<std::ptrdiff_t>(made);
  }
  m_inside.pop_back();
  return slot;
}

Flattener::Slot Flattener::expandGroup(std::size_t use, std::size_t index) {
  const DrawingPlan& plan = *m_uses[use].plan;
  const Group& group = plan.drawing->groups[static_cast<std::size_t>(plan.bodies[index].group)];
  const std::optional<std::int64_t> count =
      repeats(use, group.repeat, fmt::format("the group '{}'", clipped(group.id)), {use, -1}, std::string());
  Slot slot;
  for (std::int64_t k = 0; k < count.value_or(1) && !isFull(use, std::string()); ++k) {
    const std::size_t made = m_uses.size();
    const std::string below = count.value_or(1) > 1 ? fmt::format("{}/{}", group.id, k) : std::string();
    Use own;
    own.plan = &plan;
    own.body = index;
    own.previous = slot.last;
    const auto under = [&](const std::string& path) {
      return below.empty() ? path : path.empty() ? below : path + "/" + below;
    };
    own.scope = under(m_uses[use].scope);
    addUse({.drawing = plan.drawing,
            .parent = use,
            .group = plan.bodies[index].group,
            .repeat = k,
            .repeats = count.value_or(1),
            .path = under(m_flat.uses[use].path)},
           std::move(own));
    expandBody(made);
    if (slot.first < 0) slot.first = static_cast<std::ptrdiff_t>(made);
    slot.last = static_cast<std::ptrdiff_t>(made);
  }
  return slot;
}

void Flattener::tell(std::size_t use, const std::string& node, const std::string& field, std::string message,
                     Remedy remedy) {
  m_told.push_back({{.network = m_flat.uses[use].drawing->name,
                     .node = node,
                     .field = field,
                     .message = std::move(message),
                     .remedy = std::move(remedy)},
                    use});
}

void Flattener::collectProblems() {
  for (const auto& [drawing, plan] : m_plans)
    m_flat.problems.insert(m_flat.problems.end(), plan->problems.begin(), plan->problems.end());
  std::vector<std::pair<Problem, std::size_t>> told;
  for (Told& each : m_told) told.emplace_back(std::move(each.problem), each.use);
  for (Problem& problem : gathered(m_flat, std::move(told))) m_flat.problems.push_back(std::move(problem));
}

bool isFlat(const Network& drawing) {
  return drawing.groups.empty() && std::none_of(drawing.nodes.begin(), drawing.nodes.end(), [](const Node& node) {
           return !node.unit.empty() || !node.group.empty() || isLoopLayer(node.layer) || hasExpression(node.values) ||
                  node.id.find('/') != std::string::npos;
         });
}

FlatNetwork flatten(const Project& project, const Network& drawing) {
  const bool isUnit = project.unit(drawing.name) == &drawing;
  if (isUnit || !isFlat(drawing)) return Flattener(project, drawing).run();
  FlatNetwork flat;
  flat.network.name = drawing.name;
  flat.network.nodes = drawing.nodes;
  flat.network.edges = drawing.edges;
  flat.origins.reserve(drawing.nodes.size());
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) flat.origins.push_back({&drawing, i, 0});
  for (std::size_t e = 0; e < drawing.edges.size(); ++e) flat.edges.push_back(e);
  flat.uses.push_back({.drawing = &drawing});
  return flat;
}

FlatNetwork flatten(const Project& project, std::string_view name) {
  const Network* const drawing = project.drawing(name);
  if (!drawing) throwError(ErrorCode::badProject, "the project has no network '{}'", name);
  return flatten(project, *drawing);
}

Network flatNetwork(const Project& project, std::string_view name) {
  FlatNetwork flat = flatten(project, name);
  for (const Problem& problem : flat.problems)
    if (problem.severity == Severity::error)
      throw Error(ErrorCode::badProject, problem.message).addContext(fmt::format("network '{}'", name));
  return std::move(flat.network);
}

const Network* FlatNetworks::find(const std::string& network) const {
  if (!m_project.network(network)) return nullptr;
  std::unique_ptr<const Network>& made = m_made[network];
  if (!made) made = std::make_unique<const Network>(flatNetwork(m_project, network));
  return made.get();
}

std::ptrdiff_t FlatNetwork::first(std::string_view drawing, std::string_view node) const {
  for (std::size_t i = 0; i < origins.size(); ++i)
    if (origins[i].drawing && origins[i].drawing->name == drawing && origins[i]->id == node)
      return static_cast<std::ptrdiff_t>(i);
  return -1;
}

}  // namespace loom
