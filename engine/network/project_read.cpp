#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/catalogue/nulls.h"
#include "engine/catalogue/text.h"
#include "engine/network/form_reader.h"
#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

class ProjectReader : private FormReader {
 public:
  ReadProject read(const Json& file, const std::string& name) {
    if (!file.is_object())
      return unreadable("", fmt::format("{}: a project is a JSON object, but this is {}", name, shown(file)));
    const auto version = file.find("loom");
    if (version == file.end())
      return unreadable(
          "loom",
          fmt::format("{}: no Gradloom project: the key \"loom\" with the version of the format is missing", name));
    const bool isHuge = version->is_number_unsigned() && version->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
    if (!version->is_number_integer() || (!isHuge && *version < 1))
      return unreadable("loom", fmt::format("{}: \"loom\" is {}, but the version of the format is wanted, {}", name,
                                            shown(*version), kProjectVersion));
    if (isHuge || *version > kProjectVersion)
      return unreadable(
          "loom",
          fmt::format("{}: the format's version is {}, but this Gradloom reads up to {}: it was made by a newer one",
                      name, shown(*version), kProjectVersion));
    m_result.readable = true;
    onlyKeys(file, "", {"loom", "notes", "networks", "units", "datasets", "training"});
    text(file, "", "notes", m_result.project.notes);
    readDrawings(file, m_result.project, m_problems);
    if (const Json* datasets = child(file, "", "datasets", Json::value_t::object))
      for (const auto& [key, value] : datasets->items()) readDataset(key, value);
    readTraining(file);
    m_result.problems = std::move(m_problems);
    return std::move(m_result);
  }

  ReadProject unreadable(std::string field, std::string message) {
    m_result.readable = false;
    report(std::move(field), std::move(message));
    m_result.problems = std::move(m_problems);
    return std::move(m_result);
  }

 private:
  // What stands a floor below an update, by its path: of the optimizer and the schedule that are chosen.
  static std::vector<std::string> keysBelow(const Json& update) {
    std::vector<std::string> keys;
    const auto add = [&](const std::string& group, const Entry& entry) {
      for (const Field& field : entry.fields) keys.push_back(group + "." + field.key);
    };
    const auto chosen = [&](const char* group, const Json& otherwise) {
      const auto found = update.find(group);
      const bool named =
          found != update.end() && found->is_object() && found->contains("name") && (*found)["name"].is_string();
      return (named ? *found : otherwise).at("name").get<std::string>();
    };
    const UpdateSpec usual = defaultUpdate();
    if (const auto* optimizer = findOptimizer(chosen("optimizer", usual.optimizer))) add("optimizer", optimizer->entry);
    if (const auto* schedule = findSchedule(chosen("schedule", usual.schedule))) add("schedule", schedule->entry);
    add("warmup", warmupEntry());
    return keys;
  }

  void readDataset(const std::string& name, const Json& json) {
    const std::string path = join("datasets", name);
    checkName("dataset", name, path);
    DatasetSpec& dataset = m_result.project.datasets.emplace_back();
    dataset.name = name;
    if (!json.is_object())
      return report(path, fmt::format("{} is {}, but an object with a CSV is wanted", path, shown(json)));
    std::vector<std::string> known{"prepare"};
    for (const Field& field : datasetEntry().fields) known.push_back(field.key);
    onlyKeys(json, path, known);
    text(json, path, "csv", dataset.csv);
    Json others = Json::object();
    for (const Field& field : datasetEntry().fields)
      if (field.key != "csv" && json.contains(field.key)) others[field.key] = json[field.key];
    dataset.extra = withoutDefaultsButNulls(datasetEntry(), others);
    const Json* prepare = child(json, path, "prepare", Json::value_t::array);
    if (!prepare) return;
    dataset.ownPrepare = true;
    for (std::size_t i = 0; i < prepare->size(); ++i) {
      const Json& step = (*prepare)[i];
      const std::string place = fmt::format("{}.prepare[{}]", path, i);
      if (!step.is_object() || !step.contains("step") || !step["step"].is_string())
        report(place, fmt::format("{} is {}, but an object with a step is wanted, such as {{\"step\": \"Normalise\"}}",
                                  place, shown(step)));
      else
        dataset.prepare.push_back(step);
    }
  }

  void readTraining(const Json& file) {
    TrainingSpec& training = m_result.project.training;
    const auto found = file.find("training");
    if (found == file.end()) {
      training.updates.push_back(defaultUpdate());
      return;
    }
    if (found->is_object()) {
      readUpdate(*found, "training", true);
    } else if (found->is_array() && !found->empty()) {
      for (std::size_t i = 0; i < found->size(); ++i) readUpdate((*found)[i], fmt::format("training[{}]", i), i == 0);
    } else {
      report("training",
             fmt::format("training is {}, but an object, or a list of one object for each update, is wanted",
                         shown(*found)));
    }
    if (training.updates.empty()) training.updates.push_back(defaultUpdate());
  }

