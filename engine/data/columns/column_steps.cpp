#include <algorithm>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/data/columns/column_step.h"

namespace loom {

const ColumnStepDefinition* findColumnStep(const Json& step) {
  if (!step.is_object() || !step.contains("step") || !step["step"].is_string()) return nullptr;
  return findNamed(columnSteps(), step["step"].get_ref<const std::string&>());
}

std::vector<Json> columnStepsOf(const std::vector<Json>& prepare) {
  std::vector<Json> steps;
  std::copy_if(prepare.begin(), prepare.end(), std::back_inserter(steps), isColumnStep);
  return steps;
}

std::vector<Json> sampleStepsOf(const std::vector<Json>& prepare) {
  std::vector<Json> steps;
  std::copy_if(prepare.begin(), prepare.end(), std::back_inserter(steps),
               [](const Json& step) { return !isColumnStep(step); });
  return steps;
}

std::string orderProblem(const std::vector<Json>& prepare) {
  const auto namesOf = [](const Json& step, const char* key) {
    std::vector<std::string> names;
    if (!step.is_object() || !step.contains(key)) return names;
    if (step[key].is_string()) names.push_back(step[key]);
    if (step[key].is_array())
      for (const Json& name : step[key])
        if (name.is_string()) names.push_back(name);
    return names;
  };
  for (std::size_t i = 0; i < prepare.size(); ++i) {
    if (!isColumnStep(prepare[i])) continue;
    std::vector<std::string> own = namesOf(prepare[i], "variable");
    for (const std::string& name : namesOf(prepare[i], "to")) own.push_back(name.substr(0, name.find(':')));
    std::string into;
    if (const Field* field = findColumnStep(prepare[i])->entry.field("into")) {
      const std::vector<std::string> given = namesOf(prepare[i], "into");
      into = given.empty() ? field->defaultValue.get<std::string>() : given[0];
      own.push_back(into);
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (isColumnStep(prepare[k])) continue;
      const std::vector<std::string> others = namesOf(prepare[k], "variable");
      for (const std::string& name : own)
        // Without a name a sample step means every vector, and so the one that is joined.
        if (others.empty() ? name == into : std::find(others.begin(), others.end(), name) != others.end())
          return fmt::format(
              "step {} ({}) changes the column {} in the file, but step {} ({}) changes its samples before "
              "that; move step {} before step {}",
              i + 1, prepare[i].value("step", ""), name, k + 1, prepare[k].value("step", ""), i + 1, k + 1);
    }
  }
  return {};
}

}  // namespace loom
