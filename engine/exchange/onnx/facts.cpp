#include "engine/exchange/onnx/facts.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/base/error.h"

namespace loom::onnx_file {

bool holdsBatch(const Extents& extents) {
  return std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return holdsBatch(extent); });
}

const Fact& Facts::of(const std::string& value) const {
  static const Fact unknown;
  const auto found = m_facts.find(value);
  return found == m_facts.end() ? unknown : found->second;
}

namespace {

constexpr std::int64_t kLeastBudget = std::int64_t{1} << 24;

class Learner {
 public:
  Learner(OnnxGraph& graph, ImportReport& report) : m_graph(graph), m_report(report) {}

  Facts run() {
    std::int64_t stored = 0;
    for (const auto& [name, constant] : m_graph.constants) {
      makeConstant(name, constant);
      stored += static_cast<std::int64_t>(constant->stored());
    }
    m_budget = std::max(kLeastBudget, 4 * stored);
    takeInputs();
    std::vector<OnnxNode> left;
    std::vector<OnnxNode> waiting(std::make_move_iterator(m_graph.nodes.rbegin()),
                                  std::make_move_iterator(m_graph.nodes.rend()));
    while (!waiting.empty()) {
      OnnxNode node = std::move(waiting.back());
      waiting.pop_back();
      if (takeBranch(node, waiting)) continue;
      if (m_graph.opset < 7)
        if (auto first = modernise(node, m_graph.opset, m_facts)) {
          waiting.push_back(std::move(node));
          waiting.push_back(std::move(*first));
          continue;
        }
      if (!learn(node)) left.push_back(std::move(node));
    }
    m_graph.nodes = std::move(left);
    return std::move(m_facts);
  }

 private:
  void makeConstant(const std::string& name, const ConstantPointer& constant) {
    m_facts.make(name) = {true, constant->extents, constant, 1, constant->elementType()};
  }

  void report(ReportItem::Kind kind, std::string layer, std::string sentence) {
    m_report.add(kind, m_graph.name, std::move(layer), {}, std::move(sentence));
  }

  // How much a name of an axis says that it is the batch's.
  static int batchness(const std::string& symbol) {
    std::string name;
    for (const char letter : symbol)
      if (std::isalpha(static_cast<unsigned char>(letter))) name += static_cast<char>(std::tolower(letter));
    for (const char* whole : {"batch", "batchsize", "batchdim"})
      if (name == whole) return 3;
    if (name.find("batch") != name.npos && name.find("sequence") == name.npos) return 2;
    return name == "n" || name == "b" || name == "bs" ? 1 : 0;
  }

  // Which axis of each input is the batch: the one that its name calls so, else the first whose extent the file leaves
  // open or, where all are fixed, the first.
  void takeInputs() {
    std::string symbol;
    bool open = false;
    int most = 0;
    for (const OnnxValue& input : m_graph.inputs) {
      if (!input.extents) continue;
      for (const Extent& extent : *input.extents) {
        if (extent.value >= 0 || (open && batchness(extent.symbol) <= most)) continue;
        open = true;
        symbol = extent.symbol;
        most = batchness(symbol);
      }
    }
    for (const OnnxValue& input : m_graph.inputs) takeInput(input, open, symbol);
    if (m_facts.fixedBatch > 1)
      report(ReportItem::Kind::converted, "the batch",
             fmt::format("The file fixes a batch of {}; here a network is drawn for one sample and takes any batch.",
                         m_facts.fixedBatch));
  }

