#include "engine/data/columns/target_meaning.h"

#include <cmath>

#include "engine/data/columns/column_plan.h"
#include "engine/data/prepare.h"

namespace loom {

double TargetMeaning::inUnits(double value) const {
  for (const Link& link : links)
    value = link.kind == Link::Kind::linear        ? value * link.by + link.add
            : link.kind == Link::Kind::exponential ? std::exp(value)
                                                   : std::expm1(value);
  return value;
}

std::string TargetMeaning::className(std::int64_t index) const {
  if (index >= 0 && index < static_cast<std::int64_t>(classes.size())) return classes[static_cast<std::size_t>(index)];
  return std::to_string(index);
}

std::string variableOf(const std::vector<Json>& prepare, const std::string& column) {
  // A step that names it makes it known where there is no file.
  std::vector<Json> steps = columnStepsOf(prepare);
  const ColumnPlan plan({column}, {}, steps, {.anyColumn = true});
  std::string variable;
  for (const ColumnTable::Slot& slot : plan.slots()) {
    if (slot.origin != column) continue;
    if (!variable.empty()) return {};
    variable = slot.name.substr(0, slot.name.find("__"));
  }
  return variable;
}

std::vector<TargetMeaning> meaningOf(const std::vector<Json>& prepare, const std::string& target) {
  std::vector<TargetMeaning> meanings;
  const ColumnPlan plan({}, {}, columnStepsOf(prepare), {.anyColumn = true});
  for (const ColumnTable::Slot& slot : plan.slots()) {
    if (slot.name != target && !slot.name.starts_with(target + "__")) continue;
    TargetMeaning& meaning = meanings.emplace_back();
    meaning.column = slot.origin;
    for (const auto& effect : slot.history)
      if (!effect->invert(meaning)) {
        meaning = {};
        meaning.column = slot.name;
      }
  }
  if (meanings.empty()) meanings.push_back({.column = target});
  // Steps on samples that name it are undone before those on the columns of the file.
  for (const Json& step : sampleStepsOf(prepare)) {
    const Entry& entry = prepareStep(step).entry;
    const Values values(entry, step);
    const bool scales = entry.id == "Scale", normalises = entry.id == "Normalise";
    if (!scales && !normalises) continue;
    const std::vector<std::string> names = values.texts("variable");
    if (std::find(names.begin(), names.end(), target) == names.end()) continue;
    const std::vector<double> means = normalises ? values.reals("mean") : std::vector<double>();
    const std::vector<double> deviations = normalises ? values.reals("deviation") : std::vector<double>();
    for (std::size_t i = 0; i < meanings.size(); ++i) {
      TargetMeaning::Link link;
      if (scales) {
        link.by = 1 / values.real("by");
        link.add = -values.real("add") / values.real("by");
      } else {
        link.by = deviations.at(deviations.size() == 1 ? 0 : i);
        link.add = means.at(means.size() == 1 ? 0 : i);
      }
      meanings[i].links.insert(meanings[i].links.begin(), link);
    }
  }
  return meanings;
}

}  // namespace loom
