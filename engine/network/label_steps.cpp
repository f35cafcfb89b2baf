#include "engine/network/label_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/catalogue/text.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace label_steps {

const Entry* entryOf(const Json& step) {
  if (const ColumnStepDefinition* column = findColumnStep(step)) return &column->entry;
  const PrepareStep* sample = sampleStep(step);
  return sample ? &sample->entry : nullptr;
}

std::vector<std::string> namedIn(const Json& step) {
  const auto named = step.find("variable");
  if (named == step.end()) return {};
  if (named->is_string()) return {named->get<std::string>()};
  std::vector<std::string> names;
  if (named->is_array())
    for (const Json& name : *named)
      if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

// What is left of a step that no longer names the columns; null where it then names none, which would mean others.
Json leftOf(Json step, const std::set<std::string>& columns) {
  Json names = Json::array();
  for (const std::string& name : namedIn(step))
    if (!columns.contains(name)) names.push_back(name);
  if (names.empty()) return nullptr;
  step["variable"] = names;
  return step;
}

struct Scaling {
  std::size_t step;
  std::string column, name;  // as the step calls it; what the step is called
};

// The steps that change the numbers of a variable, followed through its names. What Encode makes of it is classes
// again.
std::vector<Scaling> scalingOf(const std::string& variable, const std::vector<Json>& prepare) {
  static const std::set<std::string> scales{"Standardise", "RobustScale", "Log", "Scale", "Normalise"};
  std::set<std::string> names{variable};
  std::vector<Scaling> found;
  for (std::size_t i = prepare.size(); i-- > 0;) {
    const Json& step = prepare[i];
    const Entry* entry = step.is_object() ? entryOf(step) : nullptr;
    if (!entry) continue;
    const std::vector<std::string> named = namedIn(step);
    const auto hit =
        std::find_if(named.begin(), named.end(), [&](const std::string& one) { return names.contains(one); });
    if (entry->id == "Rename" && named.size() == 1 && step.value("to", Json()).is_string()) {
      const std::string to = step["to"].get<std::string>();
      if (names.contains(to.substr(0, to.find(':')))) names.insert(named[0]);
    }
    if (hit == named.end()) continue;
    if (entry->id == "Encode") break;
    if (scales.contains(entry->id)) found.push_back({i, *hit, entry->id});
  }
  return found;
}

}  // namespace label_steps

std::vector<Problem> scaledLabels(const Network& flat, const std::string& owner, const std::vector<Json>& prepare) {
  using namespace label_steps;
  std::vector<Problem> problems;
  for (const DatasetInput& input : datasetInputs(flat)) {
    if (input.type != DataType::i32) continue;
    const std::vector<Scaling> scaling = scalingOf(input.variable, prepare);
    if (scaling.empty()) continue;
    std::set<std::string> columns;
    for (const Scaling& each : scaling) columns.insert(each.column);
    Json rest = Json::array();
    for (std::size_t i = 0; i < prepare.size(); ++i) {
      const bool scales =
          std::any_of(scaling.begin(), scaling.end(), [i](const Scaling& each) { return each.step == i; });
      const Json kept = scales ? leftOf(prepare[i], columns) : prepare[i];
      if (!kept.is_null()) rest.push_back(kept);
    }
    const Scaling& first = scaling.back();
    const std::string field = fmt::format("datasets.{}.prepare", owner);
    problems.push_back({.field = field,
                        .message = fmt::format(
                            "{}: step {} (number {}) scales {}, but '{}' of network '{}' takes it as classes, which "
                            "are whole numbers 0, 1, 2 …; leave {} out of the step, or predict it as a number",
                            field, first.name, first.step + 1, clipped(first.column), clipped(input.node),
                            clipped(flat.name), clipped(first.column)),
                        .remedy = {.kind = Remedy::Kind::setField,
                                   .label = fmt::format("Leave {} as it is", clipped(first.column, 30)),
                                   .field = field,
                                   .value = std::move(rest)}});
  }
  return problems;
}

}  // namespace loom
