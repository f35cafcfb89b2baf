#include "app/pages/data/step_edits.h"

#include <algorithm>

#include "engine/data/columns/column_step.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

std::string idOf(const Json& step) {
  const ColumnStepDefinition* const definition = findColumnStep(step);
  return definition ? definition->entry.id : std::string();
}

std::vector<std::string> textsOf(const Json& step, const char* key = "variable") {
  std::vector<std::string> texts;
  const auto found = step.find(key);
  if (found == step.end()) return texts;
  if (found->is_string()) texts.push_back(*found);
  if (found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) texts.push_back(each);
  return texts;
}

constexpr int kOfSamples = 100;  // steps on samples come behind those on columns

int rankOf(const Json& step) {
  const std::string id = idOf(step);
  if (id.empty()) return kOfSamples;
  const char* const ranks[][3] = {{"SkipRows", "", ""},
                                  {"LeaveOut", "", ""},
                                  {"Fill", "", ""},
                                  {"Clip", "Log", ""},
                                  {"Encode", "DateParts", ""},
                                  {"Standardise", "RobustScale", ""},
                                  {"Rename", "", ""},
                                  {"Join", "", ""}};
  for (int rank = 0; rank < static_cast<int>(std::size(ranks)); ++rank)
    for (const char* each : ranks[rank])
      if (id == each) return rank;
  return kOfSamples;
}

// The place of a step on samples: what takes them as their files hold them comes first, what computes pixels before the
// first one that changes values.
std::size_t samplePlace(const std::vector<Json>& prepare, const Json& step) {
  const PrepareStep* const kind = sampleStep(step);
  const bool first = kind && kind->means == PrepareStep::Means::sounds;
  if (!kind || !(kind->computes || first)) return prepare.size();
  const auto place = std::find_if(prepare.begin(), prepare.end(), [first](const Json& each) {
    const PrepareStep* const other = sampleStep(each);
    return other && (first || other->values);
  });
  return static_cast<std::size_t>(place - prepare.begin());
}

void addTexts(Json& step, const char* key, const Json& from) {
  std::vector<std::string> all = textsOf(step, key);
  for (const std::string& each : textsOf(from, key))
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
  if (!all.empty()) step[key] = all;
}

bool mergeSkips(Json& known, const Json& added) {
  if (idOf(known) != "SkipRows" || idOf(added) != "SkipRows") return false;
  addTexts(known, "missing", added);
  if (added.value("faulty", false)) known["faulty"] = true;
  if (added.contains("lines")) {
    std::vector<std::int64_t> lines = known.value("lines", std::vector<std::int64_t>());
    for (const Json& line : added["lines"]) lines.push_back(line.get<std::int64_t>());
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    known["lines"] = lines;
  }
  return true;
}

// The same step on other columns.
bool mergeColumns(Json& known, const Json& added) {
  const std::string id = idOf(added);
  if (id.empty() || id == "Join" || id == "Rename" || id != idOf(known)) return false;
  Json one = known, other = added;
  one.erase("variable");
  other.erase("variable");
  if (one != other) return false;
  addTexts(known, "variable", added);
  return true;
}

// Takes the column out of the steps of this kind; a step that then means none goes.
void takeOut(std::vector<Json>& prepare, const std::string& id, const std::string& column) {
  std::erase_if(prepare, [&](Json& step) {
    if (idOf(step) != id) return false;
    std::vector<std::string> names = textsOf(step);
    if (std::erase(names, column) == 0) return false;
    step["variable"] = names;
    return names.empty();
  });
}

}  // namespace

std::vector<Json> withSteps(std::vector<Json> prepare, const std::vector<Json>& added, int* place) {
  for (const Json& step : added) {
    std::size_t at = 0;
    bool merged = false;
    for (at = 0; at < prepare.size() && !merged; ++at)
      merged = mergeSkips(prepare[at], step) || mergeColumns(prepare[at], step);
    if (merged) {
      --at;
    } else {
      const int rank = rankOf(step);
      at = rank == kOfSamples
               ? samplePlace(prepare, step)
               : static_cast<std::size_t>(std::find_if(prepare.begin(), prepare.end(),
                                                       [rank](const Json& each) { return rankOf(each) > rank; }) -
                                          prepare.begin());
      prepare.insert(prepare.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
    if (place) *place = static_cast<int>(at);
  }
  return prepare;
}

bool isLeftOut(const std::vector<Json>& prepare, const std::string& column) {
  return std::any_of(prepare.begin(), prepare.end(), [&](const Json& step) {
    if (idOf(step) != "LeaveOut") return false;
    const std::vector<std::string> names = textsOf(step);
    return std::find(names.begin(), names.end(), column) != names.end();
  });
}

std::vector<Json> withoutColumn(std::vector<Json> prepare, const std::string& column) {
  // A step that means a column that is gone cannot be done.
  for (const char* id : {"Fill", "Clip", "Log", "Encode", "DateParts", "Standardise", "RobustScale", "Join"})
    takeOut(prepare, id, column);
  std::erase_if(prepare, [&](const Json& step) {
    const std::vector<std::string> names = textsOf(step);
    return idOf(step) == "Rename" && !names.empty() && names.front() == column;
  });
  return withSteps(std::move(prepare), {{{"step", "LeaveOut"}, {"variable", Json::array({column})}}});
}

std::vector<Json> withColumn(std::vector<Json> prepare, const std::string& column) {
  takeOut(prepare, "LeaveOut", column);
  return prepare;
}

std::string nameAfter(const std::vector<Json>& prepare, const std::string& column) {
  std::string name = column;
  for (const Json& step : prepare) {
    if (idOf(step) != "Rename") continue;
    const std::vector<std::string> names = textsOf(step), to = textsOf(step, "to");
    for (std::size_t i = 0; i < std::min(names.size(), to.size()); ++i)
      if (names[i] == name || names[i] == column) name = to[i].substr(0, to[i].find(':'));
  }
  return name;
}

std::vector<Json> renamedColumn(std::vector<Json> prepare, const std::string& column, const std::string& to) {
  std::erase_if(prepare, [&](const Json& step) {
    const std::vector<std::string> names = textsOf(step);
    return idOf(step) == "Rename" && names.size() == 1 && names.front() == column;
  });
  if (to == column) return prepare;
  return withSteps(std::move(prepare), {{{"step", "Rename"}, {"variable", Json::array({column})}, {"to", to}}});
}

std::vector<Json> joinedInto(std::vector<Json> prepare, const std::string& variable,
                             const std::vector<std::string>& columns) {
  for (const std::string& column : columns) takeOut(prepare, "Join", column);
  const auto found = std::find_if(prepare.begin(), prepare.end(), [&](const Json& step) {
    return idOf(step) == "Join" && step.value("into", "x") == variable;
  });
  if (columns.empty()) {
    if (found != prepare.end()) prepare.erase(found);
  } else if (found != prepare.end()) {
    (*found)["variable"] = columns;
  } else {
    prepare = withSteps(std::move(prepare), {{{"step", "Join"}, {"variable", columns}, {"into", variable}}});
  }
  return prepare;
}

std::string joinOf(const std::vector<Json>& prepare, const std::string& column) {
  for (const Json& step : prepare) {
    const std::vector<std::string> names = textsOf(step);
    if (idOf(step) == "Join" && std::find(names.begin(), names.end(), column) != names.end())
      return step.value("into", "x");
  }
  return {};
}

}  // namespace loom
