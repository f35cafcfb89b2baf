#include "engine/network/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/layers/layer.h"
#include "engine/network/project_settings.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

// "optimizer" and "learning_rate" of a path; a field of the run has no group.
std::pair<std::string, std::string> partsOf(const std::string& path) {
  const std::size_t dot = path.find('.');
  return dot == std::string::npos ? std::pair{std::string(), path}
                                  : std::pair{path.substr(0, dot), path.substr(dot + 1)};
}

std::string nameOf(const Json& named) {
  return named.is_object() && named.contains("name") && named["name"].is_string() ? named["name"].get<std::string>()
                                                                                  : std::string();
}

// The entry that knows the group's fields as the update has it; null where the name is unknown.
const Entry* entryOf(const UpdateSpec& update, const std::string& group) {
  if (group.empty()) return &settingsEntry();
  if (group == "warmup") return &warmupEntry();
  if (group == "schedule") {
    const ScheduleDefinition* found = findSchedule(nameOf(update.schedule));
    return found ? &found->entry : nullptr;
  }
  const OptimizerDefinition* found = group == "optimizer" ? findOptimizer(nameOf(update.optimizer)) : nullptr;
  return found ? &found->entry : nullptr;
}

const Json& groupOf(const Project& project, const UpdateSpec& update, const std::string& group) {
  return group == "optimizer"  ? update.optimizer
         : group == "schedule" ? update.schedule
         : group == "warmup"   ? update.warmup
                               : project.training.settings;
}

// Whose target may be smoothed.
const Entry& lossEntry() {
  return findLayer("SoftmaxCrossEntropy")->entry;
}

bool isLoss(const Node& node) {
  return node.layer == lossEntry().id;
}

const UpdateSpec& updateAt(const Project& project, std::size_t update) {
  if (update >= project.training.updates.size())
    throwError(ErrorCode::badProject, "the project trains by {} updates; there is none with the number {}",
               project.training.updates.size(), update + 1);
  return project.training.updates[update];
}

void put(Json& object, const std::string& key, const Json& value) {
  if (!object.is_object()) object = Json::object();
  if (value.is_null())
    object.erase(key);
  else
    object[key] = value;
}

void setInLoss(Project& project, const UpdateSpec& update, const std::string& key, const Json& value) {
  Network* network = project.network(update.network);
  if (!network) return;
  for (Node& node : network->nodes) {
    if (!isLoss(node)) continue;
    put(node.values, key, value);
    node.values = withoutDefaults(lossEntry(), node.values);
  }
}

// 30.0 and 30 are one value in a file.
bool equal(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) return left.get<double>() == right.get<double>();
  if (!left.is_array() || !right.is_array() || left.size() != right.size()) return left == right;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!equal(left[i], right[i])) return false;
  return true;
}

// Fields of a group that a person had set and the recipe does not name: they fall back.
void addReset(std::vector<FieldChange>& changes, const Project& before, const Project& after, std::size_t update,
              const std::string& group) {
  const Json& given = groupOf(before, before.training.updates[update], group);
  if (!given.is_object()) return;
  for (const auto& item : given.items()) {
    const std::string path = group + "." + item.key();
    if (std::any_of(changes.begin(), changes.end(), [&](const FieldChange& one) { return one.path == path; })) continue;
    const Json now = fieldAt(after, update, path);
    if (equal(item.value(), now)) continue;
    changes.push_back({path, item.value(), now, "not of this recipe: its default, or gone with the old choice"});
  }
}

std::string textOf(const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

// Columns by what is seen, which is less than the bytes of "γ" or "–".
std::string padded(const std::string& text, std::size_t width) {
  const auto seen = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  return text + std::string(seen < width ? width - seen : 1, ' ');
}

}  // namespace

const Preset* findPreset(std::string_view id) {
  for (const Preset& preset : presetTable())
    if (preset.id == id) return &preset;
  return nullptr;
}

const Preset& presetNamed(std::string_view id) {
  if (const Preset* found = findPreset(id)) return *found;
  std::vector<std::string> ids;
  for (const Preset& preset : presetTable()) ids.push_back(preset.id);
  const std::string near = nearest(id, ids);
  throwError(ErrorCode::badArgument, "there is no preset '{}'{}", id,
             near.empty() ? fmt::format("; known are {}", fmt::join(ids, ", ")) : ": did you mean '" + near + "'?");
}

Json fieldAt(const Project& project, std::size_t update, const std::string& path) {
  const UpdateSpec& spec = updateAt(project, update);
  const auto [group, key] = partsOf(path);
  if (path == "decay_exclude") return spec.decayExclude;
  if (group == "loss") {
    const Network* network = project.network(spec.network);
    for (const Node& node : network ? network->nodes : std::vector<Node>())
      if (isLoss(node)) return Values(lossEntry(), node.values).json(key);
    return nullptr;
  }
  const Json& given = groupOf(project, spec, group);
  if (key == "name") return nameOf(given);
  if (given.is_object() && given.contains(key)) return given[key];
  const Entry* entry = entryOf(spec, group);
  const Field* field = entry && (group != "warmup" || given.is_object()) ? entry->field(key) : nullptr;
  return field ? field->defaultValue : Json();
}

