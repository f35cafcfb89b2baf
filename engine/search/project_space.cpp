// A space beside the project that it shall fit.
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/layers/layer.h"
#include "engine/network/flatten.h"
#include "engine/network/project_arguments.h"
#include "engine/network/structure_settings.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"
#include "engine/search/space.h"
#include "engine/search/structure_space.h"

namespace loom {
namespace {

std::string nameIn(const Json& named) {
  return named.is_object() && named.contains("name") && named["name"].is_string() ? named["name"].get<std::string>()
                                                                                  : std::string();
}

bool isNumber(const Field& field) {
  return field.type == FieldType::integer || field.type == FieldType::real || field.type == FieldType::integers;
}

class Collected {
 public:
  void entry(const std::string& prefix, const std::string& of, const Entry& entry, const Json& given) {
    for (const Field& field : entry.fields) {
      if (!isNumber(field) && field.type != FieldType::choice && field.type != FieldType::boolean) continue;
      if (!isRead(entry, field, given)) continue;
      const bool own = given.is_object() && given.contains(field.key);
      Searchable found{.key = prefix + field.key,
                       .shorter = {},
                       .label = of.empty() ? field.label : of + ": " + field.label,
                       .value = own ? given[field.key] : field.defaultValue,
                       .whole = field.type == FieldType::integer || field.type == FieldType::integers};
      for (const Choice& choice : field.choices) found.choices.push_back(choice.id);
      if (field.type == FieldType::boolean) found.choices = {"false", "true"};
      found.important = field.important;
      if (field.hard) found.low = field.hard->low, found.high = field.hard->high;
      all.push_back(std::move(found));
    }
  }
  void choice(const std::string& key, const std::string& label, const Json& value, std::vector<std::string> choices) {
    all.push_back(
        {.key = key, .shorter = {}, .label = label, .value = value, .whole = false, .choices = std::move(choices)});
  }
  std::vector<Searchable> all;
};

template <class Table>
std::vector<std::string> idsIn(const Table& table) {
  std::vector<std::string> ids;
  for (const auto* each : table) ids.push_back(each->entry.id);
  return ids;
}

void addUpdate(Collected& found, const UpdateSpec& update, const std::string& prefix) {
  found.choice(prefix + "optimizer.name", "Rule", nameIn(update.optimizer), idsIn(optimizerTable()));
  if (const auto* rule = findOptimizer(nameIn(update.optimizer)))
    found.entry(prefix + "optimizer.", {}, rule->entry, update.optimizer);
  found.choice(prefix + "schedule.name", "Schedule", nameIn(update.schedule), idsIn(scheduleTable()));
  if (const auto* schedule = findSchedule(nameIn(update.schedule)))
    found.entry(prefix + "schedule.", "Schedule", schedule->entry, update.schedule);
  found.entry(prefix + "warmup.", "Warm-up", warmupEntry(), update.warmup);
}

void addRepeat(Collected& found, const std::string& prefix, const std::string& of, const Json& repeat) {
  if (!repeat.is_null() && !repeat.is_number()) return;  // an expression is searched by what it is made of
  found.all.push_back({.key = prefix + "repeat",
                       .shorter = {},
                       .label = of + ": Repeat",
                       .value = repeat.is_null() ? Json(1) : repeat,
                       .whole = true,
                       .choices = {},
                       .low = 1,
                       .high = static_cast<double>(kMostRepeats)});
}

void addUnit(Collected& found, const std::string& prefix, const Node& node, const Network& unit) {
  addRepeat(found, prefix, node.id, node.repeat);
  for (const Argument& argument : unit.arguments) {
    const bool own = node.values.contains(argument.name);
    const Json value = own ? node.values[argument.name] : argument.defaultValue;
    if (value.is_number())
      found.all.push_back({.key = prefix + argument.name,
                           .shorter = {},
                           .label = node.id + ": " + (argument.label.empty() ? argument.name : argument.label),
                           .value = value,
                           .whole = argument.defaultValue.is_number_integer() || value.is_number_integer(),
                           .choices = {},
                           .important = true});
  }
}

void addDrawing(Collected& found, const Project& project, const Network& drawing, const char* kind) {
  for (const Node& node : drawing.nodes) {
    const std::string prefix = fmt::format("{}.{}.nodes.{}.", kind, drawing.name, node.id);
    if (const LayerDefinition* layer = node.unit.empty() ? findLayer(node.layer) : nullptr) {
      found.entry(prefix, node.id, layer->entry, node.values);
      if (std::vector<std::string> others = alternativesTo(*layer); others.size() > 1)
        found.choice(prefix + "layer", node.id + ": Layer", node.layer, std::move(others));
    }
    if (const Network* const unit = node.unit.empty() ? nullptr : project.unit(node.unit))
      addUnit(found, prefix, node, *unit);
  }
  for (const Group& group : drawing.groups)
    addRepeat(found, fmt::format("{}.{}.groups.{}.", kind, drawing.name, group.id), group.id, group.repeat);
}

Json withSettings(const Json& project, const std::vector<std::string>& settings) {
  Json changed = project;
  applySettings(changed, settings);
  return changed;
}

// As in the list of what is searchable: from the top, and without "training." before it.
std::string plainKey(const Json& project, const std::string& key) {
  std::string text;
  for (const std::string& part : settingPath(project, key)) text += (text.empty() ? "" : ".") + part;
  return text.starts_with("training.") ? text.substr(9) : text;
}

[[noreturn]] void refuseKey(const std::string& key, const std::string& near) {
  throwError(ErrorCode::badArgument, "--over {}: the project has no such setting and no such argument of a layer{}",
             key,
             near.empty() ? std::string("; settings are written as for --set: optimizer.learning_rate, batch, "
                                        "conv1.channels")
                          : fmt::format(": did you mean '{}'?", near));
}

// The plain keys of all that a dimension sets.
std::vector<std::string> plainKeys(const Json& project, const Dimension& dimension) {
  std::vector<std::string> keys;
  for (const std::string& each : singleKeys(dimension.key)) keys.push_back(plainKey(project, each));
  return keys;
}

class FittedDimension {
 public:
  FittedDimension(const Json& project, const std::vector<std::string>& settings, const std::vector<Searchable>& known,
                  Dimension& dimension)
      : m_project(project), m_settings(settings), m_known(known), m_dimension(dimension) {}