  void takeInput(const OnnxValue& input, bool open, const std::string& symbol) {
    if (!input.extents || input.extents->empty()) return;  // told where it is translated
    Extents extents;
    for (const Extent& extent : *input.extents) extents.push_back(extent.value);
    std::size_t batch = 0;
    if (open) {
      const auto named = std::find_if(input.extents->begin(), input.extents->end(), [&](const Extent& extent) {
        return extent.value < 0 && (symbol.empty() || extent.symbol == symbol);
      });
      if (named != input.extents->end()) batch = static_cast<std::size_t>(named - input.extents->begin());
    }
    if (extents[batch] > 0 && m_facts.fixedBatch == 0) m_facts.fixedBatch = extents[batch];
    if (!open && extents[batch] != m_facts.fixedBatch) {
      m_facts.unlike[input.name] = extents[batch];
      return;
    }
    extents[batch] = kBatch;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] > 0) continue;
      extents[i] = extents.size() == 4 && i > 1 ? 224 : extents.size() == 4 ? 3 : 64;
      report(
          ReportItem::Kind::converted, input.name,
          fmt::format("The file leaves axis {}{} open, but a drawing has fixed shapes: {} was taken. Where another is "
                      "wanted, export the model "
                      "with that shape.",
                      i, (*input.extents)[i].symbol.empty() ? "" : fmt::format(" ('{}')", (*input.extents)[i].symbol),
                      extents[i]));
    }
    m_facts.batchAxis[input.name] = batch;
    m_facts.make(input.name) = {true, std::move(extents), nullptr, 1, input.type};
  }

  // An If whose condition is known: its branch in its place.
  bool takeBranch(OnnxNode& node, std::vector<OnnxNode>& waiting) {
    if (node.op != "If" || node.branches.empty()) return false;
    const Constant* condition = m_facts.constant(node.input(0));
    if (!condition || condition->stored() == 0) return false;
    const auto branch = node.branches.find(condition->at(0) != 0 ? "then_branch" : "else_branch");
    if (branch == node.branches.end() || branch->second->outputs.size() < node.outputs.size()) return false;
    OnnxGraph& inner = *branch->second;
    for (const auto& [name, constant] : inner.constants) makeConstant(name, constant);
    for (std::size_t i = node.outputs.size(); i-- > 0;)
      waiting.push_back(
          {.name = node.name, .op = "Identity", .inputs = {inner.outputs[i].name}, .outputs = {node.outputs[i]}});
    for (auto inside = inner.nodes.rbegin(); inside != inner.nodes.rend(); ++inside)
      waiting.push_back(std::move(*inside));
    return true;
  }

  // Whether all that the node gives is a constant now.
  bool learn(const OnnxNode& node) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (!node.outputs[i].empty()) m_facts.make(node.outputs[i]).type = typeOf(node, i, m_facts);
    try {
      if (auto constants = constantsOf(node)) {
        for (std::size_t i = 0; i < node.outputs.size() && i < constants->size(); ++i) {
          if (node.outputs[i].empty()) continue;
          const ConstantPointer& constant = (*constants)[i];
          m_budget -= static_cast<std::int64_t>(constant->stored());
          makeConstant(node.outputs[i], constant);
        }
        if (node.op != "Constant")
          report(ReportItem::Kind::translated, node.title(),
                 "Computed while reading: it depends on nothing that is fed.");
        return true;
      }
      if (const auto shapes = shapesOf(node, m_facts, m_graph.opset)) {
        for (std::size_t i = 0; i < node.outputs.size() && i < shapes->size(); ++i) {
          (void)elementsOf((*shapes)[i]);
          if (node.outputs[i].empty()) continue;
          Fact& fact = m_facts.make(node.outputs[i]);
          fact = {true, (*shapes)[i], nullptr, insideOf(node, (*shapes)[i]), fact.type};
        }
        return false;
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::badData) throw;
      report(ReportItem::Kind::untranslatable, node.title(), fmt::format("It cannot be: {}.", error.message()));
    }
    for (const std::string& output : node.outputs) fromFile(output);
    return false;
  }

  // Where the batch stands in its axis: as before, or as a Reshape moved the borders of axes around it.
  std::int64_t insideOf(const OnnxNode& node, const Extents& extents) const {
    const auto axis = [](const Extents& all) {
      return std::find_if(all.begin(), all.end(), [](std::int64_t extent) { return holdsBatch(extent); });
    };
    const auto to = axis(extents);
    if (to == extents.end() || *to == kBatch) return 1;
    for (const std::string& input : node.inputs) {
      const Fact& fact = m_facts.of(input);
      const auto from = axis(fact.extents);
      if (fact.constant || from == fact.extents.end()) continue;
      if (node.op != "Reshape" && node.op != "Flatten") return *from == *to ? fact.inside : 1;
      const std::int64_t before = elementsOf({fact.extents.begin(), from}) * fact.inside,
                         now = elementsOf({extents.begin(), to});
      return now > 0 && before % now == 0 ? std::max<std::int64_t>(before / now, 1) : 1;
    }
    return 1;
  }

  std::optional<std::vector<ConstantPointer>> constantsOf(const OnnxNode& node) {
    if (node.op == "Shape") {
      const Fact& fact = m_facts.of(node.input(0));
      return fact.known ? std::optional(std::vector{shapeConstant(node, fact.extents)}) : std::nullopt;
    }
    if (node.outputs.empty()) return {};
    std::vector<const Constant*> inputs;
    for (const std::string& input : node.inputs) {
      inputs.push_back(input.empty() ? nullptr : m_facts.constant(input));
      if (!input.empty() && !inputs.back()) return {};
    }
    return fold(node, inputs, m_graph.opset, m_budget, m_facts.fixedBatch);
  }

  static ConstantPointer shapeConstant(const OnnxNode& node, const Extents& extents) {
    const auto rank = static_cast<std::int64_t>(extents.size());
    const auto place = [&](std::int64_t axis) {
      return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t start = place(node.integer("start", 0)), end = std::max(start, place(node.integer("end", rank)));
    auto constant = std::make_shared<Constant>();
    constant->kind = Constant::Kind::whole;
    constant->wholes.assign(extents.begin() + start, extents.begin() + end);
    constant->extents = {end - start};
    return constant;
  }

  // The shape that the file tells, where no rule of ours gives one.
  void fromFile(const std::string& name) {
    const auto told = m_graph.known.find(name);
    if (told == m_graph.known.end()) return;
    Fact& fact = m_facts.make(name);
    if (told->second.type != kUnknownType) fact.type = told->second.type;
    if (!told->second.extents) return;
    Extents extents;
    for (const Extent& extent : *told->second.extents) extents.push_back(extent.value);
    const auto open = std::count(extents.begin(), extents.end(), -1);
    if (extents.empty() || open > 1) return;
    if (open == 1)
      *std::find(extents.begin(), extents.end(), -1) = kBatch;
    else if (m_facts.fixedBatch > 0 && extents[0] == m_facts.fixedBatch)
      extents[0] = kBatch;
    fact = {true, std::move(extents), nullptr, 1, fact.type};
  }

  OnnxGraph& m_graph;
  ImportReport& m_report;
  Facts m_facts;
  std::int64_t m_budget = 0;
};

}  // namespace

Facts learnFacts(OnnxGraph& graph, ImportReport& report) {
  return Learner(graph, report).run();
}

}  // namespace loom::onnx_file
