// Values of expressions: in fields, in what a node gives to its unit, in an argument's default.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/catalogue/text.h"
#include "engine/network/flattener.h"
#include "engine/network/unit_values.h"

namespace loom {
namespace {

bool takesExpressions(FieldType type) {
  return type != FieldType::text && type != FieldType::texts && type != FieldType::file;
}

Json asJson(double value) {
  return std::abs(value) <= 9e15 && value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// What a person can read the place by: letters of the text, from 1.
std::size_t letterAt(const std::string& text, std::size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  return 1 + static_cast<std::size_t>(std::count_if(
                 text.begin(), end, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

const Flattener::Parsed& Flattener::parse(const std::string& text) {
  const auto [found, isNew] = m_parsed.try_emplace(text);
  if (isNew) {
    try {
      found->second.expression.emplace(std::string_view(text).substr(1));
    } catch (const ExpressionError& error) {
      found->second.fault = {error.message(), error.position() + 1, {}};
    }
  }
  return found->second;
}

Flattener::Found Flattener::evaluate(const std::string& text, const Place& place, Fault& fault) {
  const Parsed& parsed = parse(text);
  if (!parsed.expression) {
    fault = parsed.fault;
    return {};
  }
  const Expression& expression = *parsed.expression;
  std::vector<double> values;
  State state = State::known;
  for (const Expression::Name& name : expression.names()) {
    Fault own;
    Found found = number(name, place, own);
    if (found.state == State::known && expression.isName()) return found;  // a text, a list: as it is
    if (found.state == State::known && !found.value.is_number()) {
      own = {fmt::format("'{}' is {}, but a number is wanted to calculate with", name.name, shown(found.value)),
             name.position,
             {}};
      found.state = State::failed;
    }
    if (found.state == State::failed) {
      fault = std::move(own);
      if (fault.position) *fault.position += 1;
      if (!fault.better.empty())
        fault.better =
            text.substr(0, name.position + 1) + fault.better + text.substr(name.position + 1 + name.name.size());
      return {};
    }
    if (found.state == State::needsShapes) state = State::needsShapes;
    values.push_back(found.state == State::known ? found.value.get<double>() : 1.0);
  }
  if (state == State::needsShapes) return {state, {}};
  try {
    return {State::known, asJson(expression.evaluate(values))};
  } catch (const ExpressionError& error) {
    fault.message = error.message();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Expression::Name& name = expression.names()[i];
      fault.message += fmt::format("{} {}{} is {}", i == 0 ? ";" : ",", name.name,
                                   name.index ? fmt::format("[{}]", *name.index) : "", shown(values[i]));
    }
    return {};
  }
}

Flattener::Found Flattener::number(const Expression::Name& name, const Place& place, Fault& fault) {
  if (name.index) return extent(name, place, fault);
  const DrawingPlan& plan = *m_uses[place.use].plan;
  std::vector<std::string> known;
  if (place.repeat >= 0) {
    if (name.name == "i") return {State::known, place.repeat};
    known.emplace_back("i");
  }
  for (std::size_t at = place.use; m_uses[at].body != 0; at = m_flat.uses[at].parent) {
    const Group& group = plan.drawing->groups[static_cast<std::size_t>(m_flat.uses[at].group)];
    if (name.name == group.counter) return {State::known, m_flat.uses[at].repeat};
    known.push_back(clipped(group.counter));
  }
  const std::size_t root = m_uses[place.use].root;
  const std::vector<Argument>& arguments = plan.drawing->arguments;
  const std::size_t given = m_uses[root].arguments.size();  // while defaults are found: those before
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i < given && arguments[i].name == name.name) {
      Found found = argument(root, i, fault);
      if (found.state == State::known && found.value.is_boolean()) found.value = found.value.get<bool>() ? 1 : 0;
      return found;
    }
    if (i < given)
      known.push_back(arguments[i].name);
    else if (arguments[i].name == name.name) {
      fault = {fmt::format("'{}' stands further down: a default may use the arguments before it", name.name),
               name.position,
               {}};
      return {};
    }
  }
  fault = {fmt::format("there is no '{}'", clipped(name.name)), name.position, nearest(name.name, known)};
  if (name.name == "Input" || plan.byId.count(name.name))
    fault.message = fmt::format("'{}' is a shape, of which an axis is wanted, such as {}[0]", clipped(name.name),
                                clipped(name.name));
  else if (!fault.better.empty())
    fault.message += fmt::format(": did you mean '{}'?", fault.better);
  else if (!known.empty())
    fault.message += fmt::format("; there are {} and shapes such as Input[0]", fmt::join(known, ", "));
  else
    fault.message += "; there are shapes such as Input[0], and in a unit its arguments";
  return {};
}

// "Input[0]": of what leads to the node itself, by its first pin or by the pin's name; else of a node of the same
// drawing.
Flattener::Found Flattener::extent(const Expression::Name& name, const Place& place, Fault& fault) {
  const DrawingPlan& plan = *m_uses[place.use].plan;
  const auto fail = [&](std::string message) {
    fault = {std::move(message), name.position, {}};
    return Found{};
  };
  const auto node = static_cast<std::size_t>(std::max<std::ptrdiff_t>(place.node, 0));
  const Node* const own = place.node < 0 ? nullptr : &plan.drawing->nodes[node];
  std::ptrdiff_t edge = -1, pin = -1;
  bool isPin = false;
  if (own && own->unit.empty()) {
    if (const LayerDefinition* layer = findLayer(own->layer)) {
      for (const Port& port : layer->entry.inputs) {
        if (name.name != port.key && !(name.name == "Input" && &port == &layer->entry.inputs[0])) continue;
        isPin = true;
        edge = plan.edgeTo(node, port.key);
        for (const std::size_t e : plan.incoming[node])  // of several the first
          if (plan.drawing->edges[e].to.port == port.key) {
            edge = static_cast<std::ptrdiff_t>(e);
            break;
          }
        break;
      }
    }
  } else if (own) {
    if (const Network* unit = m_project.unit(own->unit)) {
      const DrawingPlan& inside = this->plan(*unit);
      pin = name.name == "Input" && !inside.inputs.empty() ? 0 : inside.pin(inside.inputs, name.name);
      isPin = pin >= 0;
      if (isPin) edge = plan.edgeTo(node, unit->nodes[inside.inputs[static_cast<std::size_t>(pin)]].id);
    }
  }
  const auto other = plan.byId.find(name.name);
  if (!isPin && other == plan.byId.end() && !(name.name == "Input" && !own && !plan.inputs.empty()))
    return fail(name.name == "Input" ? std::string("'Input' is what is wired to the node, but it takes no wire")
                                     : fmt::format("there is no input and no node '{}'", clipped(name.name)));
  if (!m_asked && !m_shapes) return {State::needsShapes, {}};
  FlatPin source;
  if (isPin && pin >= 0 && place.unitUse >= 0)
    source = inputOf(static_cast<std::size_t>(place.unitUse), static_cast<std::size_t>(pin));
  else if (isPin) {
    if (edge < 0 || plan.wires[static_cast<std::size_t>(edge)].from < 0) return {};  // told as a missing wire
    source = resolve(place.use, static_cast<std::size_t>(plan.wires[static_cast<std::size_t>(edge)].from),
                     plan.drawing->edges[static_cast<std::size_t>(edge)].from.port);
  } else {
    source = resolve(place.use, other != plan.byId.end() ? other->second : plan.inputs[0], std::string());
  }
  if (source.node < 0) return {};
  if (m_asked) {
    m_asked->push_back(static_cast<std::size_t>(source.node));
    return {State::needsShapes, {}};
  }
  const std::vector<Shape>& shapes = (*m_shapes)[static_cast<std::size_t>(source.node)];
  if (shapes.empty()) return {};  // why not is told there
  const auto rank = static_cast<std::int64_t>(shapes[0].rank());
  const std::int64_t axis = *name.index < 0 ? *name.index + rank : *name.index;
  if (axis < 0 || axis >= rank)
    return fail(rank == 0 ? fmt::format("'{}' is one number, without an axis", name.name)
                          : fmt::format("'{}' is {}, whose axes are 0 to {}, but {} is asked for", name.name,
                                        shapes[0].toString(), rank - 1, *name.index));
  return {State::known, shapes[0][static_cast<std::ptrdiff_t>(axis)]};
}

Flattener::Found Flattener::argument(std::size_t root, std::size_t index, Fault& fault) {
  const ArgumentValue& value = m_uses[root].arguments[index];
  if (value.state != State::needsShapes) return {value.state, value.state == State::known ? value.value : Json()};
  if (!m_asked && !m_shapes) return {State::needsShapes, {}};
  if (value.beingFound) {
    fault = {fmt::format("'{}' follows from itself", m_uses[root].plan->drawing->arguments[index].name), {}, {}};
    return {};
  }
  const std::string text = value.value.get<std::string>();
  const Place place = value.place;
  m_uses[root].arguments[index].beingFound = true;
  Fault own;
  const Found found = evaluate(text, place, own);
  ArgumentValue& kept = m_uses[root].arguments[index];
  kept.beingFound = false;
  if (m_asked) return found;
  kept.state = found.state;
  if (found.state == State::known) kept.value = found.value;
  if (found.state == State::failed && place.node >= 0)
    tellFault(place.use, m_uses[place.use].plan->drawing->nodes[static_cast<std::size_t>(place.node)],
              m_uses[root].plan->drawing->arguments[index].name, text, own, place.repeat);
  return found;
}

// All arguments of one use of a unit: what the node gives, as seen from there, or the default, as seen from inside.
void Flattener::findArguments(std::size_t unitUse, const Place& place) {
  const Network& unit = *m_uses[unitUse].plan->drawing;
  const Node* const node =
      place.node < 0 ? nullptr : &m_uses[place.use].plan->drawing->nodes[static_cast<std::size_t>(place.node)];
  for (const Argument& argument : unit.arguments) {
    const bool isGiven = node && node->values.contains(argument.name) && !node->values[argument.name].is_null();
    ArgumentValue found;
    found.value = isGiven ? node->values[argument.name] : argument.defaultValue;
    found.place = isGiven ? place : Place{unitUse};
    found.state = found.value.is_null() || !isArgumentValue(found.value) || !isAlike(found.value, argument.defaultValue)
                      ? State::failed
                      : State::known;
    if (isExpression(found.value)) {
      const std::string text = found.value.get<std::string>();
      Fault fault;
      Found result = evaluate(text, found.place, fault);
      found.state = result.state;
      if (result.state == State::known) found.value = std::move(result.value);
      if (result.state == State::failed && isGiven)
        tellFault(place.use, *node, argument.name, text, fault, place.repeat);
      if (result.state == State::failed && !isGiven && !fault.message.empty())
        tell(unitUse, "", "arguments." + argument.name,
             fmt::format("the argument '{}' of {}: {}: {}", argument.name, clipped(unit.name),
                         shown(argument.defaultValue), fault.message));
    } else if (found.value.is_array()) {
      for (Json& item : found.value) {
        if (!isExpression(item)) continue;
        const std::string text = item.get<std::string>();
        Fault fault;
        Found result = evaluate(text, found.place, fault);
        if (result.state == State::known) {
          item = std::move(result.value);
          continue;
        }
        if (result.state == State::needsShapes)
          fault.message = "of a list of numbers none may follow from a shape: make an argument of its own of it";
        found.state = State::failed;
        if (isGiven) tellFault(place.use, *node, argument.name, text, fault, place.repeat);
      }
    }
    m_uses[unitUse].arguments.push_back(std::move(found));
  }
}

// What the node gives against what the unit takes; the same in all repeats.
void Flattener::checkArguments(std::size_t use, const Node& node, const Network& unit) {
  std::vector<std::string> known;
  for (const Argument& argument : unit.arguments) known.push_back(argument.name);
  for (const auto& [key, value] : node.values.items()) {
    const Argument* const argument = unit.argument(key);
    if (!argument) {
      tell(use, node.id, key,
           fmt::format("{}: {}", clipped(node.id),
                       known.empty() ? fmt::format("unknown key '{}': the unit {} has no arguments", clipped(key),
                                                   clipped(unit.name))
                                     : unknownKey(key, known)),
           {.kind = Remedy::Kind::removeField, .label = fmt::format("Remove {}", clipped(key, 30)), .field = key});
      continue;
    }
    const Json& usual = argument->defaultValue;
    const auto kind = [](const Json& given) {
      return given.is_boolean() ? "a truth value" : given.is_string() ? "a text" : "a number";
    };
    if (!isAlike(value, usual))
      tell(use, node.id, key,
           fmt::format("{}: '{}' is {}, but {} is wanted, such as {}", clipped(node.id), key, shown(value), kind(usual),
                       shown(usual)),
           {.kind = Remedy::Kind::removeField,
            .label = fmt::format("Set {} to its default, {}", key, shown(usual)),
            .field = key});
    else if (const Json out = outOfRange(value, argument->range); !out.is_null())
      tell(use, node.id, key,
           fmt::format("{}: '{}' is {}: the unit {} takes {}", clipped(node.id), key, shown(out), clipped(unit.name),
                       rangeWords(argument->range)),
           {.kind = Remedy::Kind::removeField,
            .label = fmt::format("Set {} to its default, {}", key, shown(usual)),
            .field = key});
  }
  for (const Argument& argument : unit.arguments)
    if (argument.defaultValue.is_null() &&
        (!node.values.contains(argument.name) || node.values[argument.name].is_null()))
      tell(use, node.id, argument.name,
           fmt::format("{}: '{}' is missing: the unit {} has no default for it{}{}", clipped(node.id), argument.name,
                       clipped(unit.name), argument.help.empty() ? "" : ": ", argument.help));
}

void Flattener::findValue(std::size_t flat, const std::string& key, Json& value) {
  const LayerDefinition* const layer = findLayer(m_flat.network.nodes[flat].layer);
  const Field* const field = layer ? layer->entry.field(key) : nullptr;
  if (!field || !takesExpressions(field->type)) return;
  const bool isList = value.is_array();
  if (!isExpression(value) && !isList) return;
  bool later = false, failed = false;
  Json found = value;
  if (isList) {
    for (Json& item : found) {
      if (!isExpression(item)) continue;
      if (std::optional<Json> number = findElement(*field, item, flat, false, later))
        item = std::move(*number);
      else
        failed = true;
    }
  } else if (std::optional<Json> number = findElement(*field, value, flat, true, later)) {
    found = std::move(*number);
  } else {
    failed = true;
  }
  if (!failed) {
    value = std::move(found);
    return;
  }
  if (later && !m_shapes) m_pending.push_back({flat, key});
  if (isList) value = "=" + shown(value);  // unknown as a whole
}

std::optional<Json> Flattener::findElement(const Field& field, const Json& item, std::size_t flat, bool isAlone,
                                           bool& later) {
  const DrawnNode& origin = m_flat.origins[flat];
  if (!origin.drawing) return std::nullopt;
  const std::string& text = item.get_ref<const std::string&>();
  Fault fault;
  Found found = evaluate(text, {origin.use, static_cast<std::ptrdiff_t>(origin.node)}, fault);
  if (found.state == State::needsShapes) {
    later = true;
    return std::nullopt;
  }
  const bool isWhole =
      field.type == FieldType::integer || field.type == FieldType::integers || field.type == FieldType::shape;
  if (found.state == State::known && found.value.is_number() && isWhole) {
    const double value = found.value.get<double>();
    if (const std::optional<std::int64_t> whole = wholeNumber(value))
      found.value = *whole;
    else {
      fault.message =
          std::abs(value) > 9e15
              ? fmt::format("it is {}, which is more than a whole number can be here", shown(value))
              : fmt::format("it is {}, but a whole number is wanted: floor(...) or ceil(...) rounds it", shown(value));
      found.state = State::failed;
    }
  }
  if (found.state == State::known && found.value.is_number() && field.type == FieldType::boolean)
    found.value = found.value.get<double>() != 0;
  if (found.state == State::known && found.value.is_number() && isAlone &&
      (field.type == FieldType::shape || field.type == FieldType::reals))
    found.value = Json::array({found.value});
  if (found.state == State::known) return found.value;
  tellFault(origin.use, origin.drawing->nodes[origin.node], field.key, text, fault, -1);
  return std::nullopt;
}

void Flattener::tellFault(std::size_t use, const Node& node, const std::string& field, const std::string& text,
                          const Fault& fault, std::int64_t repeat) {
  if (fault.message.empty()) return;
  Remedy remedy;
  if (!fault.better.empty())
    remedy = {.kind = Remedy::Kind::setField,
              .label = fmt::format("Write {}", clipped(fault.better)),
              .field = field,
              .value = fault.better};
  tell(use, node.id, field,
       fmt::format("{}: '{}' is {}{}{}: {}", clipped(node.id), field, shown(Json(text)),
                   fault.position ? fmt::format(", character {}", letterAt(text, *fault.position)) : "",
                   repeat >= 0 ? fmt::format(", at repeat {}", repeat) : "", fault.message),
       std::move(remedy));
}

}  // namespace loom