Project withFields(const Project& project, std::size_t update, const std::vector<PresetValue>& values) {
  Project changed = project;
  updateAt(changed, update);
  UpdateSpec& spec = changed.training.updates[update];
  // Names first: a field is one of the new rule's.
  for (const char* group : {"optimizer", "schedule"})
    for (const PresetValue& one : values)
      if (one.path == std::string(group) + ".name") {
        Json& named = std::string_view(group) == "optimizer" ? spec.optimizer : spec.schedule;
        if (nameOf(named) != one.value.get<std::string>()) named = Json{{"name", one.value}};
      }
  for (const PresetValue& one : values) {
    const auto [group, key] = partsOf(one.path);
    if (key == "name" && !group.empty()) continue;
    if (one.path == "decay_exclude")
      spec.decayExclude = one.value.get<std::vector<std::string>>();
    else if (group == "loss")
      setInLoss(changed, spec, key, one.value);
    else if (group == "optimizer")
      put(spec.optimizer, key, one.value);
    else if (group == "schedule")
      put(spec.schedule, key, one.value);
    else if (group == "warmup")
      put(spec.warmup, key, one.value);
    else
      put(changed.training.settings, key, one.value);
  }
  if (spec.warmup.is_object() && spec.warmup.empty()) spec.warmup = nullptr;
  changed.training.settings = withoutDefaults(settingsEntry(), changed.training.settings);
  return changed;
}

Proposal withPreset(const Project& project, std::size_t update, const Preset& preset, const PresetScale& scale) {
  const UpdateSpec& spec = updateAt(project, update);
  const std::int64_t own =
                         std::max<std::int64_t>(1, Values(settingsEntry(), project.training.settings).integer("batch")),
                     batch = scale.batch > 0 ? scale.batch : own;
  std::vector<PresetValue> values{{"batch", batch,
                                   scale.batch == 0 ? fmt::format("stays; published with {}", preset.batch)
                                   : scale.batch == preset.batch
                                       ? preset.source
                                       : fmt::format("chosen; published with {}", preset.batch)}};
  bool stages = false;
  for (const PresetValue& one : preset.values) {
    PresetValue value = one;
    if (one.path == "batch_then") {
      stages = true;
      value.source += fmt::format(": {} becomes {}", preset.batch, one.value.dump());
      for (Json& stage : value.value)
        stage = std::llround(stage.get<double>() * static_cast<double>(batch) / static_cast<double>(preset.batch));
    }
    values.push_back(std::move(value));
  }
  if (!stages) {
    values.push_back({"batch_at", Json::array(), "the recipe's batch stays"});
    values.push_back({"batch_then", Json::array(), "the recipe's batch stays"});
  }
  // As a whole: what the recipe does not name is not left over from before.
  Project bare = project;
  bare.training.updates[update].optimizer = Json{{"name", nameOf(spec.optimizer)}};
  bare.training.updates[update].schedule = Json{{"name", nameOf(spec.schedule)}};
  bare.training.updates[update].warmup = nullptr;
  Proposal proposal{.project = withFields(bare, update, values), .changes = {}};
  Json& settings = proposal.project.training.settings;
  std::string refused;
  if (const auto refusal = refusedReduction(settings, scale.ranks)) {
    refused = refusal->text;
    settings.erase("reduction");
    if (refusedReduction(settings, scale.ranks)) settings.erase("wire");
  }
  for (const PresetValue& one : values) {
    FieldChange change{one.path, fieldAt(project, update, one.path), fieldAt(proposal.project, update, one.path),
                       one.source};
    if (one.path == "reduction" && !refused.empty()) change.reason = "left out: " + refused;
    if (equal(change.before, change.after)) change.after = change.before;
    const auto [group, key] = partsOf(one.path);
    if (group == "loss" && change.after.is_null()) change.reason = "left out: the network has no SoftmaxCrossEntropy";
    if ((one.path == "batch_at" || one.path == "batch_then") && !stages && change.same()) continue;
    proposal.changes.push_back(std::move(change));
  }
  for (const char* group : {"optimizer", "schedule", "warmup"})
    addReset(proposal.changes, project, proposal.project, update, group);
  return proposal;
}

std::string toText(const std::vector<FieldChange>& changes) {
  std::string text;
  for (const FieldChange& change : changes)
    text += fmt::format("  {}{}{}{}\n", padded(change.path, 30), padded(textOf(change.before), 18),
                        padded(change.same() ? "as it is" : textOf(change.after), 24), change.reason);
  return text;
}

Json toJson(const std::vector<FieldChange>& changes) {
  Json all = Json::array();
  for (const FieldChange& change : changes)
    all.push_back(
        {{"path", change.path}, {"before", change.before}, {"after", change.after}, {"reason", change.reason}});
  return all;
}

}  // namespace loom
