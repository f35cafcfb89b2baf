#include "engine/exchange/onnx/patterns.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/layers/layer.h"

namespace loom::onnx_file {
namespace {

constexpr std::size_t kMostJoined = 16;  // operators in one function

// Operators of single values that fold() calculates.
bool isElementwise(const std::string& op) {
  static const std::set<std::string> ops{
      "Add",         "Sub",        "Mul",       "Div",      "Pow",  "Min",      "Max",     "Neg",  "Abs",
      "Sqrt",        "Reciprocal", "Exp",       "Log",      "Tanh", "Erf",      "Sigmoid", "Relu", "Clip",
      "HardSigmoid", "Softplus",   "HardSwish", "Identity", "Cast", "CastLike", "Softsign"};
  return ops.count(op) > 0;
}

class Joiner {
 public:
  Joiner(OnnxGraph& graph, Facts& facts, ImportReport& report) : m_graph(graph), m_facts(facts), m_report(report) {}

  void run() {
    index();
    joinNormalisations();
    joinFunctions();
    joinBiases();
    std::vector<OnnxNode> left;
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i)
      if (!m_gone.count(i)) left.push_back(std::move(m_graph.nodes[i]));
    m_graph.nodes = std::move(left);
  }

 private:
  void index() {
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
      for (const std::string& output : m_graph.nodes[i].outputs)
        if (!output.empty()) m_makers[output] = i;
      for (const std::string& input : m_graph.nodes[i].inputs) m_readers[input].push_back(i);
    }
    for (const OnnxValue& output : m_graph.outputs) m_results.insert(output.name);
  }

  const OnnxNode* maker(const std::string& value) const {
    const auto found = m_makers.find(value);
    return found == m_makers.end() || m_gone.count(found->second) ? nullptr : &m_graph.nodes[found->second];
  }
  // The maker, where it is this operator.
  const OnnxNode* made(const std::string& value, const char* op) const {
    const OnnxNode* node = maker(value);
    return node && node->op == op ? node : nullptr;
  }
  std::size_t place(const OnnxNode* node) const { return static_cast<std::size_t>(node - m_graph.nodes.data()); }
  bool isScalar(const std::string& value) const {
    const Constant* constant = m_facts.constant(value);
    return constant && constant->stored() == 1 && elementsOf(constant->extents) == 1;
  }
  double scalar(const std::string& value) const { return m_facts.constant(value)->at(0); }

  // Whether all that reads what these nodes make, but the last's, is one of them.
  bool closed(const std::set<std::size_t>& nodes, std::size_t last) const {
    for (const std::size_t node : nodes) {
      if (node == last) continue;
      for (const std::string& output : m_graph.nodes[node].outputs) {
        if (m_results.count(output)) return false;
        const auto readers = m_readers.find(output);
        if (readers == m_readers.end()) continue;
        for (const std::size_t reader : readers->second)
          if (!nodes.count(reader)) return false;
      }
    }
    return true;
  }

  // `last` becomes this node; the others go.
  void replace(const std::set<std::size_t>& nodes, std::size_t last, OnnxNode node, const std::string& what) {
    node.name = m_graph.nodes[last].name;
    node.outputs = {m_graph.nodes[last].outputs.front()};
    for (const std::size_t each : nodes) {
      if (each == last) continue;
      m_gone.insert(each);
      m_report.add(ReportItem::Kind::translated, m_graph.name, m_graph.nodes[each].title(), {},
                   fmt::format("Part of a {}.", what));
    }
    m_graph.nodes[last] = std::move(node);
  }

  // Takes a node with what stands beside it: the same operator of the same inputs, which some exporters write twice.
  void joinFunctions() {
    for (std::size_t i = m_graph.nodes.size(); i-- > 0;) {
      const OnnxNode& node = m_graph.nodes[i];
      if (m_gone.count(i) || !isElementwise(node.op)) continue;
      tryFunction(i);
    }
  }

