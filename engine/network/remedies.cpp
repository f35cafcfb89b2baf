#include "engine/network/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "engine/base/error.h"
#include "engine/catalogue/text.h"

namespace loom {
namespace {

constexpr std::size_t kFarthest = 24;  // layers between the fault and the field that is tried

// From a layer with a field to try down to the wire that disagrees: each has one input, so that shapes can be run
// again.
struct Path {
  std::vector<std::size_t> nodes;  // the first is the one that is changed
};

bool isChain(const GraphNode& node) {
  return node.layer && node.inputs.size() == 1 && node.inputs[0].size() == 1;
}

// The output's shape when the first node of the path had this value; empty rank-0 and false when a rule says no.
bool tryValue(const Graph& graph, const std::vector<NodeFacts>& facts, const Path& path, const std::string& key,
              const Json& value, Shape& shape) {
  shape = facts[path.nodes.front()].inputs[0];
  for (std::size_t k = 0; k < path.nodes.size(); ++k) {
    const GraphNode& node = graph.nodes()[path.nodes[k]];
    Json changed = node.node->values;
    if (k == 0) changed[key] = value;
    if (k == 0 && !validate(node.layer->entry, changed).empty()) return false;
    try {
      shape = node.layer->shapes({node.node->id, Values(node.layer->entry, changed), {&shape, 1}})[0];
    } catch (const Error&) {
      return false;
    }
  }
  return true;
}

// Values of a field that may turn `is` into `wanted`.
std::vector<Json> candidates(const Field& field, const Values& values, const Shape& is, const Shape& wanted) {
  if (field.key == "channels" || field.key == "outputs") return {Json(wanted[field.key == "outputs" ? -1 : 0])};
  if (field.key == "units") return {Json(wanted[-1])};
  if (field.key == "padding") return {Json("same"), Json("valid")};
  if (field.key == "stride" && is.rank() > 1 && wanted.rank() > 1 && values.has("stride")) {
    const std::int64_t now = values.integers("stride")[0],
                       ratio =
                           std::max<std::int64_t>(1, (is[-1] + wanted[-1] / 2) / std::max<std::int64_t>(wanted[-1], 1));
    std::vector<Json> all{Json(now * ratio)};
    if (wanted[-1] > is[-1]) all.push_back(Json(std::max<std::int64_t>(1, now * is[-1] / wanted[-1])));
    all.push_back(Json(1));
    all.push_back(Json(2));
    return all;
  }
  return {};
}

// The shape of an Input follows the data, but that of a label or of noise is free.
Remedy reshapeInput(const GraphNode& node, const Shape& wanted, const std::function<bool(const Shape&)>& accept) {
  if (!node.layer || node.layer->role != LayerRole::input) return {};
  const Values values(node.layer->entry, node.node->values);
  if (values.text("type") == "values" && values.text("source") == "dataset") return {};
  for (const Shape& shape : {wanted, Shape{1}, wanted.rank() > 1 ? Shape{wanted[0]} : Shape{1}})
    if (accept(shape))
      return {.kind = Remedy::Kind::setField,
              .label = fmt::format("Set shape of {} to {}", clipped(node.node->id), shape.toString()),
              .node = node.node->id,
              .field = "shape",
              .value = Json(shape.extents())};
  return {};
}

Remedy connect(const Graph& graph, std::size_t from, std::size_t to, std::size_t port) {
  const GraphNode &source = graph.nodes()[from], &target = graph.nodes()[to];
  const std::string& key = target.layer->entry.inputs[port].key;
  const Edge edge{{source.node->id, source.layer->entry.outputs[0].key}, {target.node->id, key}};
  return {.kind = Remedy::Kind::addEdge,
          .label = fmt::format("Wire {} to {}", clipped(source.node->id), endpointText(edge.to, target.layer, true)),
          .edge = edge};
}

}  // namespace

// Walks up from the wire and tries the fields of each layer until one helps.
Remedy findRemedyFor(const Graph& graph, const std::vector<NodeFacts>& facts, const GraphSource& source,
                     const Shape& wanted, const std::function<bool(const Shape&)>& accept) {
  if (const Remedy remedy = reshapeInput(graph.nodes()[source.node], wanted, accept); remedy.kind != Remedy::Kind::none)
    return remedy;
  Path path;
  std::size_t at = source.node;
  while (path.nodes.size() < kFarthest && isChain(graph.nodes()[at]) && facts[at].known) {
    path.nodes.insert(path.nodes.begin(), at);
    const GraphNode& node = graph.nodes()[at];
    for (const Field& field : node.layer->entry.fields) {
      const Values values(node.layer->entry, node.node->values);
      for (const Json& value : candidates(field, values, facts[source.node].outputs[source.port], wanted)) {
        if (value == values.json(field.key)) continue;
        Shape shape;
        if (!tryValue(graph, facts, path, field.key, value, shape) || !accept(shape)) continue;
        return {.kind = Remedy::Kind::setField,
                .label = fmt::format("Set {} of {} to {}", field.key, clipped(node.node->id),
                                     value.is_string() ? value.get<std::string>() : shown(value)),
                .node = node.node->id,
                .field = field.key,
                .value = value};
      }
    }
    at = node.inputs[0][0].node;
  }
  return {};
}

Remedy findUpstreamRemedy(const Graph& graph, const std::vector<NodeFacts>& facts, std::size_t node) {
  // Inputs that must agree: one is made like another. Later wires are tried first: the shortcut is drawn after the main
  // path.
  std::vector<GraphSource> wires;
  for (const auto& port : graph.nodes()[node].inputs) wires.insert(wires.end(), port.begin(), port.end());
  const auto shapeOf = [&](const GraphSource& wire) -> const Shape& { return facts[wire.node].outputs[wire.port]; };
  if (wires.size() < 2) return {};
  for (std::size_t changed = wires.size(); changed-- > 0;) {
    const Shape& wanted = shapeOf(wires[changed == 0 ? 1 : 0]);
    if (wanted.rank() == 0) continue;
    // The node's own rule says whether its inputs then agree: Concatenate, say, lets one axis differ.
    const GraphNode& asking = graph.nodes()[node];
    const auto accept = [&](const Shape& shape) {
      std::vector<Shape> inputs;
      for (std::size_t i = 0; i < wires.size(); ++i) inputs.push_back(i == changed ? shape : shapeOf(wires[i]));
      try {
        return !asking.layer->shapes({asking.node->id, Values(asking.layer->entry, asking.node->values), inputs})
                    .empty();
      } catch (const Error&) {
        return false;
      }
    };
    const Remedy remedy = findRemedyFor(graph, facts, wires[changed], wanted, accept);
    if (remedy.kind != Remedy::Kind::none) return remedy;
  }
  return {};
}

namespace {

// The first of "y", "y2", "y3" that no node is called.
std::string freeName(const Network& network, const std::string& stem) {
  std::string name = stem;
  for (int number = 2; network.find(name) != nullptr; ++number) name = stem + std::to_string(number);
  return name;
}

Node targetInput(const std::string& id, const Shape& shape, bool labels) {
  Node node{.id = id, .layer = "Input", .values = {{"shape", shape.extents()}}};
  if (labels) node.values["type"] = "label";
  return node;
}

// The first shape of a target with which the rule of a loss or metric goes together.
std::optional<Shape> targetShape(const Graph& graph, const std::vector<NodeFacts>& facts, std::size_t at, bool labels) {
  const GraphNode& node = graph.nodes()[at];
  std::vector<Shape> tried{Shape{1}};
  std::optional<Shape> given;
  if (!node.inputs[0].empty())
    if (const GraphSource& source = node.inputs[0][0]; facts[source.node].known)
      given = facts[source.node].outputs[source.port];
  if (!given) return labels ? std::optional(Shape{1}) : std::nullopt;  // nothing to go by yet: labels mostly are single
  tried.push_back(*given);
  if (given->rank() > 1) {
    const std::vector<std::int64_t> extents = given->extents();
    tried.emplace_back(std::vector<std::int64_t>(extents.begin(), extents.end() - 1));
    tried.emplace_back(std::vector<std::int64_t>(extents.begin() + 1, extents.end()));
  }
  if (!labels) std::swap(tried[0], tried[1]);
  for (const Shape& shape : tried) {
    const Shape inputs[] = {*given, shape};
    try {
      node.layer->shapes({node.node->id, Values(node.layer->entry, node.node->values), inputs});
      return shape;
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

// An Input for the target of a loss or metric: the first shape with which its rule goes together.
Remedy addTarget(const Graph& graph, const std::vector<NodeFacts>& facts, std::size_t at, std::size_t port) {
  const GraphNode& node = graph.nodes()[at];
  if (!isResult(node.layer->role) || port == 0) return {};
  const bool labels = node.layer->entry.inputs[port].type != PortType::values;
  const std::optional<Shape> shape = targetShape(graph, facts, at, labels);
  if (!shape) return {};
  const std::string id = freeName(graph.network(), labels ? "y" : "target");
  return {.kind = Remedy::Kind::addNodes,
          .label = labels ? "Add label Input" : "Add target Input",
          .nodes = {targetInput(id, *shape, labels)},
          .edges = {{{id, "output"}, {node.node->id, node.layer->entry.inputs[port].key}}}};
}

std::ptrdiff_t findSource(const Graph& graph, std::size_t node, std::size_t port) {
  const bool wantsValues = graph.nodes()[node].layer->entry.inputs[port].type == PortType::values;
  std::ptrdiff_t found = -1;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const GraphNode& from = graph.nodes()[i];
    // Values: the end of a chain that was drawn before. Labels: an Input of that type, which may be used several times.
    if (i == node || !from.layer || from.layer->entry.outputs.empty() || isResult(from.layer->role)) continue;
    if ((outputType(from, 0) == PortType::values) != wantsValues ||
        (wantsValues && (!from.consumers.empty() || i > node)))
      continue;
    if (found >= 0) return -1;
    found = static_cast<std::ptrdiff_t>(i);
  }
  if (found < 0) return -1;
  // The node's own results must not come back to it.
  std::vector<std::size_t> ahead{node};
  std::vector<char> seen(graph.nodes().size(), 0);
  while (!ahead.empty()) {
    const std::size_t at = ahead.back();
    ahead.pop_back();
    if (at == static_cast<std::size_t>(found)) return -1;
    if (std::exchange(seen[at], 1)) continue;
    ahead.insert(ahead.end(), graph.nodes()[at].consumers.begin(), graph.nodes()[at].consumers.end());
  }
  return found;
}

}  // namespace

Remedy findWire(const Graph& graph, const std::vector<NodeFacts>& facts, std::size_t node, std::size_t port) {
  const std::ptrdiff_t from = findSource(graph, node, port);
  return from < 0 ? addTarget(graph, facts, node, port) : connect(graph, static_cast<std::size_t>(from), node, port);
}

Remedy addLoss(const Network& network, const Analysis& analysis) {
  if (network.nodes.empty())
    return {.kind = Remedy::Kind::addNodes,
            .label = "Begin with a small classifier",
            .nodes = {{.id = "x", .layer = "Input", .values = {{"shape", {1, 28, 28}}}},
                      {.id = "fc", .layer = "Linear", .values = {{"outputs", 10}}},
                      targetInput("y", Shape{1}, true),
                      {.id = "loss", .layer = "SoftmaxCrossEntropy"}},
            .edges = {{{"x", "output"}, {"fc", "input"}},
                      {{"fc", "output"}, {"loss", "input"}},
                      {{"y", "output"}, {"loss", "target"}}}};
  if (!analysis.sound()) return {};
  std::vector<const Node*> ends;
  for (const Node& node : network.nodes) {
    const bool read = std::any_of(network.edges.begin(), network.edges.end(),
                                  [&](const Edge& edge) { return edge.from.node == node.id; });
    if (roleOf(node.layer) != LayerRole::input && !read) ends.push_back(&node);
  }
  if (ends.size() != 1) return {};
  const Shape& shape = analysis.nodes.at(ends[0]->id).outputs[0];
  // Scores of several classes want labels; a single number is compared with a number.
  const bool classes = shape.rank() == 1 && shape[0] > 1;
  const std::string id = freeName(network, "loss"), target = freeName(network, classes ? "y" : "target");
  const LayerDefinition* from = findLayer(ends[0]->layer);
  return {.kind = Remedy::Kind::addNodes,
          .label = classes ? "Add SoftmaxCrossEntropy" : "Add MeanSquaredError",
          .nodes = {{.id = id, .layer = classes ? "SoftmaxCrossEntropy" : "MeanSquaredError"},
                    targetInput(target, classes ? Shape{1} : shape, classes)},
          .edges = {{{ends[0]->id, from->entry.outputs[0].key}, {id, "input"}}, {{target, "output"}, {id, "target"}}}};
}

void warnAboutHabits(const Graph& graph, std::size_t index, const std::string& network,
                     std::vector<Problem>& problems) {
  const GraphNode& node = graph.nodes()[index];
  const std::string& id = node.layer->entry.id;
  if ((id != "SoftmaxCrossEntropy" && id != "BinaryCrossEntropy") || node.inputs[0].empty()) return;
  const GraphNode& before = graph.nodes()[node.inputs[0][0].node];
  if (!before.layer) return;
  Problem problem{.severity = Severity::warning, .network = network, .node = node.node->id};
  if (id == "SoftmaxCrossEntropy" && before.layer->entry.id == "Softmax") {
    problem.message = fmt::format(
        "{}: contains a softmax already, and {} before it is a second one: training will be slow; wire what comes "
        "before {} instead",
        clipped(node.node->id), clipped(before.node->id), clipped(before.node->id));
    problem.edge = graph.network().edges[node.inputs[0][0].edge];
    problems.push_back(std::move(problem));
  } else if (id == "BinaryCrossEntropy" && before.layer->entry.id == "Sigmoid" &&
             Values(node.layer->entry, node.node->values).text("from") == "logits") {
    problem.field = "from";
    problem.message = fmt::format("{}: takes logits and contains a sigmoid, but {} before it is one already",
                                  clipped(node.node->id), clipped(before.node->id));
    problem.remedy = {.kind = Remedy::Kind::setField,
                      .label = "Set from to probabilities",
                      .field = "from",
                      .value = "probabilities"};
    problems.push_back(std::move(problem));
  }
}

}  // namespace loom
