// ProjectDocument: datasets and training.
#include <algorithm>
#include <charconv>

#include "widgets/document/project_document.h"
#include "widgets/document/project_paths.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

QString settingLabel(const std::string& key) {
  const Field* field = settingsEntry().field(key);
  return field == nullptr || field->label.empty() ? q(key) : q(field->label).toLower();
}

QString nameOf(const Json& entry) {
  const auto name = entry.is_object() ? entry.find("name") : entry.end();
  return entry.is_object() && name != entry.end() && name->is_string() ? q(name->get<std::string>()) : QString();
}

// "decay_exclude" and the like are members of UpdateSpec; what the file calls them.
bool putUpdateField(UpdateSpec& update, const std::string& key, const Json& value) {
  const auto texts = [](const Json& list) {
    std::vector<std::string> read;
    for (const Json& each : list)
      if (each.is_string()) read.push_back(each.get<std::string>());
    return read;
  };
  if (key == "network")
    update.network = value.is_string() ? value.get<std::string>() : UpdateSpec().network;
  else if (key == "dataset")
    update.dataset = value.is_string() ? value.get<std::string>() : UpdateSpec().dataset;
  else if (key == "parameters")
    update.parameters = value.is_array() ? texts(value) : UpdateSpec().parameters;
  else if (key == "decay_exclude")
    update.decayExclude = value.is_array() ? texts(value) : UpdateSpec().decayExclude;
  else if (key == "every")
    update.every = value.is_number_integer() ? value.get<int>() : UpdateSpec().every;
  else if (key == "optimizer")
    update.optimizer = value;
  else if (key == "schedule")
    update.schedule = value;
  else if (key == "warmup")
    update.warmup = value;
  else
    return false;
  return true;
}

void putKey(Json& object, const std::string& key, const Json& value) {
  if (!object.is_object()) object = Json::object();
  if (value.is_null())
    object.erase(key);
  else
    object[key] = value;
}

}  // namespace

void ProjectDocument::setSetting(const std::string& key, const Json& value) {
  edit(
      tr("Set %1").arg(settingLabel(key)),
      [&](ProjectEdit& project) {
        const Field* field = settingsEntry().field(key);
        const bool standard = field != nullptr && !field->defaultValue.is_null() && field->defaultValue == value;
        const bool file = field != nullptr && field->type == FieldType::file && value.is_string();
        putKey(project.training().settings, key,
               standard ? Json()
               : file   ? Json(absolutePath(value.get<std::string>(), folder()))
                        : value);
      },
      QStringLiteral("setting ") + q(key));
}

void ProjectDocument::editUpdate(const QString& text, std::size_t update,
                                 const std::function<void(UpdateSpec&)>& change, const QString& mergeKey) {
  edit(
      text,
      [&](ProjectEdit& project) {
        if (update == 0 && project.training().updates.empty()) project.training().updates.push_back(defaultUpdate());
        if (update < project.training().updates.size()) change(project.training().updates[update]);
      },
      mergeKey);
}

void ProjectDocument::setOptimizer(std::size_t update, const Json& optimizer) {
  const QString name = nameOf(optimizer);
  editUpdate(
      tr("Set optimizer %1").arg(name).trimmed(), update, [&](UpdateSpec& spec) { spec.optimizer = optimizer; },
      QStringLiteral("optimizer %1 %2").arg(update).arg(name));
}

void ProjectDocument::setSchedule(std::size_t update, const Json& schedule) {
  const QString name = nameOf(schedule);
  editUpdate(
      tr("Set schedule %1").arg(name).trimmed(), update, [&](UpdateSpec& spec) { spec.schedule = schedule; },
      QStringLiteral("schedule %1 %2").arg(update).arg(name));
}

void ProjectDocument::setWarmup(std::size_t update, const Json& warmup) {
  editUpdate(
      warmup.is_null() ? tr("Remove warm-up") : tr("Set warm-up"), update,
      [&](UpdateSpec& spec) { spec.warmup = warmup; },
      warmup.is_null() ? QString() : QStringLiteral("warmup %1").arg(update));
}

void ProjectDocument::setUpdate(std::size_t update, const UpdateSpec& spec) {
  editUpdate(tr("Change update %1").arg(update + 1), update, [&](UpdateSpec& changed) { changed = spec; });
}

void ProjectDocument::addUpdate(const UpdateSpec& spec) {
  edit(tr("Add update"), [&](ProjectEdit& project) { project.training().updates.push_back(spec); });
}

void ProjectDocument::removeUpdate(std::size_t update) {
  edit(tr("Remove update %1").arg(update + 1), [&](ProjectEdit& project) {
    auto& updates = project.training().updates;
    if (update < updates.size() && updates.size() > 1)
      updates.erase(updates.begin() + static_cast<std::ptrdiff_t>(update));
  });
}

void ProjectDocument::setValidation(const std::string& dataset, const std::string& network) {
  edit(dataset.empty() ? tr("Do not validate") : tr("Validate on %1").arg(q(dataset)), [&](ProjectEdit& project) {
    project.training().validation = dataset;
    project.training().validationNetwork = network;
  });
}

Outcome ProjectDocument::addDataset(const DatasetSpec& dataset) {
  if (dataset.name.empty()) return Outcome::refused(tr("A dataset needs a name"));
  if (m_project.dataset(dataset.name) != nullptr)
    return Outcome::refused(tr("There is a dataset '%1' already").arg(q(dataset.name)));
  DatasetSpec added = dataset;
  added.csv = absolutePath(dataset.csv, folder());
  edit(tr("Add dataset %1").arg(q(dataset.name)), [&](ProjectEdit& project) { project.datasets().push_back(added); });
  return Outcome::done();
}

