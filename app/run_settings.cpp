#include "app/run_settings.h"

#include <algorithm>

#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"
#include "widgets/chart/format.h"
#include "widgets/document/setting_fields.h"

namespace loom {
namespace {

const QString kMissing = QStringLiteral("–");

void addDefaults(Json& flat, const Entry& entry, const std::string& prefix) {
  for (const Field& field : entry.fields)
    if (!field.defaultValue.is_null() && !field.defaultValue.is_structured() && !flat.contains(prefix + field.key))
      flat[prefix + field.key] = field.defaultValue;
}

// Name and fields of the optimizer or schedule; one that this version does not know keeps what it was given.
template <class Find>
void addNamed(Json& flat, const std::string& group, const Json& otherwise, const Find& find) {
  Json& name = flat[group + ".name"];
  if (!name.is_string()) name = otherwise.value("name", std::string());
  if (const auto* found = find(name.get<std::string>())) {
    name = found->entry.id;
    addDefaults(flat, found->entry, group + ".");
  }
}

bool beginsWith(const Json& flat, const std::string& prefix) {
  for (const auto& [key, value] : flat.items())
    if (key.rfind(prefix, 0) == 0) return true;
  return false;
}

}  // namespace

Json withDefaults(const Json& flat) {
  if (!flat.is_object() || flat.empty()) return Json::object();
  Json full = flat;
  addDefaults(full, settingsEntry(), {});
  // Several updates stand under their numbers, each with an optimizer of its own.
  if (beginsWith(flat, "1.") || beginsWith(flat, ".1.")) return full;
  const UpdateSpec update = defaultUpdate();
  addNamed(full, "optimizer", update.optimizer, findOptimizer);
  addNamed(full, "schedule", update.schedule, findSchedule);
  if (beginsWith(flat, "warmup.")) addDefaults(full, warmupEntry(), "warmup.");
  return full;
}

QString labelOfSetting(const QString& key) {
  const QString last = key.section('.', -1);
  QString label = last == "name" && key.contains('.') ? key.section('.', -2, -2) : last;
  if (const Field* field = fieldOfSetting(key.toStdString())) label = QString::fromStdString(field->label);
  label.replace('_', ' ');
  if (key.startsWith("warmup.")) label = QObject::tr("Warm-up, %1").arg(label.toLower());
  return label.left(1).toUpper() + label.mid(1);
}

QString textOfSetting(const QString& key, const Json& value) {
  if (value.is_null()) return kMissing;
  if (value.is_string()) {
    const Field* field = fieldOfSetting(key.toStdString());
    const std::string& word = value.get_ref<const std::string&>();
    for (const Choice& choice : field ? field->choices : std::vector<Choice>())
      if (choice.id == word) return QString::fromStdString(choice.label);
    return QString::fromStdString(word);
  }
  if (value.is_boolean()) return value.get<bool>() ? QObject::tr("yes") : QObject::tr("no");
  if (value.is_number_float()) return formatRate(value.get<double>());
  return value.is_number() ? formatCount(value.get<double>()) : QString::fromStdString(value.dump());
}

NamedValues namedSettings(const Json& given, const Json& full) {
  NamedValues values;
  for (const auto& item : full.items())
    values.push_back({item.key(), comparableText(item.value()), item.value().is_number(), given.contains(item.key())});
  return values;
}

}  // namespace loom
