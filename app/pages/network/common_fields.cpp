#include "app/pages/network/common_fields.h"

#include <algorithm>

#include "widgets/document/unit_entry.h"

namespace loom {

namespace {

bool alike(const Field& a, const Field& b) {
  const auto sameChoice = [](const Choice& x, const Choice& y) { return x.id == y.id; };
  return a.key == b.key && a.type == b.type && a.count == b.count && a.onlyWhen == b.onlyWhen &&
         std::equal(a.choices.begin(), a.choices.end(), b.choices.begin(), b.choices.end(), sameChoice);
}

// Nodes of several layers may have other defaults of the same field.
Json valueOf(const Node& node, const Field& field) {
  const auto given = node.values.find(field.key);
  if (given != node.values.end()) return *given;
  const LayerDefinition* layer = node.unit.empty() ? findLayer(node.layer) : nullptr;
  const Field* own = layer == nullptr ? &field : layer->entry.field(field.key);
  return own == nullptr ? Json() : own->defaultValue;
}

}  // namespace

const Entry* entryOf(const Project& project, const Node& node, std::map<std::string, Entry>& units) {
  if (node.unit.empty()) {
    const LayerDefinition* layer = findLayer(node.layer);
    return layer == nullptr ? nullptr : &layer->entry;
  }
  const Network* unit = project.unit(node.unit);
  if (unit == nullptr) return nullptr;
  const auto known = units.find(node.unit);
  return known != units.end() ? &known->second : &(units[node.unit] = unitEntry(project, *unit));
}

Entry commonEntry(const Project& project, const std::vector<const Node*>& nodes) {
  Entry common;
  std::map<std::string, Entry> units;
  const Entry* first = nodes.empty() ? nullptr : entryOf(project, *nodes.front(), units);
  if (first == nullptr) return common;
  common = *first;
  std::erase_if(common.fields, [&](const Field& field) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      const Entry* entry = entryOf(project, *node, units);
      const Field* other = entry == nullptr ? nullptr : entry->field(field.key);
      return other == nullptr || !alike(field, *other);
    });
  });
  // A field that counts only beside another one (the deviation of a noise) stands in no form without that one.
  const auto alone = [&](const Field& field) {
    return !field.onlyWhen.empty() && common.field(field.onlyWhen.substr(0, field.onlyWhen.find('='))) == nullptr;
  };
  for (auto last = std::find_if(common.fields.begin(), common.fields.end(), alone); last != common.fields.end();
       last = std::find_if(common.fields.begin(), common.fields.end(), alone))
    common.fields.erase(last);
  return common;
}

std::vector<std::string> differingKeys(const Entry& entry, const std::vector<const Node*>& nodes) {
  std::vector<std::string> keys;
  for (const Field& field : entry.fields) {
    const Json first = valueOf(*nodes.front(), field);
    if (std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) { return valueOf(*node, field) != first; }))
      keys.push_back(field.key);
  }
  return keys;
}

Json commonValues(const Entry& entry, const std::vector<const Node*>& nodes) {
  Json values = Json::object();
  const std::vector<std::string> differing = differingKeys(entry, nodes);
  for (const Field& field : entry.fields) {
    if (std::find(differing.begin(), differing.end(), field.key) != differing.end()) continue;
    const Json value = valueOf(*nodes.front(), field);
    if (value != field.defaultValue) values[field.key] = value;
  }
  return values;
}

}  // namespace loom