Outcome ProjectDocument::setDataset(const std::string& name, const DatasetSpec& dataset) {
  if (m_project.dataset(name) == nullptr) return Outcome::refused(tr("There is no dataset '%1'").arg(q(name)));
  if (dataset.name.empty()) return Outcome::refused(tr("A dataset needs a name"));
  if (dataset.name != name && m_project.dataset(dataset.name) != nullptr)
    return Outcome::refused(tr("There is a dataset '%1' already").arg(q(dataset.name)));
  edit(
      tr("Change dataset %1").arg(q(dataset.name)),
      [&](ProjectEdit& project) {
        for (DatasetSpec& each : project.datasets()) {
          if (each.name != name) continue;
          each = dataset;
          each.csv = absolutePath(dataset.csv, folder());
        }
        for (UpdateSpec& update : project.training().updates)
          if (update.dataset == name) update.dataset = dataset.name;
        if (project.training().validation == name) project.training().validation = dataset.name;
      },
      dataset.name == name ? QStringLiteral("dataset ") + q(name) : QString());
  return Outcome::done();
}

void ProjectDocument::removeDataset(const std::string& name) {
  edit(tr("Remove dataset %1").arg(q(name)), [&](ProjectEdit& project) {
    std::erase_if(project.datasets(), [&](const DatasetSpec& each) { return each.name == name; });
    if (project.training().validation == name) project.training().validation.clear();
  });
}

void ProjectDocument::setPrepare(const std::string& dataset, const std::vector<Json>& steps) {
  edit(
      tr("Change preparation of %1").arg(q(dataset)),
      [&](ProjectEdit& project) {
        for (DatasetSpec& each : project.datasets()) {
          if (each.name != dataset) continue;
          each.prepare = steps;
          each.ownPrepare = true;
        }
      },
      QStringLiteral("prepare ") + q(dataset));
}

void ProjectDocument::setNotes(const std::string& notes) {
  edit(
      tr("Edit notes"), [&](ProjectEdit& project) { project.notes() = notes; }, QStringLiteral("notes"));
}

// "training.batch", "training.optimizer.learning_rate", "training.1.schedule.power", "training[1].every",
// "datasets.training.csv", "datasets.training.prepare[0].by"
Outcome ProjectDocument::setPath(const std::string& path, const Json& value) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.' || c == '[')
      parts.emplace_back();
    else if (c != ']')
      parts.back() += c;
  }
  const Outcome unknown = Outcome::refused(tr("There is no setting '%1'").arg(q(path)));
  if (parts.front() == "datasets" && parts.size() == 5 && parts[2] == "prepare") {
    const DatasetSpec* found = m_project.dataset(parts[1]);
    std::size_t step = 0;
    const char* end = parts[3].data() + parts[3].size();
    if (found == nullptr || std::from_chars(parts[3].data(), end, step).ptr != end || step >= found->prepare.size())
      return unknown;
    std::vector<Json> steps = found->prepare;
    putKey(steps[step], parts[4], value);
    setPrepare(parts[1], steps);
    return Outcome::done();
  }
  if (parts.front() == "datasets" && parts.size() == 3) {
    const DatasetSpec* found = m_project.dataset(parts[1]);
    if (found == nullptr) return unknown;
    if (parts[2] == "prepare") {
      if (!value.is_array() && !value.is_null()) return unknown;
      setPrepare(parts[1], value.is_null() ? std::vector<Json>() : value.get<std::vector<Json>>());
      return Outcome::done();
    }
    DatasetSpec changed = *found;
    if (parts[2] == "csv")
      changed.csv = value.is_string() ? value.get<std::string>() : std::string();
    else
      putKey(changed.extra, parts[2], value);
    return setDataset(parts[1], changed);
  }
  if (parts.front() != "training" || parts.size() < 2) return unknown;
  std::size_t update = 0, next = 1;
  const std::string& number = parts[1];
  if (std::from_chars(number.data(), number.data() + number.size(), update).ptr == number.data() + number.size() &&
      parts.size() > 2)
    next = 2;
  else
    update = 0;
  if (update > 0 && update >= m_project.training.updates.size()) return unknown;
  const std::string& key = parts[next];
  const QString words = tr("Set %1").arg(q(parts.back()).replace(QLatin1Char('_'), QLatin1Char(' ')));
  if (parts.size() == next + 2) {
    editUpdate(words, update, [&](UpdateSpec& spec) {
      if (key == "optimizer") putKey(spec.optimizer, parts.back(), value);
      if (key == "schedule") putKey(spec.schedule, parts.back(), value);
      if (key == "warmup") putKey(spec.warmup, parts.back(), value);
    });
    return Outcome::done();
  }
  if (parts.size() != next + 1) return unknown;
  if (key == "validation" || key == "validation_network") {
    const std::string name = value.is_string() ? value.get<std::string>() : std::string();
    setValidation(key == "validation" ? name : m_project.training.validation,
                  key == "validation" ? m_project.training.validationNetwork : name);
    return Outcome::done();
  }
  if (UpdateSpec probe; putUpdateField(probe, key, value)) {
    editUpdate(words, update, [&](UpdateSpec& spec) { putUpdateField(spec, key, value); });
    return Outcome::done();
  }
  setSetting(key, value);
  return Outcome::done();
}

}  // namespace loom