  void fit() {
    for (const std::string& key : singleKeys(m_dimension.key)) fitKey(key);
    if (m_dimension.choices.empty() && m_dimension.whole && countOf(m_dimension) < 2)
      throwError(ErrorCode::badArgument,
                 "--over {}: it takes whole numbers, and there are not two of them: widen the range",
                 toText(m_dimension));
    tryValues();
  }

 private:
  void fitKey(const std::string& key) {
    const std::string plain = plainKey(m_project, key);
    if (isChainKey(m_project, plain)) {
      if (m_dimension.choices.empty()) m_dimension.whole = true;
      return;
    }
    std::string near;
    const Searchable* const found = findSearchable(m_project, m_known, key, &near);
    if (plain.ends_with(".layer") && plain.find(".nodes.") != std::string::npos)
      for (const Json& value : m_dimension.choices) checkLayerName(m_project, m_dimension, value);
    // A layer or a rule may be exchanged for others, and lists stand for what is no number.
    const bool listedWord = !m_dimension.choices.empty() && plain.find(".nodes.") != std::string::npos;
    if (!found && !listedWord) refuseKey(key, near);
    if (!found || !m_dimension.choices.empty()) return;
    if (!found->choices.empty())
      throwError(ErrorCode::badArgument, "--over {}: it is a choice and has no range: list some of {}",
                 toText(m_dimension), fmt::join(found->choices, ", "));
    m_dimension.whole = m_dimension.whole || found->whole;
  }

