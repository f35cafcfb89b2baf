#include "engine/network/node_analysis.h"

#include <fmt/format.h>

#include <set>

#include "engine/catalogue/text.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace {

std::string valueText(const Json& value) {
  return value.is_array() || value.is_number() || value.is_string()
             ? shown(value.is_string() ? Json(clipped(value.get<std::string>())) : value)
             : shown(value);
}

}  // namespace

const std::string& scopeOf(const Node& node) {
  return node.shares.empty() ? node.id : node.shares;
}

bool checkFields(const GraphNode& node, const std::string& network, std::vector<Problem>& problems) {
  bool usable = true;
  const auto isOpen = [&](const std::string& key) {
    const auto value = node.node->values.find(key);
    const Field* field = node.layer->entry.field(key);
    return value != node.node->values.end() && isExpression(*value) && field && field->type != FieldType::text &&
           field->type != FieldType::texts && field->type != FieldType::file;
  };
  for (FieldProblem& found : validate(node.layer->entry, node.node->values)) {
    if (isOpen(found.key)) {
      usable = false;
      continue;
    }
    Problem problem{.severity = found.severity == FieldProblem::Severity::error ? Severity::error : Severity::warning,
                    .network = network,
                    .node = node.node->id,
                    .field = found.key,
                    .message = fmt::format("{}: {}", clipped(node.node->id), found.message)};
    const bool unknown = !found.key.empty() && !node.layer->entry.field(found.key);
    const Field* field = node.layer->entry.field(found.key);
    if (found.remedy) {
      problem.remedy = {.kind = Remedy::Kind::setField,
                        .label = fmt::format("Set {} to {}", found.key, valueText(*found.remedy)),
                        .field = found.key,
                        .value = *found.remedy};
    } else if (unknown || (problem.severity == Severity::warning && field)) {
      problem.remedy = {.kind = Remedy::Kind::removeField,
                        .label = fmt::format("Remove {}", clipped(found.key, 30)),
                        .field = found.key};
    } else if (field && !field->defaultValue.is_null()) {
      problem.remedy = {.kind = Remedy::Kind::removeField,
                        .label = fmt::format("Set {} to its default, {}", found.key, valueText(field->defaultValue)),
                        .field = found.key};
    }
    usable = usable && problem.severity == Severity::warning;
    problems.push_back(std::move(problem));
  }
  return usable;
}

bool inferShapes(const GraphNode& node, const std::string& network, NodeFacts& facts, std::vector<Problem>& problems) {
  Problem problem{.network = network, .node = node.node->id};
  try {
    const Values values(node.layer->entry, node.node->values);
    std::vector<Shape> outputs = node.layer->shapes({node.node->id, values, facts.inputs});
    std::int64_t count = 0;
    for (const Shape& output : outputs) {
      if (output.elements() > kMostValues)
        throwError(ErrorCode::badProject, "its output {} has {} values for one sample, but at most {} are possible",
                   output.toString(), output.elements(), kMostValues);
      count += output.elements();
    }
    facts.outputs = std::move(outputs);
    facts.outputValues = count;
    facts.known = true;
    return true;
  } catch (const LayerError& error) {
    problem.field = error.field();
    problem.message = fmt::format("{}: {}", clipped(node.node->id), error.message());
    if (!error.field().empty() && !error.remedy().is_null())
      problem.remedy = {.kind = Remedy::Kind::setField,
                        .label = fmt::format("Set {} to {}", error.field(), valueText(error.remedy())),
                        .field = error.field(),
                        .value = error.remedy()};
  } catch (const Error& error) {
    problem.message = fmt::format("{}: {}", clipped(node.node->id), error.message());
  }
  problems.push_back(std::move(problem));
  return false;
}

void shareWeights(const GraphNode& node, const std::string& network, const LayerCost& cost, NodeFacts& facts,
                  ParameterUses& uses, std::map<std::string, std::int64_t>& own, std::vector<Problem>& problems) {
  facts.parameters = 0;
  for (const LayerCost::Weight& weight : cost.weights) {
    const std::string name = scopeOf(*node.node) + "/" + weight.name;
    facts.parameters += weight.isState ? 0 : weight.shape.elements();
    const auto [use, isNew] = uses.emplace(name, ParameterUse{weight.shape, network, node.node->id, weight.isState});
    if (use->second.shape != weight.shape) {
      problems.push_back(
          {.network = network,
           .node = node.node->id,
           .field = "shares",
           .message = fmt::format(
               "{}: its parameter '{}' is {}, but {}{} uses the same one as {}: what has one name or shares must agree",
               clipped(node.node->id), clipped(name), weight.shape.toString(), clipped(use->second.node),
               clipped(use->second.network) == network ? ""
                                                       : fmt::format(" in network '{}'", clipped(use->second.network)),
               use->second.shape.toString())});
      return;
    }
    if (!weight.isState) own.emplace(name, weight.shape.elements());
  }
}

}  // namespace loom
