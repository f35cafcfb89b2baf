#include "engine/exchange/onnx/drawing.h"

#include <algorithm>
#include <cctype>

#include "engine/base/error.h"
#include "engine/layers/entry_parts.h"

namespace loom::onnx_file {

std::string idFrom(const std::string& name, const std::string& op) {
  std::vector<std::string> parts;
  std::string part;
  for (const char letter : name + "/") {
    if (letter != '/') {
      part += letter;
      continue;
    }
    if (!part.empty()) parts.push_back(part);
    part.clear();
  }
  // Exporters end the path with the operator, numbered where it comes again.
  if (parts.size() > 1 && parts.back().starts_with(op)) parts.pop_back();
  std::string id = parts.empty() ? op : parts.back();
  if (id.starts_with("node_")) id = id.substr(5);
  std::string clean;
  for (const char letter : id.substr(0, 60)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) && static_cast<unsigned char>(letter) < 128)
      clean += letter;
    else if (!clean.empty() && clean.back() != '_')
      clean += '_';
  }
  while (!clean.empty() && clean.back() == '_') clean.pop_back();
  if (clean.empty()) clean = "node";
  return std::isalpha(static_cast<unsigned char>(clean[0])) ? clean : "n" + clean;
}

std::string Drawing::freeId(const std::string& wish) {
  if (!m_layers.count(wish)) return wish;
  for (int& number = m_numbers[wish];;)
    if (std::string id = fmt::format("{}_{}", wish, ++number + 1); !m_layers.count(id)) return id;
}

namespace {

bool looksUp(const std::string& layer) {
  return layer == "Embedding" || layer == "OneHot";
}

}  // namespace

void Drawing::makeIndices(const Endpoint& input) {
  for (const Edge& edge : m_network.edges)
    if (edge.from == input && !looksUp(m_network.nodes[m_places.at(edge.to.node)].layer))
      throwError(ErrorCode::badProject, "its indices are numbers that '{}' calculates with: give them as two inputs",
                 edge.to.node);
  m_indices.insert(input.node);
  node(input.node).values["type"] = "index";
}

std::string Drawing::add(const std::string& layer, const std::string& wish, Json values,
                         const std::vector<Endpoint>& inputs) {
  const LayerDefinition* definition = findLayer(layer);
  if (!definition) throwError(ErrorCode::badProject, "there is no layer {} here", layer);
  const Entry& entry = definition->entry;
  values = withoutDefaults(entry, values);
  for (const FieldProblem& problem : validate(entry, values))
    if (problem.severity == FieldProblem::Severity::error) throw Error(ErrorCode::badProject, problem.message);
  // Two wires from one place to one port would be one: the second comes by way of an Identity.
  if (inputs.size() > entry.inputs.size())
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]) !=
          inputs.begin() + static_cast<std::ptrdiff_t>(i)) {
        std::vector<Endpoint> apart = inputs;
        apart[i] = output(add("Identity", wish + "_again", Json::object(), {inputs[i]}));
        return add(layer, wish, std::move(values), apart);
      }
  for (const Endpoint& input : inputs)
    if (isIndex(input.node) && !looksUp(entry.id))
      throwError(ErrorCode::badProject,
                 "it calculates with '{}', whose numbers are indices elsewhere: give them as two inputs", input.node);
  std::vector<Shape> shapes;
  for (const Endpoint& input : inputs)
    if (!input.node.empty()) shapes.push_back(m_shapes.at(input));
  const std::vector<Shape> outputs = definition->shapes({wish, Values(entry, values), shapes});
  const std::string id = freeId(wish);
  for (std::size_t i = 0; i < outputs.size() && i < entry.outputs.size(); ++i) {
    (void)outputs[i].elements();
    m_shapes[{id, entry.outputs[i].key}] = outputs[i];
  }
  m_layers[id] = definition;
  m_places[id] = m_network.nodes.size();
  m_network.nodes.push_back({.id = id, .layer = entry.id, .values = std::move(values)});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t port = std::min(i, entry.inputs.size() - 1);
    if (inputs[i].node.empty()) continue;
    m_network.edges.push_back({inputs[i], {id, entry.inputs[port].key}});
    ++m_readers[inputs[i].node];
  }
  return id;
}

void Drawing::wire(const Endpoint& from, const Endpoint& to) {
  m_network.edges.push_back({from, to});
  ++m_readers[from.node];
}

Endpoint Drawing::output(const std::string& node, std::size_t port) const {
  return {node, m_layers.at(node)->entry.outputs.at(port).key};
}