  // Grows the operators that end here, backwards, as long as they read one fed value; the most that are a known
  // function stay.
  void tryFunction(std::size_t last) {
    std::set<std::size_t> nodes{last};
    std::optional<KnownFunction> best;
    std::set<std::size_t> bestNodes;
    std::string bestInput;
    while (nodes.size() <= kMostJoined) {
      std::set<std::string> inputs;
      for (const std::size_t node : nodes)
        for (const std::string& input : m_graph.nodes[node].inputs) {
          if (input.empty() || isScalar(input)) continue;
          if (m_facts.isConstant(input)) return keep(best, bestNodes, last, bestInput);
          const auto maker = m_makers.find(input);
          if (maker == m_makers.end() || !nodes.count(maker->second)) inputs.insert(input);
        }
      if (inputs.size() == 1 && nodes.size() > 1 && isReal(m_facts.of(*inputs.begin()).type) && closed(nodes, last)) {
        const auto found = functionOf(valuesOf(nodes, *inputs.begin(), last));
        if (found && findLayer(found->layer)) {
          best = found;
          bestNodes = nodes;
          bestInput = *inputs.begin();
        }
      }
      // The one that stands last in the file: others may read it.
      std::size_t next = m_graph.nodes.size();
      for (const std::string& input : inputs) {
        const OnnxNode* source = maker(input);
        if (source && isElementwise(source->op) && (next == m_graph.nodes.size() || place(source) > next))
          next = place(source);
      }
      if (next == m_graph.nodes.size()) break;
      nodes.insert(next);
    }
    keep(best, bestNodes, last, bestInput);
  }

  void keep(const std::optional<KnownFunction>& best, const std::set<std::size_t>& nodes, std::size_t last,
            const std::string& input) {
    if (!best) return;
    OnnxNode node{.op = "loom.Function", .inputs = {input}};
    node.attributes["layer"] = {.kind = Attribute::Kind::text, .text = best->layer};
    node.attributes["values"] = {.kind = Attribute::Kind::text, .text = best->values};
    replace(nodes, last, std::move(node), best->layer);
  }

  // What they make of the tried places. Empty where something does not calculate.
  std::vector<double> valuesOf(const std::set<std::size_t>& nodes, const std::string& input, std::size_t last) const {
    const std::vector<double> places = triedPlaces();
    auto x = std::make_shared<Constant>();
    x->extents = {static_cast<std::int64_t>(places.size())};
    x->reals.assign(places.begin(), places.end());
    std::map<std::string, ConstantPointer> known{{input, x}};
    try {
      for (const std::size_t each : nodes) {  // in the order of the file
        std::vector<const Constant*> inputs;
        for (const std::string& value : m_graph.nodes[each].inputs) {
          const auto found = known.find(value);
          inputs.push_back(found != known.end() ? found->second.get() : m_facts.constant(value));
        }
        const auto results = fold(m_graph.nodes[each], inputs, m_graph.opset, 1 << 12);
        if (!results || results->empty()) return {};
        known[m_graph.nodes[each].outputs.front()] = results->front();
      }
    } catch (const Error&) {
      return {};
    }
    const ConstantPointer& result = known[m_graph.nodes[last].outputs.front()];
    if (!result || result->extents != x->extents) return {};
    std::vector<double> values;
    for (std::size_t i = 0; i < places.size(); ++i) values.push_back(result->at(i));
    return values;
  }

