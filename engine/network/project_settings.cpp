#include "engine/network/project_settings.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/project.h"
#include "engine/network/structure_settings.h"
#include "engine/optimizers/optimizer.h"

namespace loom {
namespace {

std::vector<std::string> splitPath(const std::string& key) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = key.find('.', begin);
    parts.push_back(key.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

// The element of a list that a path's part names: by place, or by its "id".
Json* elementOf(Json& list, const std::string& part) {
  for (Json& item : list)
    if (item.is_object() && item.value("id", std::string()) == part) return &item;
  if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos && part.size() < 6)
    if (const auto place = static_cast<std::size_t>(std::stoi(part)); place < list.size()) return &list[place];
  return nullptr;
}

// ": did you mean 'conv1'?"
std::string nearIn(const Json& list, const std::string& part) {
  std::vector<std::string> known;
  for (const Json& item : list)
    if (item.is_object() && item.contains("id") && item["id"].is_string()) known.push_back(item["id"]);
  const std::string near = nearest(part, known);
  return near.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", near);
}

// Whether a drawing has such a node, or such a group.
bool hasIn(const Json& drawing, const char* kind, const std::string& id) {
  const auto list = drawing.is_object() ? drawing.find(kind) : drawing.end();
  return drawing.is_object() && list != drawing.end() && list->is_array() &&
         std::any_of(list->begin(), list->end(),
                     [&](const Json& each) { return each.is_object() && each.contains("id") && each["id"] == id; });
}

// Of a path that begins with the id of a node, or of a group: where the drawing is that has it. Empty = none has.
std::vector<std::string> pathOfNode(const Json& project, const std::string& key, const std::string& id) {
  std::vector<std::string> found;
  for (const char* kind : {"networks", "units"}) {
    const auto drawings = project.find(kind);
    if (drawings == project.end() || !drawings->is_object()) continue;
    for (const auto& [name, drawing] : drawings->items()) {
      const bool isNode = hasIn(drawing, "nodes", id);
      if (!isNode && !hasIn(drawing, "groups", id)) continue;
      if (!found.empty())
        throwError(ErrorCode::badArgument, "'{}': {} '{}' and {} '{}' both have a node '{}': write {}.{}.nodes.{}", key,
                   found[0], found[1], kind, name, id, found[0], found[1], key);
      found = {kind, name, isNode ? "nodes" : "groups"};
    }
  }
  return found;
}

bool isOfTraining(const std::string& key) {
  return key == "optimizer" || key == "schedule" || key == "warmup" || settingsEntry().field(key) ||
         updateEntry().field(key) || validationEntry().field(key);
}

// `key`: one of those that the setting names.
void applyValue(Json& project, const std::string& key, const Json& value, const std::string& setting) {
  const std::vector<std::string> path = settingPath(project, key);
  if (applyStructure(project, path, value, setting)) return;
  Json* place = &project;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool last = i + 1 == path.size();
    if (path[i].empty()) throwError(ErrorCode::badArgument, "'{}': the key has an empty part", setting);
    if (place->is_array()) {
      const std::string near = nearIn(*place, path[i]);
      place = elementOf(*place, path[i]);
      if (!place)
        throwError(ErrorCode::badArgument,
                   "'{}': the list has no '{}'{}; elements are named by their id or their place from 0", setting,
                   path[i], near);
      if (last) *place = value;
      continue;
    }
    if (!place->is_object() && !place->is_null())
      throwError(ErrorCode::badArgument, "'{}': '{}' stands in {}, which is no object", setting, path[i],
                 place->dump());
    // A project that names none has the default one, of which the key is then a field.
    if (!last && path[i + 1] != "name" && path[0] == "training" && !place->contains(path[i])) {
      if (path[i] == "optimizer") (*place)[path[i]] = defaultUpdate().optimizer;
      if (path[i] == "schedule") (*place)[path[i]] = defaultUpdate().schedule;
    }
    if (last && value.is_null())
      place->erase(path[i]);
    else if (last)
      (*place)[path[i]] = value;
    else
      place = &(*place)[path[i]];
  }
}

void applyOne(Json& project, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throwError(ErrorCode::badArgument, "'{}': key=value is wanted, such as epochs=3 or optimizer.learning_rate=0.1",
               setting);
  const std::string text = setting.substr(equals + 1);
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) value = text;
  for (const std::string& key : singleKeys(setting.substr(0, equals))) applyValue(project, key, value, setting);
}

}  // namespace

std::vector<std::string> settingPath(const Json& project, const std::string& key) {
  std::vector<std::string> path = splitPath(key);
  static const std::vector<std::string> own{"networks", "units", "datasets", "training", "notes"};
  if (std::find(own.begin(), own.end(), path.front()) != own.end()) return path;
  std::vector<std::string> before;
  if (path.size() > 1 && !isOfTraining(path.front()))
    before = pathOfNode(project, key, path.front().substr(0, path.front().find(',')));
  if (before.empty()) before = {"training"};
  path.insert(path.begin(), before.begin(), before.end());
  return path;
}

void applySettings(Json& project, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) applyOne(project, setting);
}

std::optional<ReductionRefusal> refusedReduction(const Json& settings, std::int64_t ranks) {
  const Values values(settingsEntry(), settings);
  return refusalOf(reductionIn(settings), static_cast<int>(ranks), wireNamed(values.text("wire")),
                   values.boolean("deterministic"));
}

const OptimizerDefinition* optimizerOf(const UpdateSpec& update) {
  const Json& given = update.optimizer;
  const bool named = given.is_object() && given.contains("name") && given["name"].is_string();
  return findOptimizer((named ? given : defaultUpdate().optimizer)["name"].get<std::string>());
}

}  // namespace loom