void Drawing::weight(const std::string& node, const std::string& name, Shape shape, std::vector<float> values) {
  if (static_cast<std::int64_t>(values.size()) != shape.elements())
    throwError(ErrorCode::internal, "{}/{} has {} values for {}", node, name, values.size(), shape.toString());
  m_weightPlaces[node + "/" + name] = m_weights.size();
  m_weights.push_back({node + "/" + name, std::move(shape), std::move(values)});
}

ImportedWeight* Drawing::findWeight(const std::string& name) {
  const auto found = m_weightPlaces.find(name);
  return found == m_weightPlaces.end() ? nullptr : &m_weights[found->second];
}

Endpoint Drawing::draw(const View& view, const std::string& wish) {
  const DrawingSteps steps = stepsFor(view);
  Endpoint now = view.source;
  const auto step = [&](const std::string& layer, const std::string& suffix, const Json& values) {
    const auto key = std::pair(now, layer + values.dump());
    if (const auto drawn = m_drawn.find(key); drawn != m_drawn.end()) {
      now = drawn->second;
      return;
    }
    now = output(add(layer, wish + suffix, values, {now}));
    m_drawn[key] = now;
    m_drawnOrder.push_back(key);
  };
  const auto reshape = [&](const Shape& shape) {
    if (shape.rank() <= 1 && this->shape(now).rank() == 1) return;  // one number a sample is a row of one here
    if (shape.rank() <= 1)
      step("Flatten", "_flatten", Json::object());
    else
      step("Reshape", "_reshape", {{"shape", shape.extents()}});
  };
  if (steps.shape) reshape(*steps.shape);
  for (const Cut& cut : steps.cuts)
    step("Slice", "_slice", {{"axis", cut.axis}, {"start", cut.start}, {"length", cut.length}, {"step", cut.step}});
  if (steps.axes) step("Transpose", "_transpose", {{"axes", *steps.axes}});
  if (steps.last) reshape(*steps.last);
  if (view.factor != 1) step("MultiplyScalar", "_scale", {{"value", view.factor}});
  return now;
}

std::vector<Endpoint> Drawing::inputsOf(const std::string& node) const {
  std::vector<Endpoint> inputs;
  for (const Edge& edge : m_network.edges)
    if (edge.to.node == node) inputs.push_back(edge.from);
  return inputs;
}

void Drawing::redirect(const Endpoint& from, const Endpoint& to) {
  for (Edge& edge : m_network.edges)
    if (edge.from == from) {
      edge.from = to;
      --m_readers[from.node];
      ++m_readers[to.node];
    }
}

void Drawing::removeUnread(const std::string& node, const std::set<std::string>& spare) {
  std::vector<std::string> waiting{node};
  while (!waiting.empty()) {
    const std::string id = waiting.back();
    waiting.pop_back();
    if (!spare.count(id) || readers(id) > 0 || !m_network.find(id)) continue;
    for (const Endpoint& input : inputsOf(id)) {
      waiting.push_back(input.node);
      --m_readers[input.node];
    }
    std::erase_if(m_network.edges, [&](const Edge& edge) { return edge.to.node == id; });
    std::erase_if(m_network.nodes, [&](const Node& each) { return each.id == id; });
    for (ImportedWeight& weight : m_weights)
      if (weight.name.starts_with(id + "/")) weight.name.clear();  // left out when they are taken
  }
}

void Drawing::takeBack(const Mark& mark) {
  if (m_network.nodes.size() == mark.nodes) return;
  for (std::size_t i = mark.edges; i < m_network.edges.size(); ++i) --m_readers[m_network.edges[i].from.node];
  m_network.edges.resize(mark.edges);
  for (std::size_t i = mark.weights; i < m_weights.size(); ++i) m_weightPlaces.erase(m_weights[i].name);
  m_weights.resize(mark.weights);
  for (std::size_t i = mark.nodes; i < m_network.nodes.size(); ++i) {
    const std::string& id = m_network.nodes[i].id;
    m_layers.erase(id);
    m_places.erase(id);
    m_readers.erase(id);
    for (auto shape = m_shapes.lower_bound({id, ""}); shape != m_shapes.end() && shape->first.node == id;)
      shape = m_shapes.erase(shape);
  }
  m_network.nodes.resize(mark.nodes);
  for (std::size_t i = mark.drawn; i < m_drawnOrder.size(); ++i) m_drawn.erase(m_drawnOrder[i]);
  m_drawnOrder.resize(mark.drawn);
}

std::vector<ImportedWeight> Drawing::takeWeights() {
  std::erase_if(m_weights, [](const ImportedWeight& weight) { return weight.name.empty(); });
  return std::move(m_weights);
}

}  // namespace loom::onnx_file