  void joinBiases() {
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
      const OnnxNode& add = m_graph.nodes[i];
      if (m_gone.count(i) || add.op != "Add" || add.inputs.size() != 2) continue;
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const OnnxNode* product = made(add.inputs[side], "MatMul");
        const Constant* bias = m_facts.constant(add.inputs[1 - side]);
        const Constant* weight =
            product && product->inputs.size() == 2 ? m_facts.constant(product->inputs[1]) : nullptr;
        if (!bias || !weight || weight->extents.size() != 2 || bias->extents.empty() ||
            elementsOf(bias->extents) != weight->extents[1] || bias->extents.back() != weight->extents[1] ||
            bias->extents.size() > m_facts.of(add.inputs[side]).extents.size())
          continue;
        const std::set<std::size_t> both{place(product), i};
        if (!closed(both, i)) continue;
        replace(both, i,
                {.op = "loom.Linear", .inputs = {product->inputs[0], product->inputs[1], add.inputs[1 - side]}},
                "Linear");
        break;
      }
    }
  }

  // y = gamma (x - mean) / sqrt(variance + epsilon) + beta, from its division (or product with the reciprocal) on.
  void joinNormalisations() {
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
      if (!m_gone.count(i)) tryNormalisation(i);
      if (!m_gone.count(i)) tryGroups(i);
      if (!m_gone.count(i)) tryRows(i);
    }
  }

  // A GroupNormalization: channels parted by a Reshape, an InstanceNormalization of the parts that scales nothing, the
  // shape of before, and a scale and a shift for each channel.
  void tryGroups(std::size_t at) {
    const OnnxNode& node = m_graph.nodes[at];
    const OnnxNode* parts = node.op == "InstanceNormalization" ? made(node.input(0), "Reshape") : nullptr;
    const Constant *scale = m_facts.constant(node.input(1)), *shift = m_facts.constant(node.input(2));
    if (!parts || !scale || !shift || !allAre(*scale, 1) || !allAre(*shift, 0)) return;
    const Extents &x = m_facts.of(parts->input(0)).extents, &parted = m_facts.of(node.input(0)).extents;
    if (x.size() < 3 || parted.size() != 3 || x[0] != parted[0] || parted[1] < 1 || x[1] % parted[1] != 0) return;
    const auto readers = m_readers.find(node.outputs.front());
    if (readers == m_readers.end() || readers->second.size() != 1) return;
    std::size_t last = readers->second.front();
    if (m_graph.nodes[last].op != "Reshape" || m_facts.of(m_graph.nodes[last].outputs.front()).extents != x) return;
    std::set<std::size_t> nodes{place(parts), at, last};
    const std::string gamma = channelsBehind("Mul", x[1], last, nodes),
                      beta = gamma.empty() ? gamma : channelsBehind("Add", x[1], last, nodes);
    if (beta.empty() || !closed(nodes, last)) return;
    OnnxNode layer{.op = "GroupNormalization", .inputs = {parts->input(0), gamma, beta}};
    layer.attributes["num_groups"] = {.kind = Attribute::Kind::integer, .integer = parted[1]};
    layer.attributes["epsilon"] = {.kind = Attribute::Kind::real, .real = node.real("epsilon", 1e-5)};
    replace(nodes, last, std::move(layer), "GroupNormalization");
  }

  // A LayerNormalization as Keras has it: the rows become channels of one image, and a BatchNormalization that scales
  // nothing normalises them by their own mean and mean square.
  void tryRows(std::size_t at) {
    const OnnxNode& node = m_graph.nodes[at];
    const OnnxNode* rows = node.op == "BatchNormalization" ? made(node.input(0), "Reshape") : nullptr;
    const OnnxNode *squeezed = made(node.input(3), "Squeeze"), *variance = made(node.input(4), "Div");
    const OnnxNode* mean = squeezed ? made(squeezed->input(0), "ReduceMean") : nullptr;
    const OnnxNode* squares = variance ? made(variance->input(0), "ReduceSumSquare") : nullptr;
    const OnnxNode* difference = squares ? made(squares->input(0), "Sub") : nullptr;
    const Constant *scale = m_facts.constant(node.input(1)), *shift = m_facts.constant(node.input(2));
    if (!rows || !mean || !difference || !scale || !shift || !allAre(*scale, 1) || !allAre(*shift, 0)) return;
    const Extents &x = m_facts.of(rows->input(0)).extents, &image = m_facts.of(node.input(0)).extents;
    const std::string& value = node.input(0);
    if (x.empty() || image.size() != 4 || image[0] != 1 || image[3] != 1 || x.back() != image[2]) return;
    if (mean->input(0) != value || difference->inputs != std::vector{value, squeezed->input(0)}) return;
    const std::vector<std::int64_t> others{0, 2, 3};
    if (axesOf(*mean, m_facts, 1) != others || axesOf(*squares, m_facts, 1) != others) return;
    if (!isScalar(variance->input(1)) || scalar(variance->input(1)) != static_cast<double>(x.back())) return;
    const auto readers = m_readers.find(node.outputs.front());
    if (readers == m_readers.end() || readers->second.size() != 1) return;
    std::size_t last = readers->second.front();
    if (m_graph.nodes[last].op != "Reshape" || m_facts.of(m_graph.nodes[last].outputs.front()).extents != x) return;
    std::set<std::size_t> nodes{at, last};
    for (const OnnxNode* each : {rows, squeezed, variance, mean, squares, difference}) nodes.insert(place(each));
    const double epsilon = node.real("epsilon", 1e-5);
    normalise(rows->input(0), -1, epsilon, last, nodes);
  }

  static bool allAre(const Constant& constant, double value) {
    for (std::size_t i = 0; i < constant.stored(); ++i)
      if (constant.at(i) != value) return false;
    return constant.stored() > 0;
  }

  // As factorBehind(), of a constant with one number for each channel.
  std::string channelsBehind(const char* op, std::int64_t channels, std::size_t& last,
                             std::set<std::size_t>& nodes) const {
    const std::string& output = m_graph.nodes[last].outputs.front();
    const auto readers = m_readers.find(output);
    if (readers == m_readers.end() || readers->second.size() != 1 || m_results.count(output)) return {};
    const OnnxNode& reader = m_graph.nodes[readers->second.front()];
    if (reader.op != op || reader.inputs.size() != 2) return {};
    const std::string& other = reader.inputs[reader.inputs[0] == output ? 1 : 0];
    const Constant* constant = m_facts.constant(other);
    const std::size_t behind = m_facts.of(output).extents.size() - 2;  // axes behind the channels
    if (!constant || constant->extents.size() <= behind || elementsOf(constant->extents) != channels ||
        constant->extents[constant->extents.size() - 1 - behind] != channels)
      return {};
    last = readers->second.front();
    nodes.insert(last);
    return other;
  }

  void tryNormalisation(std::size_t at) {
    const OnnxNode& node = m_graph.nodes[at];
    std::set<std::size_t> nodes{at};
    const OnnxNode* root = nullptr;
    std::string centred;
    if (node.op == "Div" && node.inputs.size() == 2) {
      root = made(node.inputs[1], "Sqrt");
      centred = node.inputs[0];
    } else if (node.op == "Mul" && node.inputs.size() == 2) {
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const OnnxNode* inverse = made(node.inputs[side], "Reciprocal");
        if (!inverse) continue;
        root = made(inverse->input(0), "Sqrt");
        centred = node.inputs[1 - side];
        if (root) nodes.insert(place(inverse));
        break;
      }
    }
    const OnnxNode* sum = root ? made(root->input(0), "Add") : nullptr;
    if (!sum || sum->inputs.size() != 2) return;
    const std::size_t constant = isScalar(sum->inputs[1]) ? 1 : 0;
    if (!isScalar(sum->inputs[constant])) return;
    const OnnxNode* variance = made(sum->inputs[1 - constant], "ReduceMean");
    const OnnxNode* square = variance ? maker(variance->input(0)) : nullptr;
    if (!square || (square->op != "Pow" && square->op != "Mul") || square->inputs.size() != 2) return;
    if (square->op == "Pow" ? !isScalar(square->inputs[1]) || scalar(square->inputs[1]) != 2
                            : square->inputs[0] != square->inputs[1])
      return;
    const OnnxNode *difference = maker(centred), *other = maker(square->inputs[0]);
    // Casts between are of no account.
    while (other &&
           ((other->op == "Cast" && isReal(m_facts.of(other->outputs.front()).type)) || other->op == "Identity")) {
      nodes.insert(place(other));
      other = maker(other->input(0));
    }
    if (!difference || !other || difference->op != "Sub" || other->op != "Sub" || difference->inputs.size() != 2 ||
        other->inputs != difference->inputs)
      return;
    const OnnxNode* mean = made(difference->inputs[1], "ReduceMean");
    const std::string& x = difference->inputs[0];
    if (!mean || mean->input(0) != x || !m_facts.of(x).known) return;
    const auto axes = trailing(*mean, m_facts.of(x).extents.size());
    if (!axes || axes != trailing(*variance, m_facts.of(x).extents.size())) return;
    for (const OnnxNode* each : {root, sum, variance, square, difference, other, mean}) nodes.insert(place(each));
    normalise(x, -*axes, scalar(sum->inputs[constant]), at, nodes);
  }

  // These nodes, of which `last` gives the result, and a scale and a shift behind them become a LayerNormalization of
  // x.
  void normalise(const std::string& x, std::int64_t axis, double epsilon, std::size_t last,
                 std::set<std::size_t> nodes) {
    std::string gamma = factorBehind("Mul", last, nodes), beta = factorBehind("Add", last, nodes);
    if (!closed(nodes, last)) return;
    OnnxNode layer{.op = "LayerNormalization", .inputs = {x, gamma, beta}};
    layer.attributes["axis"] = {.kind = Attribute::Kind::integer, .integer = axis};
    layer.attributes["epsilon"] = {.kind = Attribute::Kind::real, .real = epsilon};
    replace(nodes, last, std::move(layer), "LayerNormalization");
  }

  // How many trailing axes it takes together; nothing where they are others.
  std::optional<std::int64_t> trailing(const OnnxNode& reduction, std::size_t rank) const {
    const auto axes = axesOf(reduction, m_facts, 1);
    if (!axes || axes->empty() || !reduction.integer("keepdims", 1)) return {};
    std::set<std::size_t> places;
    for (const std::int64_t axis : *axes) {
      if (axis < -static_cast<std::int64_t>(rank) || axis >= static_cast<std::int64_t>(rank)) return {};
      places.insert(axisIn(axis, rank));
    }
    return *places.begin() + places.size() == rank ? std::optional(static_cast<std::int64_t>(places.size()))
                                                   : std::nullopt;
  }

  // The constant that the only reader of `last` multiplies or adds; that reader is the last one then.
  std::string factorBehind(const char* op, std::size_t& last, std::set<std::size_t>& nodes) const {
    const std::string& output = m_graph.nodes[last].outputs.front();
    const auto readers = m_readers.find(output);
    if (readers == m_readers.end() || readers->second.size() != 1 || m_results.count(output)) return {};
    const OnnxNode& reader = m_graph.nodes[readers->second.front()];
    if (reader.op != op || reader.inputs.size() != 2) return {};
    const std::string& other = reader.inputs[reader.inputs[0] == output ? 1 : 0];
    const Constant* constant = m_facts.constant(other);
    const Extents& extents = m_facts.of(output).extents;
    if (!constant || constant->extents.empty() || extents.empty() || constant->extents.back() != extents.back())
      return {};
    for (std::size_t i = 0; i + 1 < constant->extents.size(); ++i)
      if (constant->extents[i] != 1) return {};
    last = readers->second.front();
    nodes.insert(last);
    return other;
  }

  OnnxGraph& m_graph;
  Facts& m_facts;
  ImportReport& m_report;
  std::map<std::string, std::size_t> m_makers;
  std::map<std::string, std::vector<std::size_t>> m_readers;
  std::set<std::string> m_results;
  std::set<std::size_t> m_gone;
};

}  // namespace

void joinPatterns(OnnxGraph& graph, Facts& facts, ImportReport& report) {
  Joiner(graph, facts, report).run();
}

}  // namespace loom::onnx_file