  // Both ends, or all that is listed. What a field cannot be is refused; what merely does not go with the rest of the
  // drawing may go with other values of other dimensions, so one value has to.
  void tryValues() const {
    std::vector<Json> values = m_dimension.choices;
    if (values.empty()) values = {valueAt(m_dimension, 0), valueAt(m_dimension, 1)};
    std::string first;
    bool any = false;
    for (const Json& value : values) {
      const TriedValue tried = tryValue(m_project, m_settings, m_dimension, value);
      if (tried.fault.empty()) any = true;
      const std::string said =
          fmt::format("--over {}: the value {} cannot be: {}", toText(m_dimension), value.dump(), tried.fault);
      if (tried.isOwn) throwError(ErrorCode::badArgument, "{}", said);
      if (first.empty() && !tried.fault.empty()) first = said;
    }
    if (!any)
      throwError(ErrorCode::badArgument, "{}; nor can any other: what goes together is searched together, as in {}",
                 first, "conv1,conv2.channels=8..64");
  }

  const Json& m_project;
  const std::vector<std::string>& m_settings;
  const std::vector<Searchable>& m_known;
  Dimension& m_dimension;
};

}  // namespace

std::vector<Searchable> searchableOf(const Json& json, const std::vector<std::string>& settings) {
  const Project project = readProject(withSettings(json, settings).dump(), "the project").project;
  Collected found;
  const bool several = project.training.updates.size() > 1;
  for (std::size_t i = 0; i < project.training.updates.size(); ++i)
    addUpdate(found, project.training.updates[i], several ? std::to_string(i) + "." : std::string());
  found.entry(several ? "0." : "", {}, settingsEntry(), project.training.settings);
  for (const Network& network : project.networks) addDrawing(found, project, network, "networks");
  for (const Network& unit : project.units) addDrawing(found, project, unit, "units");
  std::map<std::string, int> drawings;  // that have an argument of this short key
  for (const Searchable& each : found.all) ++drawings[shortKey(each.key)];
  for (Searchable& each : found.all) each.shorter = drawings[shortKey(each.key)] == 1 ? shortKey(each.key) : each.key;
  return std::move(found.all);
}

std::string shortKey(const std::string& key) {
  for (const char* kind : {".nodes.", ".groups."})
    if (const auto at = key.find(kind); at != std::string::npos) return key.substr(at + std::string_view(kind).size());
  return key;
}

const Searchable* findSearchable(const Json& project, const std::vector<Searchable>& known, const std::string& key,
                                 std::string* near) {
  const std::string plain = plainKey(project, key);
  for (const Searchable& each : known)
    if (each.key == plain) return &each;
  if (!near) return nullptr;
  std::vector<std::string> keys;
  for (const Searchable& each : known) {
    keys.push_back(each.shorter);  // of equally near ones the first is offered
    if (each.shorter != each.key) keys.push_back(each.key);
  }
  *near = nearestKey(key, keys);
  return nullptr;
}

Dimension usualRange(const Searchable& searchable) {
  Dimension range{.key = searchable.shorter, .whole = searchable.whole};
  for (const std::string& each : searchable.choices) {
    const Json value = Json::parse(each, nullptr, false);
    range.choices.push_back(value.is_boolean() ? value : Json(each));
  }
  if (!range.choices.empty()) return range;
  const double now = searchable.value.is_number() ? searchable.value.get<double>() : 0;
  const double factor = searchable.whole ? 4 : 10;
  range.log = now > 0;
  range.low = std::max(now > 0 ? now / factor : 0, searchable.low);
  range.high = std::min(now > 0 ? now * factor : 1, searchable.high);
  if (searchable.whole) range.low = std::max(std::ceil(range.low), range.log ? 1.0 : range.low);
  if (!(range.low < range.high)) range.high = range.low + 1;
  return range;
}

Space checkedSpace(const Json& project, const std::vector<std::string>& settings, Space space) {
  if (space.empty())
    throwError(ErrorCode::badArgument,
               "a search goes over something: --over KEY=RANGE, such as --over optimizer.learning_rate=log:1e-4..1");
  checkedProject(project, "the project", settings);
  const std::vector<Searchable> known = searchableOf(project, settings);
  std::vector<std::string> seen;
  for (Dimension& each : space) {
    for (const std::string& plain : plainKeys(project, each)) {
      if (std::find(seen.begin(), seen.end(), plain) != seen.end())
        throwError(ErrorCode::badArgument, "--over {} is there twice: name each setting once", each.key);
      seen.push_back(plain);
    }
    FittedDimension(project, settings, known, each).fit();
  }
  return space;
}

}  // namespace loom
