// Which steps of preparation "Start from data" needs, beside those that a person has made already.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/loader.h"
#include "engine/data/prepare_step.h"
#include "engine/data/sound_rate.h"
#include "engine/network/start_from_data.h"

namespace loom {
namespace start_steps {

constexpr std::int64_t kLargestSide = 128, kUsualSide = 64, kSmallestSide = 8, kLongestClip = 65'536;

std::string kindOf(const Json& step) {
  const ColumnStepDefinition* definition = findColumnStep(step);
  return definition ? definition->entry.id : std::string();
}

std::vector<std::string> columnsOf(const Json& step) {
  const Json named = step.value("variable", Json());
  if (named.is_string()) return {named.get<std::string>()};
  std::vector<std::string> names;
  if (named.is_array())
    for (const Json& name : named)
      if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What the step no longer names; false where it names nothing any more.
bool without(Json& step, const std::function<bool(const std::string&)>& unwanted) {
  std::vector<std::string> kept;
  for (const std::string& name : columnsOf(step))
    if (!unwanted(name)) kept.push_back(name);
  step["variable"] = kept;
  return !kept.empty();
}

class Merging {
 public:
  Merging(const std::vector<Json>& existing, const StartFacts& facts, const StartChoice& choice)
      : m_table(facts.table), m_choice(choice), m_own(columnStepsOf(existing)) {}

  // The column steps; what suggestTable() answered for them is left in `suggestion`.
  std::vector<Json> run(TableSuggestion& suggestion) {
    suggestion = suggestTable(m_table, m_choice.target, m_choice.as);
    if (m_own.empty() || madeByAStart()) return ordered(suggestion.steps);
    keepOwn(suggestion);
    leaveOutWhatIsLeftOut();
    suggestion =
        suggestTable(m_table, m_choice.target.empty() ? suggestion.target.column : m_choice.target, m_choice.as);
    std::vector<Json> steps = m_own;
    for (Json step : ordered(suggestion.steps)) addBehind(steps, std::move(step));
    suggestion.output = renamed(suggestion.output);
    return steps;
  }

 private:
  // Which order a doubtful date has is what the person said.
  std::vector<Json> ordered(std::vector<Json> steps) const {
    for (Json& step : steps)
      if (kindOf(step) == "DateParts")
        for (const std::string& name : columnsOf(step))
          if (const auto order = m_choice.dateOrders.find(name); order != m_choice.dateOrders.end())
            step["order"] = order->second;
    return steps;
  }

  // Of an earlier start that predicted another column: nothing of it is the person's own.
  bool madeByAStart() const {
    const auto join = std::find_if(m_own.begin(), m_own.end(), [](const Json& step) { return kindOf(step) == "Join"; });
    if (join == m_own.end()) return false;
    std::vector<Json> plain = m_own;
    for (Json& step : plain)
      if (kindOf(step) == "DateParts") step.erase("order");
    for (const TargetChoice& target : suggestTable(m_table).targets) {
      if (has(columnsOf(*join), target.column)) continue;
      for (const TargetKind as : {TargetKind::classes, TargetKind::number})
        if (suggestTable(m_table, target.column, as).steps == plain) return true;
    }
    return false;
  }

  void keepOwn(const TableSuggestion& suggestion) {
    const bool classes = suggestion.target.kind == TargetKind::classes;
    std::vector<Json> kept;
    for (Json step : m_own) {
      const std::string kind = kindOf(step);
      if (kind == "Join") continue;  // made anew of all columns
      static const std::set<std::string> scales{"Standardise", "RobustScale", "Log", "Clip", "Fill", "LeaveOut"};
      static const std::set<std::string> words{"Encode", "DateParts", "LeaveOut"};
      if (kind != "SkipRows" && (classes ? scales : words).contains(kind) &&
          !without(step, [&](const std::string& name) { return name == suggestion.target.column; }))
        continue;
      for (const std::string& name : columnsOf(step)) m_done[kind].insert(name);
      if (kind == "Rename" && columnsOf(step).size() == 1) {
        const std::string to = step.value("to", "");
        m_renamed[columnsOf(step)[0]] = to.substr(0, to.find(':'));
      }
      kept.push_back(std::move(step));
    }
    m_own = std::move(kept);
  }

  void leaveOutWhatIsLeftOut() {
    std::erase_if(m_table.columns, [&](const ColumnFacts& column) { return m_done["LeaveOut"].contains(column.name); });
  }

  std::string renamed(const std::string& name) const {
    const auto found = m_renamed.find(name);
    return found == m_renamed.end() ? name : found->second;
  }

  bool isDone(const std::string& kind, const std::string& column) {
    if (m_done[kind].contains(column)) return true;
    return kind == "Standardise" && m_done["RobustScale"].contains(column);
  }

  void addBehind(std::vector<Json>& steps, Json step) {
    const std::string kind = kindOf(step);
    if (kind == "SkipRows") {
      const auto own =
          std::find_if(steps.begin(), steps.end(), [](const Json& each) { return kindOf(each) == "SkipRows"; });
      if (own == steps.end()) {
        steps.insert(steps.begin(), std::move(step));
        return;
      }
      if (step.value("faulty", false)) (*own)["faulty"] = true;
      for (const Json& name : step.value("missing", Json::array())) {
        Json& all = (*own)["missing"];
        if (!all.is_array()) all = Json::array();
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
      }
      return;
    }
    if (!without(step, [&](const std::string& name) { return isDone(kind, name); })) return;
    // Columns that are renamed are found by the name that the file has for them.
    steps.push_back(std::move(step));
  }

  TableFacts m_table;
  const StartChoice& m_choice;
  std::vector<Json> m_own;
  std::map<std::string, std::set<std::string>> m_done;  // by kind of step: the columns that it takes already
  std::map<std::string, std::string> m_renamed;
};

// A step on samples, unless there is one of its kind for the variable.
void addSampleStep(std::vector<Json>& prepare, const std::string& variable, Json step) {
  for (const Json& each : sampleStepsOf(prepare))
    if (each.value("step", "") == step["step"] && (columnsOf(each).empty() || has(columnsOf(each), variable))) return;
  step["variable"] = Json::array({variable});
  prepare.push_back(std::move(step));
}

void addScaling(std::vector<Json>& prepare, const std::string& variable, const char* kind) {
  const auto scales = [&](const Json& step) {
    const std::string known = step.value("step", "");
    return (known == "Scale" || known == "Normalise") && (columnsOf(step).empty() || has(columnsOf(step), variable));
  };
  if (std::none_of(prepare.begin(), prepare.end(), scales)) addSampleStep(prepare, variable, {{"step", kind}});
}

// Whether the person's own steps give samples of one shape already: another size is then not chosen for them.
bool isOneShape(const std::vector<Json>& prepare, const std::string& variable, const MediaFacts& media) {
  if (!media.differ()) return false;
  const auto sizes = [&](const Json& step) {
    static const std::set<std::string> kinds{"Pad", "Crop", "Resize", "RandomResizedCrop"};
    return kinds.contains(step.value("step", "")) && (columnsOf(step).empty() || has(columnsOf(step), variable));
  };
  if (std::none_of(prepare.begin(), prepare.end(), sizes)) return false;
  try {
    preparedShape({.name = variable,
                   .label = {},
                   .kind = media.kind,
                   .shape = media.largest,
                   .smallest = media.smallest,
                   .type = media.type,
                   .elementLabels = {}},
                  prepare);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void preparePictures(std::vector<Json>& prepare, const std::string& variable, const MediaFacts& media) {
  if (media.smallest[0] != media.largest[0])
    addSampleStep(prepare, variable, {{"step", "Colours"}, {"to", media.largest[0] >= 3 ? "rgb" : "grey"}});
  const std::int64_t least = std::min(media.smallest[1], media.smallest[2]);
  const std::int64_t most = std::max(media.largest[1], media.largest[2]);
  const bool sizesDiffer = media.smallest[1] != media.largest[1] || media.smallest[2] != media.largest[2];
  if ((sizesDiffer || most > kLargestSide) && !isOneShape(prepare, variable, media)) {
    const std::int64_t side = std::clamp(least, kSmallestSide, kUsualSide);
    addSampleStep(prepare, variable, {{"step", "Resize"}, {"size", {side, side}}});
  }
  addScaling(prepare, variable, "Scale");
}

void prepareSounds(std::vector<Json>& prepare, const std::string& variable, const MediaFacts& media) {
  if (media.ratesDiffer && rateBeforePacking(variable, prepare) == 0) {
    const auto first =
        std::find_if(prepare.begin(), prepare.end(), [](const Json& step) { return sampleStep(step) != nullptr; });
    const Json step = {{"step", "Resample"}, {"rate", media.rate}, {"variable", Json::array({variable})}};
    prepare.insert(first, step);
  }
  if (media.smallest[0] == media.largest[0] && media.largest[0] <= kLongestClip) return;
  if (media.largest[0] <= kLongestClip && isOneShape(prepare, variable, media)) return;
  const std::int64_t length = std::min(media.typical[0], kLongestClip);
  if (media.smallest[0] < length) addSampleStep(prepare, variable, {{"step", "Pad"}, {"to", {length}}});
  addSampleStep(prepare, variable, {{"step", "Crop"}, {"size", {length}}, {"position", "centre"}});
}

// Vectors of the file that need no step on their columns: taken out of the table.
std::map<std::string, std::int64_t> takeVectors(TableFacts& table) {
  std::map<std::string, std::int64_t> vectors;
  std::set<std::string> faulty;
  const auto stem = [](const ColumnFacts& column) {
    return isElement(column.name) ? column.name.substr(0, column.name.rfind("__")) : std::string();
  };
  for (const ColumnFacts& column : table.columns) {
    if (stem(column).empty()) continue;
    ++vectors[stem(column)];
    if (column.type != ColumnType::number || column.missing > 0 || column.unreadable > 0) faulty.insert(stem(column));
  }
  for (const std::string& each : faulty) vectors.erase(each);
  std::erase_if(table.columns, [&](const ColumnFacts& column) { return vectors.contains(stem(column)); });
  return vectors;
}

}  // namespace start_steps

bool isElement(const std::string& column) {
  const auto mark = column.rfind("__");
  return mark != std::string::npos && mark > 0 && mark + 2 < column.size() &&
         column.find_first_not_of("0123456789", mark + 2) == std::string::npos;
}

StartSteps stepsToStart(const std::vector<Json>& existing, const StartFacts& facts, const StartChoice& choice) {
  using namespace start_steps;
  StartFacts known = facts;
  // Arrays are no words.
  for (ColumnFacts& column : known.table.columns)
    if (facts.media.contains(column.name) && column.type != ColumnType::sound) column.type = ColumnType::picture;
  StartChoice chosen = choice;
  if (chosen.target.empty() && known.table.find(known.target)) chosen.target = known.target;
  StartSteps made;
  made.vectors = takeVectors(known.table);
  if (std::any_of(known.table.columns.begin(), known.table.columns.end(), canBeTarget)) {
    TableSuggestion suggestion;
    made.prepare = Merging(existing, known, chosen).run(suggestion);
    made.target = suggestion.target;
    made.input = suggestion.input;
    made.output = suggestion.output;
    made.media = suggestion.pictures;
    made.leftOut = suggestion.leftOut;
  } else {
    made.prepare = columnStepsOf(existing);
    if (!made.vectors.empty()) made.output = made.vectors.begin()->first;
  }
  for (const Json& step : sampleStepsOf(existing)) made.prepare.push_back(step);
  if (made.media.empty() && made.input.empty() && (made.vectors.empty() || made.target.column.empty())) {
    // The only column there is: its samples are to be found again. One of single numbers has nothing to be found by.
    const bool samples = !made.vectors.empty() || facts.media.contains(made.output);
    if (samples) made.target.column.clear();
    if (samples && made.vectors.empty()) made.media = {made.output};
  }
  for (const auto& [vector, size] : made.vectors) addScaling(made.prepare, vector, "Normalise");
  std::vector<std::string> all = made.media;
  if (!made.target.column.empty() && made.target.kind == TargetKind::picture && !has(all, made.output))
    all.push_back(made.output);
  for (const std::string& variable : all) {
    const auto media = facts.media.find(variable);
    if (media == facts.media.end()) continue;
    if (media->second.kind == VariableKind::image)
      preparePictures(made.prepare, variable, media->second);
    else if (media->second.kind == VariableKind::wave)
      prepareSounds(made.prepare, variable, media->second);
    else
      addScaling(made.prepare, variable, "Normalise");
  }
  return made;
}

}  // namespace loom
