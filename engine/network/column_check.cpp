#include "engine/network/column_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/catalogue/text.h"
#include "engine/network/graph.h"
#include "engine/network/remedies.h"

namespace loom {
namespace {

class ColumnChecker {
 public:
  ColumnChecker(const Network& network, const Analysis& analysis, const KnownColumns& columns,
                std::vector<Problem>& problems)
      : m_network(network),
        m_analysis(analysis),
        m_columns(columns),
        m_problems(problems),
        m_graph(network, m_ignored) {}

  void run() {
    const std::vector<DatasetInput> inputs = datasetInputs(m_network);
    for (const DatasetInput& input : inputs) {
      const auto column = m_columns.shapes.find(input.variable);
      if (column == m_columns.shapes.end()) {
        reportMissing(input, inputs);
        continue;
      }
      if (!isRegrouped(column->second, input.shape)) reportShape(input, column->second);
      if (const auto classes = m_columns.classes.find(input.variable);
          classes != m_columns.classes.end() && input.type == DataType::i32)
        checkClasses(input, classes->second);
    }
  }

 private:
  void add(Problem problem) {
    const bool told = std::any_of(m_problems.begin(), m_problems.end(), [&](const Problem& other) {
      return other.network == problem.network && other.node == problem.node && other.field == problem.field &&
             other.remedy.value == problem.remedy.value;
    });
    if (!told) m_problems.push_back(std::move(problem));
  }

  void reportMissing(const DatasetInput& input, const std::vector<DatasetInput>& inputs) {
    std::vector<std::string> names, free, alike;  // alike: of another size, as pictures are that a step resizes
    for (const auto& [name, shape] : m_columns.shapes) {
      names.push_back(name);
      const bool used = std::any_of(inputs.begin(), inputs.end(),
                                    [&name = name](const DatasetInput& other) { return other.variable == name; });
      if (!used && shape.elements() == input.shape.elements())
        free.push_back(name);
      else if (!used && shape.rank() > 1 && shape.rank() == input.shape.rank())
        alike.push_back(name);
    }
    Problem problem{
        .network = m_network.name,
        .node = input.node,
        .field = "variable",
        .message = fmt::format("{}: dataset '{}' has no variable '{}'; it has {}", clipped(input.node),
                               m_columns.dataset, clipped(input.variable),
                               names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", ")))};
    const std::string near = nearest(input.variable, names);
    const std::string meant = free.size() == 1 ? free[0] : free.empty() && alike.size() == 1 ? alike[0] : near;
    if (!meant.empty())
      problem.remedy = {.kind = Remedy::Kind::setField,
                        .label = fmt::format("Take the variable {}", meant),
                        .field = "variable",
                        .value = meant};
    add(std::move(problem));
  }

  void reportShape(const DatasetInput& input, const Shape& has) {
    add({.network = m_network.name,
         .node = input.node,
         .field = "shape",
         .message = fmt::format("{}: the shape is {} ({} values), but '{}' of dataset '{}' is {} ({} values)",
                                clipped(input.node), input.shape.toString(), input.shape.elements(), input.variable,
                                m_columns.dataset, has.toString(), has.elements()),
         .remedy = {.kind = Remedy::Kind::setField,
                    .label = fmt::format("Set shape to {}", has.toString()),
                    .field = "shape",
                    .value = Json(has.extents())}});
  }

  void checkClasses(const DatasetInput& input, std::int64_t classes) {
    const std::ptrdiff_t from = m_graph.find(input.node);
    if (from < 0) return;
    for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
      const GraphNode& node = m_graph.nodes()[i];
      if (!node.layer) continue;
      const auto wired = [&](std::size_t port) {
        return port < node.inputs.size() &&
               std::any_of(node.inputs[port].begin(), node.inputs[port].end(),
                           [&](const GraphSource& source) { return source.node == static_cast<std::size_t>(from); });
      };
      if (node.layer->entry.id == "Embedding" && wired(0)) checkVocabulary(input, classes, node);
      if (isResult(node.layer->role) && wired(1) && node.layer->entry.inputs[1].type == PortType::labels)
        checkScores(input, classes, node);
    }
  }

  void checkVocabulary(const DatasetInput& input, std::int64_t classes, const GraphNode& node) {
    try {
      const std::int64_t has = Values(node.layer->entry, node.node->values).integer("vocabulary");
      if (has >= classes) return;
      add({.network = m_network.name,
           .node = node.node->id,
           .field = "vocabulary",
           .message = fmt::format("{}: the vocabulary has {} symbols, but '{}' of dataset '{}' goes up to {}",
                                  clipped(node.node->id), has, input.variable, m_columns.dataset, classes - 1),
           .remedy = {.kind = Remedy::Kind::setField,
                      .label = fmt::format("Set vocabulary to {}", classes),
                      .field = "vocabulary",
                      .value = classes}});
    } catch (const Error&) {
      return;  // analyse() tells what is wrong with the field
    }
  }

  void checkScores(const DatasetInput& input, std::int64_t classes, const GraphNode& node) {
    if (node.inputs[0].empty()) return;
    const GraphSource& source = node.inputs[0][0];
    const std::string& scorer = m_graph.nodes()[source.node].node->id;
    const auto facts = m_analysis.nodes.find(scorer);
    if (facts == m_analysis.nodes.end() || !facts->second.known || facts->second.outputs[source.port].rank() == 0)
      return;
    const std::int64_t scores = facts->second.outputs[source.port][-1];
    if (scores >= classes) return;
    Shape wanted = facts->second.outputs[source.port];
    wanted[-1] = classes;
    std::vector<NodeFacts> byIndex;
    for (const GraphNode& each : m_graph.nodes()) {
      const auto known = m_analysis.nodes.find(each.node->id);
      byIndex.push_back(known == m_analysis.nodes.end() ? NodeFacts{} : known->second);
    }
    Remedy remedy =
        findRemedyFor(m_graph, byIndex, source, wanted, [&](const Shape& shape) { return shape == wanted; });
    add({.network = m_network.name,
         .node = scorer,
         .field = "outputs",
         .message = fmt::format("{}: gives {}, but '{}' of dataset '{}' has labels up to {}, which is {}",
                                clipped(scorer), counted(scores, "scores"), input.variable, m_columns.dataset,
                                classes - 1, counted(classes, "classes")),
         .remedy = std::move(remedy)});
  }

  const Network& m_network;
  const Analysis& m_analysis;
  const KnownColumns& m_columns;
  std::vector<Problem>& m_problems;
  std::vector<Problem> m_ignored;  // of the graph: told by analyse()
  Graph m_graph;
};

}  // namespace

bool isRegrouped(const Shape& values, const Shape& as) {
  // Where an axis ends, in numbers.
  const auto ends = [](const Shape& shape) {
    std::vector<std::int64_t> products;
    std::int64_t product = 1;
    for (const std::int64_t extent : shape)
      if (extent != 1) products.push_back(product *= extent);
    return products;
  };
  if (values.elements() != as.elements()) return false;
  if (values.elements() == 0) return true;
  const std::vector<std::int64_t> some = ends(values), others = ends(as);
  if (values.rank() == as.rank()) return some == others;
  return std::includes(some.begin(), some.end(), others.begin(), others.end()) ||
         std::includes(others.begin(), others.end(), some.begin(), some.end());
}

void checkColumns(const Network& network, const Analysis& analysis, const KnownColumns* columns,
                  std::vector<Problem>& problems) {
  if (columns) ColumnChecker(network, analysis, *columns, problems).run();
}

}  // namespace loom
