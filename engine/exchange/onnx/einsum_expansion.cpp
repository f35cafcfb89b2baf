// Einsums written out: the axes of each pair of operands are those that both keep, those of one alone and those that
// are summed; turned and taken together so, it is a product of matrices.
#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/exchange/onnx/einsum.h"

namespace loom::onnx_file {
namespace {

// One operand on its way.
struct Factor {
  std::string value, axes;
  Extents extents;
  std::int64_t of(char axis) const { return extents[axes.find(axis)]; }
};

class Expansion {
 public:
  Expansion(OnnxGraph& graph, Facts& facts, const OnnxNode& node) : m_graph(graph), m_facts(facts), m_node(node) {}

  // What is added behind: of a product with a constant matrix alone, as one number for each of its columns.
  void addBehind(const std::string& bias, const std::string& result) {
    m_bias = bias;
    m_biased = result;
  }
  bool tookBias() const { return m_tookBias; }

  std::vector<OnnxNode> run() {
    std::vector<std::size_t> ranks;
    std::vector<Extents> extents;
    for (const std::string& input : m_node.inputs) {
      if (!m_facts.of(input).known) throwError(ErrorCode::badProject, "the shape of an operand of it is not known");
      extents.push_back(m_facts.of(input).extents);
      ranks.push_back(extents.back().size());
    }
    const Equation equation = equationOf(m_node.text("equation", ""), ranks);
    m_result = equation.result;
    const std::map<char, std::int64_t> whole = extentsByAxis(equation, extents);
    std::vector<Factor> factors;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      for (const char axis : equation.operands[i])
        if (std::count(equation.operands[i].begin(), equation.operands[i].end(), axis) > 1)
          throwError(ErrorCode::badProject, "it takes a diagonal ('{}'), which has no counterpart here",
                     equation.operands[i]);
      factors.push_back(stretching({m_node.inputs[i], equation.operands[i], extents[i]}, whole));
    }
    Factor now = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) {
      std::string needed = equation.result;
      for (std::size_t k = i + 1; k < factors.size(); ++k) needed += factors[k].axes;
      now = product(now, factors[i], needed, i + 1 == factors.size());
    }
    now = ordered(summed(now, equation.result), equation.result);
    if (now.axes != equation.result) throwError(ErrorCode::badProject, "its result repeats what no operand has");
    const std::string& result = m_tookBias ? m_biased : m_node.outputs.at(0);
    if (m_nodes.empty()) add("Identity", {now.value}, {}, now.extents);
    m_nodes.back().outputs = {result};
    return std::move(m_nodes);
  }

 private:
  static Attribute wholes(const std::vector<std::int64_t>& numbers) {
    return {.kind = Attribute::Kind::integers, .integers = numbers};
  }

  std::string add(const std::string& op, std::vector<std::string> inputs, std::map<std::string, Attribute> attributes,
                  const Extents& extents) {
    const std::string value = fmt::format("{}/{}", m_node.outputs.at(0), m_nodes.size() + 1);
    m_nodes.push_back({.name = m_node.name,
                       .op = op,
                       .inputs = std::move(inputs),
                       .outputs = {value},
                       .attributes = std::move(attributes)});
    Fact& fact = m_facts.make(value);
    fact.known = true;
    fact.extents = extents;
    return value;
  }

  std::string addConstant(const std::string& from, ConstantPointer constant) {
    const std::string value = fmt::format("{}/{}/{}", from, m_node.outputs.at(0), ++m_constants);
    Fact& fact = m_facts.make(value);
    fact.known = true;
    fact.extents = constant->extents;
    fact.constant = constant;
    if (m_graph.constants.count(from)) m_graph.constants[value] = constant;  // a weight of the file as before
    return value;
  }

  // Numbers that are calculated of a constant: as many as the file holds of it, more only where they are few.
  static std::int64_t mostOf(const Constant& constant) {
    return std::max<std::int64_t>(static_cast<std::int64_t>(constant.stored()), 1 << 22);
  }

  std::string shaped(const std::string& value, const Extents& extents) {
    if (m_facts.of(value).extents == extents) return value;
    if (const ConstantPointer constant = m_facts.of(value).constant) {
      auto copy = std::make_shared<Constant>(*constant);
      copy->extents = extents;
      return addConstant(value, std::move(copy));
    }
    return add("Reshape", {value}, {}, extents);
  }

