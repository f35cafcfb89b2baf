// Inspector: names in expressions, and what they come to where the selected node stands.
#include <cmath>

#include "app/pages/network/inspector.h"
#include "engine/base/expression.h"
#include "engine/network/flatten.h"
#include "widgets/chart/format.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

struct Scope {
  std::map<std::string, Json> values;  // null: a name that has no value yet
  std::vector<Shape> inputs;
  bool counts = false;

  // Throws ExpressionError; empty where a value is missing.
  std::optional<double> evaluate(const Expression& expression) const {
    std::vector<double> numbers;
    for (const Expression::Name& name : expression.names()) {
      if (name.index) {
        if (name.name != "Input" || inputs.empty()) return std::nullopt;
        const auto& extents = inputs.front().extents();
        if (*name.index < 0 || *name.index >= static_cast<std::int64_t>(extents.size())) return std::nullopt;
        numbers.push_back(static_cast<double>(extents[static_cast<std::size_t>(*name.index)]));
        continue;
      }
      const auto known = values.find(name.name);
      if (known == values.end() || !(known->second.is_number() || known->second.is_boolean())) return std::nullopt;
      numbers.push_back(known->second.is_boolean() ? static_cast<double>(known->second.get<bool>())
                                                   : known->second.get<double>());
    }
    return expression.evaluate(numbers);
  }
};

QString numberText(double value) {
  const auto whole = wholeNumber(value);
  return whole ? QString::number(*whole) : formatShort(value);
}

SymbolValue ask(const Scope& scope, const QString& text) {
  SymbolValue answer;
  try {
    const Expression expression(text.toStdString());
    if (expression.names().empty()) return answer;
    for (const Expression::Name& name : expression.names())
      if (!scope.values.contains(name.name) && !(name.name == "Input" && name.index)) {
        QStringList known;
        for (const auto& [each, value] : scope.values) known += q(each);
        answer.problem = known.isEmpty() ? Inspector::tr("there is no argument '%1' here").arg(q(name.name))
                                         : Inspector::tr("there is no argument '%1' here: %2")
                                               .arg(q(name.name), known.join(QStringLiteral(", ")));
        return answer;
      }
    answer.named = true;
    if (expression.isName() && !expression.names().front().index) {
      const Json& value = scope.values.at(expression.names().front().name);
      if (value.is_boolean())
        answer.value = value.get<bool>() ? Inspector::tr("on") : Inspector::tr("off");
      else if (value.is_string() && !isExpression(value))
        answer.value = q(value.get<std::string>());
    }
    if (const auto value = scope.evaluate(expression); value && answer.value.isEmpty())
      answer.value = numberText(*value);
  } catch (const ExpressionError& error) {
    answer.problem = QString::fromUtf8(error.what());
  }
  return answer;
}

}  // namespace

// Arguments of the unit with their values in its first use, counters of repeats around the node, extents of what comes
// in.
static Scope scopeOf(const NetworkScene& scene, const std::string& id) {
  Scope scope;
  const Project& project = scene.document().project();
  const Network& drawing = scene.network();
  const Node* node = drawing.find(id);
  for (const Argument& argument : drawing.arguments)
    scope.values[argument.name] = isExpression(argument.defaultValue) ? Json() : argument.defaultValue;
  const UnitUse& shown = scene.use();
  if (const Node* use = shown.node.empty() ? nullptr : scene.document().node(shown.drawing, shown.node);
      use != nullptr && use->unit == drawing.name) {
    for (const auto& [name, value] : use->values.items())
      if (scope.values.contains(name) && !isExpression(value)) scope.values[name] = value;
  } else if (!drawing.arguments.empty()) {
    const auto take = [&](const Network& network) {
      const FlatNetwork flat = flatten(project, network);
      for (const DrawingUse& use : flat.uses) {
        if (use.drawing != &drawing || use.node < 0) continue;
        for (const auto& [name, value] : use.arguments.items()) scope.values[name] = value;
        return true;
      }
      return false;
    };
    for (const Network& network : project.networks)
      if (take(network)) break;
  }
  for (const Group* group = node == nullptr ? nullptr : drawing.group(node->group); group != nullptr;
       group = drawing.group(group->parent))
    if (repeats(*group)) scope.values.emplace(group->counter, 0);
  if (node != nullptr && !node->unit.empty() && repeats(*node)) scope.values.emplace("i", 0);
  const auto facts = scene.analysis().nodes.find(id);
  if (facts != scene.analysis().nodes.end()) scope.inputs = facts->second.inputs;
  return scope;
}

Symbols Inspector::symbolsFor(const std::string& node) const {
  const auto scope = std::make_shared<Scope>(scopeOf(*m_scene, node));
  Symbols symbols;
  for (const auto& [name, value] : scope->values) symbols.names += q(name);
  symbols.evaluate = [scope](const QString& text) { return ask(*scope, text); };
  return symbols;
}

Json Inspector::computedValues(const Entry& entry, const Json& given) const {
  const bool any = std::any_of(given.begin(), given.end(), [](const Json& value) {
    return isExpression(value) || (value.is_array() && std::any_of(value.begin(), value.end(), [](const Json& each) {
                                     return isExpression(each);
                                   }));
  });
  if (!any) return given;
  const Scope scope = scopeOf(*m_scene, m_nodes.size() == 1 ? m_nodes.front() : std::string());
  const auto compute = [&](const Json& value, bool whole) -> Json {
    try {
      const Expression expression(value.get<std::string>().substr(1));
      if (expression.isName() && !expression.names().front().index) {
        const auto known = scope.values.find(expression.names().front().name);
        return known == scope.values.end() ? Json() : known->second;
      }
      const auto number = scope.evaluate(expression);
      if (!number) return {};
      if (const auto integer = wholeNumber(*number); integer && whole) return *integer;
      return *number;
    } catch (const ExpressionError&) {
      return {};
    }
  };
  Json computed = Json::object();
  for (const auto& [key, value] : given.items()) {
    const Field* field = entry.field(key);
    const bool text = field != nullptr && (field->type == FieldType::text || field->type == FieldType::texts ||
                                           field->type == FieldType::file);
    const bool whole = field != nullptr && (field->type == FieldType::integer || field->type == FieldType::integers ||
                                            field->type == FieldType::shape);
    if (isExpression(value) && !text) {
      if (Json now = compute(value, whole); !now.is_null() && !isExpression(now)) computed[key] = std::move(now);
      continue;
    }
    if (!value.is_array()) {
      computed[key] = value;
      continue;
    }
    Json list = Json::array();
    for (const Json& each : value) list.push_back(isExpression(each) && !text ? compute(each, whole) : each);
    if (std::none_of(list.begin(), list.end(), [](const Json& each) { return each.is_null(); }))
      computed[key] = std::move(list);
  }
  return computed;
}

}  // namespace loom
