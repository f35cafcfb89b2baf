#include "widgets/document/unit_entry.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "engine/network/flatten.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

constexpr std::size_t kImportant = 3;

bool allNumbers(const Json& list, bool whole) {
  return std::all_of(list.begin(), list.end(),
                     [&](const Json& each) { return whole ? each.is_number_integer() : each.is_number(); });
}

Field fieldOf(const Argument& argument) {
  Field field;
  field.key = argument.name;
  field.label = argument.label.empty() ? argument.name : argument.label;
  field.help = argument.help;
  field.defaultValue = argument.defaultValue;
  const Json& value = argument.defaultValue;
  if (value.is_boolean())
    field.type = FieldType::boolean;
  else if (value.is_number_integer())
    field.type = FieldType::integer;
  else if (value.is_array() && allNumbers(value, true))
    field.type = FieldType::integers;
  else if (value.is_array() && allNumbers(value, false))
    field.type = FieldType::reals;
  else if (value.is_string() && !isExpression(value))
    field.type = FieldType::text;
  else
    field.type = FieldType::real;
  if (value.is_array()) field.count = static_cast<int>(value.size());
  if (argument.range.is_array() && argument.range.size() == 2) {
    const double open = std::numeric_limits<double>::infinity();
    field.hard = Range{argument.range[0].is_number() ? argument.range[0].get<double>() : -open,
                       argument.range[1].is_number() ? argument.range[1].get<double>() : open};
  }
  return field;
}

}  // namespace

Entry unitEntry(const Project& project, const Network& unit) {
  Entry entry;
  entry.id = unit.name;
  entry.label = unit.name;
  entry.category = "unit";
  entry.icon = "unit";
  const std::size_t uses = usesOf(project, unit.name).size();
  const std::size_t nodes = unit.nodes.size() - unitInputs(unit).size() - unitOutputs(unit).size();
  entry.summary =
      fmt::format("Unit of {} node{}, used {} time{}", nodes, nodes == 1 ? "" : "s", uses, uses == 1 ? "" : "s");
  if (!unit.words.icon.empty()) entry.icon = unit.words.icon;
  entry.help = unit.words.help.empty()
                   ? "A drawing of this project that stands here as one node. Space opens it in place, Enter its tab."
                   : unit.words.help;
  Node use;
  use.unit = unit.name;
  NodePorts ports = portsOf(project, use);
  entry.inputs = std::move(ports.inputs);
  entry.outputs = std::move(ports.outputs);
  for (const Argument& argument : unit.arguments) {
    entry.fields.push_back(fieldOf(argument));
    entry.fields.back().important = entry.fields.size() <= kImportant;
  }
  return entry;
}

Entry useEntry(const Project& project, const Network& unit) {
  Entry entry = unitEntry(project, unit);
  Field repeat;
  repeat.key = kRepeatKey;
  repeat.label = "Repeat";
  repeat.help = "So many times one behind the other. The arguments above may use the counter i, which counts from 0.";
  repeat.type = FieldType::integer;
  repeat.defaultValue = 1;
  repeat.hard = Range{1, static_cast<double>(kMostRepeats)};
  entry.fields.push_back(std::move(repeat));
  return entry;
}

Json useValues(const Node& use) {
  Json values = use.values;
  if (!use.repeat.is_null()) values[kRepeatKey] = use.repeat;
  return values;
}

}  // namespace loom