  Factor ordered(const Factor& from, const std::string& axes) {
    if (from.axes == axes || from.axes.size() != axes.size()) return from;
    Factor to{from.value, axes, {}};
    std::vector<std::int64_t> order;
    for (const char axis : axes) {
      order.push_back(static_cast<std::int64_t>(from.axes.find(axis)));
      to.extents.push_back(from.of(axis));
    }
    const std::map<std::string, Attribute> attributes{{"perm", wholes(order)}};
    if (const ConstantPointer constant = m_facts.of(from.value).constant) {
      const OnnxNode transpose{.op = "Transpose", .inputs = {from.value}, .attributes = attributes};
      const auto turned = fold(transpose, {constant.get()}, m_graph.opset, mostOf(*constant));
      if (!turned) throwError(ErrorCode::badProject, "a weight of it is too large to be turned");
      to.value = addConstant(from.value, turned->front());
    } else {
      to.value = add("Transpose", {from.value}, attributes, to.extents);
    }
    return to;
  }

  // Without its axes of 1 that others have longer: those stretch.
  Factor stretching(const Factor& from, const std::map<char, std::int64_t>& whole) {
    Factor to{from.value, "", {}};
    for (const char axis : from.axes) {
      if (from.of(axis) == 1 && whole.at(axis) != 1) continue;
      to.axes += axis;
      to.extents.push_back(from.of(axis));
    }
    to.value = shaped(from.value, to.extents);
    return to;
  }

  // Over the axes that nobody needs.
  Factor summed(const Factor& from, const std::string& needed) {
    Factor to{from.value, "", {}};
    std::vector<std::int64_t> gone;
    for (std::size_t i = 0; i < from.axes.size(); ++i) {
      if (!holds(needed, from.axes[i])) {
        gone.push_back(static_cast<std::int64_t>(i));
        continue;
      }
      to.axes += from.axes[i];
      to.extents.push_back(from.extents[i]);
    }
    if (gone.empty()) return from;
    std::map<std::string, Attribute> attributes{{"axes", wholes(gone)},
                                                {"keepdims", {.kind = Attribute::Kind::integer, .integer = 0}}};
    if (const ConstantPointer constant = m_facts.of(from.value).constant) {
      const ConstantPointer sum = foldEinsum({{from.axes}, to.axes}, {constant.get()}, mostOf(*constant));
      if (!sum) throwError(ErrorCode::badProject, "a weight of it is too large to be summed");
      to.value = addConstant(from.value, sum);
    } else {
      to.value = add("ReduceSum", {from.value}, std::move(attributes), to.extents);
    }
    return to;
  }

  // The axes of `some` in the order in which they are needed.
  static std::string inOrder(const std::string& some, const std::string& needed) {
    std::string result;
    for (const char axis : needed)
      if (holds(some, axis) && !holds(result, axis)) result += axis;
    return result;
  }

  std::int64_t together(const Factor& factor, const std::string& axes) const {
    std::int64_t elements = 1;
    for (const char axis : axes) elements *= factor.of(axis);
    return elements;
  }

  Factor product(Factor a, Factor b, const std::string& needed, bool last) {
    a = summed(a, b.axes + needed);
    b = summed(b, a.axes + needed);
    std::string both, contracted;
    for (const char axis : a.axes)
      if (holds(b.axes, axis)) (holds(needed, axis) ? both : contracted) += axis;
    if (contracted.empty()) return multiplied(a, b, inOrder(a.axes + b.axes, needed));
    // A constant stands on the right; else what the result has first on the left.
    const auto ownOf = [&](const Factor& own, const Factor& other) {
      std::string axes;
      for (const char axis : inOrder(own.axes, needed))
        if (!holds(other.axes, axis)) axes += axis;
      return axes;
    };
    const std::string ofA = ownOf(a, b), ofB = ownOf(b, a);
    const bool turns = m_facts.isConstant(a.value) || (!m_facts.isConstant(b.value) && !ofA.empty() && !ofB.empty() &&
                                                       needed.find(ofB[0]) < needed.find(ofA[0]));
    if (turns) std::swap(a, b);
    std::string rows = turns ? ofB : ofA;
    const std::string columns = turns ? ofA : ofB;
    both = inOrder(both, needed);
    if (m_facts.isConstant(b.value) && both.empty()) return linear(a, b, rows, columns, contracted, last);
    // The batch comes first.
    std::string before;
    for (const std::string* axes : {&both, &rows})
      for (const char axis : *axes)
        if (holdsBatch(a.of(axis))) before = axis;
    const auto without = [&](const std::string& axes) {
      std::string rest;
      for (const char axis : axes)
        if (!holds(before, axis)) rest += axis;
      return rest;
    };
    const bool shared = holds(both, before.empty() ? '?' : before[0]);
    rows = without(rows);
    both = without(both);
    a = ordered(a, before + both + rows + contracted);
    b = ordered(b, (shared ? before : "") + both + contracted + columns);
    Extents left, right, result;
    std::string axes = before + both;
    for (const char axis : axes) {
      left.push_back(a.of(axis));
      if (shared || !holds(before, axis)) right.push_back(b.of(axis));
    }
    result = left;
    const std::int64_t inner = together(a, contracted), down = together(a, rows), across = together(b, columns);
    left.insert(left.end(), {down, inner});
    right.insert(right.end(), {inner, across});
    result.insert(result.end(), {down, across});
    const std::string leftValue = shaped(a.value, left), rightValue = shaped(b.value, right);
    Factor made{add("MatMul", {leftValue, rightValue}, {}, result), axes + rows + columns, {}};
    for (const char axis : made.axes) made.extents.push_back(holds(a.axes, axis) ? a.of(axis) : b.of(axis));
    made.value = shaped(made.value, made.extents);
    return made;
  }