  void readUpdate(const Json& json, const std::string& path, bool isFirst) {
    if (!json.is_object()) return report(path, fmt::format("{} is {}, but an object is wanted", path, shown(json)));
    TrainingSpec& training = m_result.project.training;
    std::vector<std::string> known{"optimizer", "schedule", "warmup"}, general;
    for (const Field& field : updateEntry().fields) known.push_back(field.key);
    for (const Entry* entry : {&validationEntry(), &settingsEntry()})
      for (const Field& field : entry->fields) general.push_back(field.key);
    if (isFirst) known.insert(known.end(), general.begin(), general.end());
    Json rest = json;
    if (!isFirst) {
      for (const std::string& key : general) {
        if (!json.contains(key)) continue;
        report(join(path, key),
               fmt::format("{}: '{}' holds for all updates and stands in the first of them", path, key));
        rest.erase(key);
      }
    }
    onlyKeys(rest, path, known, {}, keysBelow(json));

    UpdateSpec update = defaultUpdate();
    text(json, path, "network", update.network);
    text(json, path, "dataset", update.dataset);
    texts(json, path, "parameters", update.parameters);
    texts(json, path, "decay_exclude", update.decayExclude);
    if (const auto every = json.find("every"); every != json.end()) {
      if (every->is_number_integer() && *every >= 1 && *every <= 1000000)
        update.every = every->get<int>();
      else
        report(join(path, "every"),
               fmt::format("{}: 'every' is {}, but a whole number from 1 to 1000000 is wanted", path, shown(*every)));
    }
    named(json, path, "optimizer", update.optimizer, [](const std::string& name) -> const Entry* {
      const OptimizerDefinition* found = findOptimizer(name);
      return found ? &found->entry : nullptr;
    });
    named(json, path, "schedule", update.schedule, [](const std::string& name) -> const Entry* {
      const ScheduleDefinition* found = findSchedule(name);
      return found ? &found->entry : nullptr;
    });
    if (const Json* warmup = json.contains("warmup") && json["warmup"].is_null()
                                 ? nullptr
                                 : child(json, path, "warmup", Json::value_t::object))
      update.warmup = withoutDefaultsButNulls(warmupEntry(), *warmup);
    training.updates.push_back(std::move(update));
    if (!isFirst) return;
    text(json, path, "validation", training.validation);
    text(json, path, "validation_network", training.validationNetwork);
    Json settings = Json::object();
    for (const Field& field : settingsEntry().fields)
      if (json.contains(field.key)) settings[field.key] = json[field.key];
    training.settings = withoutDefaultsButNulls(settingsEntry(), settings);
  }

  void texts(const Json& json, const std::string& path, const char* key, std::vector<std::string>& into) {
    const Json* list = child(json, path, key, Json::value_t::array);
    if (!list) return;
    std::vector<std::string> all;
    for (const Json& item : *list) {
      if (!item.is_string())
        return report(join(path, key),
                      fmt::format("{} is {}, but a list of texts is wanted", join(path, key), shown(*list)));
      all.push_back(item.get<std::string>());
    }
    into = std::move(all);
  }

  // {"name": "Adam", ...}: an entry's name and fields.
  template <class Find>
  void named(const Json& json, const std::string& path, const char* key, Json& into, Find find) {
    const Json* found = child(json, path, key, Json::value_t::object);
    if (!found) return;
    const auto name = found->find("name");
    if (name == found->end() || !name->is_string())
      return report(join(path, key) + ".name",
                    fmt::format("{}: {}, but its name is wanted, such as {}", join(path, key),
                                name == found->end() ? "'name' is missing" : fmt::format("'name' is {}", shown(*name)),
                                into["name"].dump()));
    const Entry* entry = find(name->get<std::string>());
    Json values = *found;
    values.erase("name");
    if (entry) values = withoutDefaultsButNulls(*entry, values);
    Json result = Json::object();
    result["name"] = entry ? entry->id : name->get<std::string>();
    for (const auto& [field, value] : values.items()) result[field] = value;
    into = std::move(result);
  }

  ReadProject m_result;
};

}  // namespace

const Network* Project::network(std::string_view name) const {
  for (const Network& network : networks)
    if (network.name == name) return &network;
  return nullptr;
}

Network* Project::network(std::string_view name) {
  return const_cast<Network*>(std::as_const(*this).network(name));
}

const Network* Project::unit(std::string_view name) const {
  for (const Network& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

Network* Project::unit(std::string_view name) {
  return const_cast<Network*>(std::as_const(*this).unit(name));
}

const Network* Project::drawing(std::string_view name) const {
  const Network* found = network(name);
  return found ? found : unit(name);
}

Network* Project::drawing(std::string_view name) {
  return const_cast<Network*>(std::as_const(*this).drawing(name));
}

const DatasetSpec* Project::dataset(std::string_view name) const {
  for (const DatasetSpec& dataset : datasets)
    if (dataset.name == name) return &dataset;
  return nullptr;
}

ReadProject readProject(std::string_view content, const std::string& name) {
  ProjectReader reader;
  try {
    return reader.read(parseJson(content, name), name);
  } catch (const Error& error) {
    return reader.unreadable("", error.what());
  }
}

Project loadProject(const std::filesystem::path& path) {
  ReadProject read = readProject(readFile(path, std::size_t{256} << 20), path.filename().string());
  for (const Problem& problem : read.problems) {
    const bool newer = !read.readable && problem.field == "loom" && problem.message.find("newer") != std::string::npos;
    throw Error(newer ? ErrorCode::newerVersion : ErrorCode::badProject, problem.message);
  }
  return std::move(read.project);
}

}  // namespace loom
