#include "engine/training/methods/method.h"

#include <algorithm>

namespace loom {
namespace {

constexpr MethodPlace kPlaces[] = {MethodPlace::perturbation, MethodPlace::gradients, MethodPlace::afterwards};

// What stands where none is chosen.
const char* plainOf(MethodPlace place) {
  return place == MethodPlace::gradients ? "synchronous" : "none";
}

Field fieldOf(MethodPlace place) {
  Field field{.key = settingOf(place), .type = FieldType::choice, .defaultValue = plainOf(place)};
  switch (place) {
    case MethodPlace::perturbation:
      field.label = "Gradients taken at";
      field.help = "Where in the space of weights a step's gradient is taken. The step itself begins at the weights.";
      field.choices = {{"none", "The weights", "As always."}};
      break;
    case MethodPlace::gradients:
      field.label = "Gradients applied";
      field.help = "Which step's gradients a step applies.";
      field.choices = {{"synchronous", "At once", "A step's own, when all ranks have theirs."}};
      break;
    case MethodPlace::afterwards:
      field.label = "Behind the update";
      field.help = "What becomes of the weights behind the rule's step.";
      field.choices = {{"none", "Nothing", "They stay as the rule left them."}};
      break;
  }
  return field;
}

}  // namespace

const char* settingOf(MethodPlace place) {
  switch (place) {
    case MethodPlace::perturbation:
      return "perturbation";
    case MethodPlace::gradients:
      return "gradients";
    case MethodPlace::afterwards:
      break;
  }
  return "afterwards";
}

const MethodDefinition* findMethod(std::string_view id) {
  for (const MethodDefinition* row : methodTable())
    if (row->entry.id == id) return row;
  return nullptr;
}

bool MethodCompany::has(const char* key, std::string_view value) const {
  if (!settings.is_object()) return false;
  const auto found = settings.find(key);
  return found != settings.end() && found->is_string() && found->get<std::string>() == value;
}

bool MethodCompany::isOn(const char* key) const {
  if (!settings.is_object()) return false;
  const auto found = settings.find(key);
  return found != settings.end() && found->is_boolean() && found->get<bool>();
}

std::vector<MethodChoice> methodsIn(const Json& settings) {
  std::vector<MethodChoice> chosen;
  for (const MethodPlace place : kPlaces) {
    const auto name = settings.is_object() ? settings.find(settingOf(place)) : settings.end();
    if (!settings.is_object() || name == settings.end() || !name->is_string()) continue;
    const MethodDefinition* row = findMethod(name->get<std::string>());
    if (!row || row->place != place) continue;
    MethodChoice& choice = chosen.emplace_back(MethodChoice{.row = row});
    for (const Field& field : row->entry.fields)
      if (const auto given = settings.find(field.key); given != settings.end()) choice.values[field.key] = *given;
  }
  return chosen;
}

MethodCost methodCost(const Json& settings) {
  MethodCost all;
  for (const MethodChoice& choice : methodsIn(settings)) {
    const MethodCost one = choice.row->cost(choice.values);
    all.slots += one.slots;
    all.copies += one.copies;
    all.computes *= one.computes;
  }
  return all;
}

std::optional<MethodRefusal> refusedMethods(const MethodCompany& company) {
  if (company.has("evaluated_weights", "average") && !company.evaluates.empty())
    return MethodRefusal{"the rule " + company.evaluates.front() +
                             " has weights to evaluate of its own, so an average beside them would be evaluated by "
                             "nobody; set evaluated_weights to last",
                         "evaluated_weights", "last"};
  if (company.isOn("shard_optimizer") && (company.has("evaluated_weights", "average") || !company.evaluates.empty()))
    return MethodRefusal{
        "optimizer state that ranks share has no weights to evaluate on each of them; set "
        "shard_optimizer to false, or evaluate the last weights by a rule without an average",
        "shard_optimizer", false};
  for (const MethodChoice& choice : methodsIn(company.settings))
    if (choice.row->refuse)
      if (auto refusal = choice.row->refuse(company)) return refusal;
  return std::nullopt;
}

std::vector<Field> methodFields() {
  std::vector<Field> fields;
  for (const MethodPlace place : kPlaces) {
    Field choice = fieldOf(place);
    std::vector<Field> own;
    for (const MethodDefinition* row : methodTable()) {
      if (row->place != place) continue;
      choice.choices.push_back({row->entry.id, row->entry.label, row->entry.summary});
      for (Field field : row->entry.fields) {
        field.onlyWhen = choice.key + "=" + row->entry.id;
        own.push_back(std::move(field));
      }
    }
    fields.push_back(std::move(choice));
    fields.insert(fields.end(), own.begin(), own.end());
  }
  return fields;
}

std::string methodSlot(const std::string& slot, int update) {
  return update == 0 ? slot : slot + "@" + std::to_string(update);
}

}  // namespace loom