  // A matrix of the file behind all rows that there are: a Linear.
  Factor linear(Factor a, Factor b, const std::string& rows, const std::string& columns, const std::string& contracted,
                bool last) {
    a = ordered(a, rows + contracted);
    b = ordered(b, contracted + columns);
    Extents left;
    for (const char axis : rows) left.push_back(a.of(axis));
    Extents result = left;
    const std::int64_t inner = together(a, contracted), across = together(b, columns);
    left.push_back(inner);
    result.push_back(across);
    const std::string x = shaped(a.value, left), weight = shaped(b.value, {inner, across});
    Factor made{"", rows + columns, {}};
    for (const char axis : made.axes) made.extents.push_back(holds(a.axes, axis) ? a.of(axis) : b.of(axis));
    const Constant* bias = m_bias.empty() ? nullptr : m_facts.constant(m_bias);
    Extents own;
    for (const char axis : columns) own.push_back(b.of(axis));
    if (bias && last && fits(bias->extents, own, made.axes)) {
      m_tookBias = true;
      made.value = add("loom.Linear", {x, weight, shaped(m_bias, {across})}, {}, result);
    } else {
      made.value = add("MatMul", {x, weight}, {}, result);
    }
    made.value = shaped(made.value, made.extents);
    return made;
  }

  // Whether a bias has one number for each of these axes, which are the last of the result.
  bool fits(Extents bias, const Extents& own, const std::string& axes) const {
    while (bias.size() > own.size() && bias.front() == 1) bias.erase(bias.begin());
    return bias == own && m_result == axes;
  }

  Factor multiplied(Factor a, Factor b, const std::string& axes) {
    const auto beside = [&](Factor& factor) {
      factor = ordered(factor, inOrder(factor.axes, axes));
      Extents extents;
      for (const char axis : axes) extents.push_back(holds(factor.axes, axis) ? factor.of(axis) : 1);
      return shaped(factor.value, extents);
    };
    Factor made{"", axes, {}};
    for (const char axis : axes) made.extents.push_back(holds(a.axes, axis) ? a.of(axis) : b.of(axis));
    const std::string left = beside(a), right = beside(b);
    made.value = add("Mul", {left, right}, {}, made.extents);
    return made;
  }

  OnnxGraph& m_graph;
  Facts& m_facts;
  const OnnxNode& m_node;
  std::vector<OnnxNode> m_nodes;
  std::string m_bias, m_biased, m_result;
  bool m_tookBias = false;
  int m_constants = 0;
};

}  // namespace

void writeOutEinsums(OnnxGraph& graph, Facts& facts, ImportReport& report) {
  std::map<std::string, std::vector<std::size_t>> readers;
  std::set<std::string> results;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& input : graph.nodes[i].inputs) readers[input].push_back(i);
  for (const OnnxValue& output : graph.outputs) results.insert(output.name);
  std::vector<OnnxNode> nodes;
  std::set<std::size_t> gone;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    OnnxNode& node = graph.nodes[i];
    if (gone.count(i)) continue;
    if (node.op != "Einsum" || node.outputs.empty()) {
      nodes.push_back(node);
      continue;
    }
    try {
      Expansion expansion(graph, facts, node);
      const std::string& output = node.outputs[0];
      const std::vector<std::size_t>& behind = readers[output];
      const OnnxNode* sum = behind.size() == 1 && !results.count(output) ? &graph.nodes[behind[0]] : nullptr;
      if (sum && sum->op == "Add" && sum->inputs.size() == 2 && sum->inputs[0] != sum->inputs[1])
        expansion.addBehind(sum->inputs[sum->inputs[0] == output ? 1 : 0], sum->outputs.at(0));
      for (OnnxNode& part : expansion.run()) nodes.push_back(std::move(part));
      if (!expansion.tookBias()) continue;
      gone.insert(behind[0]);
      report.add(ReportItem::Kind::translated, graph.name, sum->title(), {}, "Part of a Linear.");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::badProject && error.code() != ErrorCode::badData) throw;
      node.attributes["reason"] = {.kind = Attribute::Kind::text, .text = error.message()};
      nodes.push_back(node);
    }
  }
  graph.nodes = std::move(nodes);
}

}  // namespace loom::onnx_file
