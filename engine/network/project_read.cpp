#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/catalogue/text.h"
#include "engine/network/graph.h"
#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

class ProjectReader {
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
    onlyKeys(file, "", {"loom", "notes", "networks", "datasets", "training"});
    text(file, "", "notes", m_result.project.notes);
    if (const Json* networks = child(file, "", "networks", Json::value_t::object))
      for (const auto& [key, value] : networks->items()) readNetwork(key, value);
    if (const Json* datasets = child(file, "", "datasets", Json::value_t::object))
      for (const auto& [key, value] : datasets->items()) readDataset(key, value);
    readTraining(file);
    return std::move(m_result);
  }

  ReadProject unreadable(std::string field, std::string message) {
    m_result.readable = false;
    report(std::move(field), std::move(message));
    return std::move(m_result);
  }

 private:
  void report(std::string field, std::string message, std::string network = {}, std::string node = {}) {
    m_result.problems.push_back({.network = std::move(network),
                                 .node = std::move(node),
                                 .field = std::move(field),
                                 .message = std::move(message)});
  }

  static std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? clipped(key) : path + "." + clipped(key);
  }

  static std::string_view nameOf(Json::value_t type) {
    return type == Json::value_t::object ? "an object" : type == Json::value_t::array ? "a list" : "a text";
  }

  // The value under `key` when it is there and of the type; a problem when it is of another.
  const Json* child(const Json& object, const std::string& path, const char* key, Json::value_t type) {
    const auto found = object.find(key);
    if (found == object.end()) return nullptr;
    if (found->type() == type) return &*found;
    report(join(path, key), fmt::format("{} is {}, but {} is wanted", join(path, key), shown(*found), nameOf(type)));
    return nullptr;
  }

  bool text(const Json& object, const std::string& path, const char* key, std::string& into) {
    const Json* found = child(object, path, key, Json::value_t::string);
    if (found) into = found->get<std::string>();
    return found != nullptr;
  }

  void onlyKeys(const Json& object, const std::string& path, const std::vector<std::string>& known,
                std::string_view network = {}, const std::vector<std::string>& elsewhere = {}) {
    for (const auto& [key, value] : object.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      report(join(path, key), (path.empty() ? "" : path + ": ") + unknownKey(key, known, elsewhere), std::string(network));
    }
  }

  // What stands a floor below an update, by its path: of the optimizer and the schedule that are chosen.
  static std::vector<std::string> keysBelow(const Json& update) {
    std::vector<std::string> keys;
    const auto add = [&](const std::string& group, const Entry& entry) {
      for (const Field& field : entry.fields) keys.push_back(group + "." + field.key);
    };
    const auto chosen = [&](const char* group, const Json& otherwise) {
      const auto found = update.find(group);
      const bool named = found != update.end() && found->is_object() && found->contains("name") && (*found)["name"].is_string();
      return (named ? *found : otherwise).at("name").get<std::string>();
    };
    const UpdateSpec usual = defaultUpdate();
    if (const auto* optimizer = findOptimizer(chosen("optimizer", usual.optimizer))) add("optimizer", optimizer->entry);
    if (const auto* schedule = findSchedule(chosen("schedule", usual.schedule))) add("schedule", schedule->entry);
    add("warmup", warmupEntry());
    return keys;
  }

  void checkName(const std::string& kind, const std::string& name, const std::string& path) {
    if (!isValidId(name))
      report(path, fmt::format("'{}' is no name for a {}: a letter, then letters, digits, '_' and '-', at most 128",
                               clipped(name), kind));
  }

  void readNetwork(const std::string& name, const Json& json) {
    const std::string path = join("networks", name);
    Network& network = m_result.project.networks.emplace_back();
    network.name = name;
    checkName("network", name, path);
    if (!json.is_object())
      return report(path, fmt::format("{} is {}, but an object with nodes and edges is wanted", path, shown(json)),
                    name);
    onlyKeys(json, path, {"nodes", "edges"}, name);
    if (const Json* nodes = child(json, path, "nodes", Json::value_t::array))
      for (std::size_t i = 0; i < nodes->size(); ++i)
        readNode(network, (*nodes)[i], fmt::format("{}.nodes[{}]", path, i));
    if (const Json* edges = child(json, path, "edges", Json::value_t::array))
      for (std::size_t i = 0; i < edges->size(); ++i)
        readEdge(network, (*edges)[i], fmt::format("{}.edges[{}]", path, i));
    m_ids.clear();
  }

  void readNode(Network& network, const Json& json, const std::string& path) {
    if (!json.is_object())
      return report(path, fmt::format("{} is {}, but an object with id and layer is wanted", path, shown(json)),
                    network.name);
    Node node;
    const bool named = text(json, path, "id", node.id);
    if (!text(json, path, "layer", node.layer)) {
      if (!json.contains("layer"))
        report(join(path, "layer"), fmt::format("{}: the key 'layer' is missing", path), network.name, node.id);
      return;
    }
    const LayerDefinition* layer = findLayer(node.layer);
    if (layer) node.layer = layer->entry.id;  // an alias
    if (!named || m_ids.count(node.id)) {
      const std::string was = node.id;
      node.id = freeId(layer, named ? was : std::string("node"));
      report(join(path, "id"),
             named ? fmt::format("{}: two nodes are called '{}', but names must differ; this one is read as '{}'", path,
                                 clipped(was), clipped(node.id))
                   : fmt::format("{}: {}; the node is read as '{}'", path,
                                 json.contains("id") ? "'id' is no text" : "the key 'id' is missing", clipped(node.id)),
             network.name, node.id);
    }
    text(json, path, "shares", node.shares);
    readPlace(json, path, node);
    Json values = Json::object();
    for (const auto& [key, value] : json.items())
      if (key != "id" && key != "layer" && key != "at" && key != "shares") values[key] = value;
    node.values = layer ? withoutDefaults(layer->entry, values) : std::move(values);
    m_ids.emplace(node.id, layer);
    network.nodes.push_back(std::move(node));
  }

  std::string freeId(const LayerDefinition* layer, const std::string& wanted) const {
    const std::string base = isValidId(wanted) && wanted.size() < 100 ? wanted : layer ? "node" : "unknown";
    std::string id = base;
    for (std::size_t number = 2; m_ids.count(id); ++number) id = fmt::format("{}_{}", base, number);
    return id;
  }

  void readPlace(const Json& json, const std::string& path, Node& node) {
    const auto at = json.find("at");
    if (at == json.end()) return;
    const auto usable = [](const Json& value) { return value.is_number() && std::abs(value.get<double>()) <= 1e7; };
    if (!at->is_array() || at->size() != 2 || !usable((*at)[0]) || !usable((*at)[1])) {
      return report(
          join(path, "at"),
          fmt::format("{}: 'at' is {}, but the place of its centre is wanted, such as [120, 60]", path, shown(*at)));
    }
    node.x = (*at)[0].get<double>();
    node.y = (*at)[1].get<double>();
    node.placed = true;
  }

  void readEdge(Network& network, const Json& json, const std::string& path) {
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_string())
      return report(
          path,
          fmt::format("{} is {}, but two names are wanted, such as [\"conv1\", \"relu1\"] or [\"y\", \"loss.target\"]",
                      path, shown(json)),
          network.name);
    const auto endpoint = [&](const Json& value, bool isInput) {
      const std::string& name = value.get_ref<const std::string&>();
      const auto dot = name.find('.');
      if (dot != std::string::npos) return Endpoint{name.substr(0, dot), name.substr(dot + 1)};
      const auto found = m_ids.find(name);
      const LayerDefinition* layer = found == m_ids.end() ? nullptr : found->second;
      const std::vector<Port>* ports = layer ? isInput ? &layer->entry.inputs : &layer->entry.outputs : nullptr;
      return Endpoint{name, ports && !ports->empty() ? (*ports)[0].key : isInput ? "input" : "output"};
    };
    network.edges.push_back({endpoint(json[0], false), endpoint(json[1], true)});
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
    dataset.extra = withoutDefaults(datasetEntry(), others);
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
      update.warmup = withoutDefaults(warmupEntry(), *warmup);
    training.updates.push_back(std::move(update));
    if (!isFirst) return;
    text(json, path, "validation", training.validation);
    text(json, path, "validation_network", training.validationNetwork);
    Json settings = Json::object();
    for (const Field& field : settingsEntry().fields)
      if (json.contains(field.key)) settings[field.key] = json[field.key];
    training.settings = withoutDefaults(settingsEntry(), settings);
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
    if (entry) values = withoutDefaults(*entry, values);
    Json result = Json::object();
    result["name"] = entry ? entry->id : name->get<std::string>();
    for (const auto& [field, value] : values.items()) result[field] = value;
    into = std::move(result);
  }

  ReadProject m_result;
  std::map<std::string, const LayerDefinition*> m_ids;  // of the network that is being read
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
