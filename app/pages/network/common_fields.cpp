#include "app/pages/network/common_fields.h"

#include <algorithm>

namespace loom {

namespace {

bool alike(const Field& a, const Field& b) {
  const auto sameChoice = [](const Choice& x, const Choice& y) { return x.id == y.id; };
  return a.key == b.key && a.type == b.type && a.count == b.count && a.onlyWhen == b.onlyWhen &&
         std::equal(a.choices.begin(), a.choices.end(), b.choices.begin(), b.choices.end(), sameChoice);
}

Json valueOf(const Node& node, const std::string& key) {
  const auto given = node.values.find(key);
  if (given != node.values.end()) return *given;
  const LayerDefinition* layer = findLayer(node.layer);
  const Field* field = layer == nullptr ? nullptr : layer->entry.field(key);
  return field == nullptr ? Json() : field->defaultValue;
}

}  // namespace

Entry commonEntry(const std::vector<const Node*>& nodes) {
  Entry common;
  const LayerDefinition* first = nodes.empty() ? nullptr : findLayer(nodes.front()->layer);
  if (first == nullptr) return common;
  common = first->entry;
  std::erase_if(common.fields, [&](const Field& field) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      const LayerDefinition* layer = findLayer(node->layer);
      const Field* other = layer == nullptr ? nullptr : layer->entry.field(field.key);
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
    const Json first = valueOf(*nodes.front(), field.key);
    if (std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) { return valueOf(*node, field.key) != first; })) keys.push_back(field.key);
  }
  return keys;
}

Json commonValues(const Entry& entry, const std::vector<const Node*>& nodes) {
  Json values = Json::object();
  const std::vector<std::string> differing = differingKeys(entry, nodes);
  for (const Field& field : entry.fields) {
    if (std::find(differing.begin(), differing.end(), field.key) != differing.end()) continue;
    const Json value = valueOf(*nodes.front(), field.key);
    if (value != field.defaultValue) values[field.key] = value;
  }
  return values;
}

}  // namespace loom
