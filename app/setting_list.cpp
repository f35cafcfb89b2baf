#include "app/setting_list.h"

#include <QStringList>
#include <algorithm>
#include <set>

#include "app/run_settings.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

std::string nameOf(const Json& named) {
  const auto name = named.is_object() ? named.find("name") : named.end();
  return named.is_object() && name != named.end() && name->is_string() ? name->get<std::string>() : std::string();
}

template <class Table>
Field choiceOf(const char* label, const char* help, const Json& standard, const Table& table) {
  Field field{.key = "name", .label = label, .help = help, .type = FieldType::choice, .defaultValue = nameOf(standard)};
  for (const auto* each : table) field.choices.push_back({each->entry.id, each->entry.label, each->entry.summary});
  return field;
}

}  // namespace

const std::vector<SettingSection>& settingSections() {
  static const std::vector<SettingSection> sections = [] {
    std::vector<SettingSection> all = {
        {"Length", {"epochs", "max_steps"}},
        {"Large batch",
         {"batch", "batch_at", "batch_then", "accumulate", "rate_scaling", "base_batch", "batch_statistics",
          "watch_gradients"}},
        {"First weights", {"start_from", "start_from_parameters"}},
        {"Regularisation", {"clip_norm", "perturbation", "afterwards", "evaluated_weights", "average_decay"}},
        {"Data and shuffle", {"shuffle", "weigh_classes", "oversample", "drop_last"}},
        {"Validation", {"validate_every", "monitor"}},
        {"Checkpoints", {"checkpoint_every"}},
        {"Recording", {"record_layers"}},
        {"Precision and memory", {"precision", "tf32", "memory_budget", "shard_optimizer"}},
        {"Communication", {"reduction", "wire", "fusion", "gradients", "virtual_ranks"}},
        {"Reproducibility", {"seed", "deterministic", "threads"}},
        {"Further", {}},  // what stands in none of these
    };
    // What a choice (a reduction, a method) asks besides stands behind it, in the catalogue's order.
    for (const char* choice : {"reduction", "perturbation", "gradients", "afterwards"})
      for (SettingSection& section : all) {
        auto place = std::find(section.keys.begin(), section.keys.end(), choice);
        if (place == section.keys.end()) continue;
        for (const Field& field : settingsEntry().fields)
          if (field.onlyWhen.rfind(std::string(choice) + "=", 0) == 0)
            place = section.keys.insert(place + 1, field.key);
      }
    std::set<std::string> placed;
    for (const SettingSection& section : all) placed.insert(section.keys.begin(), section.keys.end());
    for (const Field& field : settingsEntry().fields)
      if (!placed.count(field.key)) all.back().keys.push_back(field.key);
    std::erase_if(all, [](const SettingSection& section) { return section.keys.empty(); });
    return all;
  }();
  return sections;
}

const Field& ruleField() {
  static const Field field =
      choiceOf("Rule", "How weights follow from gradients.", defaultUpdate().optimizer, optimizerTable());
  return field;
}

const Field& scheduleField() {
  static const Field field =
      choiceOf("Then", "How the learning rate goes on behind the warm-up.", defaultUpdate().schedule, scheduleTable());
  return field;
}

std::vector<Setting> settingsOf(const Project& project, std::size_t update) {
  std::vector<Setting> all;
  const auto& updates = project.training.updates;
  const auto add = [&](const QString& section, const std::string& prefix, const std::string& group, const Field& field,
                       Json value) {
    const std::string key = group + field.key;
    all.push_back({section, labelOfSetting(QString::fromStdString(key)), prefix + key, key, &field, std::move(value)});
  };
  const auto addEntry = [&](const QString& section, const std::string& prefix, const std::string& group,
                            const Entry& entry, const Json& given) {
    for (const Field& field : entry.fields) {
      if (!isRead(entry, field, given)) continue;
      const bool own = given.is_object() && given.contains(field.key);
      add(section, prefix, group, field, own ? given[field.key] : field.defaultValue);
    }
  };
  const bool several = updates.size() > 1;
  if (update < updates.size()) {
    const UpdateSpec& spec = updates[update];
    const std::string prefix = several ? "training." + std::to_string(update) + "." : "training.";
    const QString optimizer = QStringLiteral("Optimizer"), schedule = QStringLiteral("Schedule");
    add(optimizer, prefix, "optimizer.", ruleField(), nameOf(spec.optimizer));
    if (const OptimizerDefinition* rule = findOptimizer(nameOf(spec.optimizer)))
      addEntry(optimizer, prefix, "optimizer.", rule->entry, spec.optimizer);
    addEntry(schedule, prefix, "warmup.", warmupEntry(), spec.warmup);
    add(schedule, prefix, "schedule.", scheduleField(), nameOf(spec.schedule));
    if (const ScheduleDefinition* then = findSchedule(nameOf(spec.schedule)))
      addEntry(schedule, prefix, "schedule.", then->entry, spec.schedule);
  }
  for (const SettingSection& section : settingSections())
    for (const std::string& key : section.keys) {
      const Field& field = *settingsEntry().field(key);
      const Json& given = project.training.settings;
      if (!isRead(settingsEntry(), field, given)) continue;
      const bool own = given.is_object() && given.contains(key);
      add(section.title, several ? "training.0." : "training.", {}, field, own ? given[key] : field.defaultValue);
    }
  return all;
}

bool isCalled(const Setting& setting, const QString& words) {
  return isCalled(setting.section, setting.key, *setting.field, words);
}

bool isCalled(const QString& section, const std::string& key, const Field& field, const QString& words) {
  const QString name = QString::fromStdString(key);
  QStringList names{labelOfSetting(name), section, QString::fromStdString(field.label), name};
  for (const Choice& choice : field.choices)
    names << QString::fromStdString(choice.label) << QString::fromStdString(choice.id);
  const QString all = names.join(' ');
  const QStringList wanted = words.split(' ', Qt::SkipEmptyParts);
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

Json withRule(const Json& optimizer, const std::string& rule) {
  Json changed{{"name", rule}};
  const OptimizerDefinition* found = findOptimizer(rule);
  for (const std::string& key : found ? found->traits.common : std::vector<std::string>())
    if (found->entry.field(key) && optimizer.is_object() && optimizer.contains(key)) changed[key] = optimizer[key];
  return changed;
}

Json withWarmup(Json warmup, const std::string& key, const Json& value) {
  if (!warmup.is_object()) warmup = Json::object();
  if (value.is_null())
    warmup.erase(key);
  else
    warmup[key] = value;
  if (!value.is_null() && key == "epochs") warmup.erase("steps");
  if (!value.is_null() && key == "steps") warmup.erase("epochs");
  return warmup.empty() ? Json() : warmup;
}

}  // namespace loom
