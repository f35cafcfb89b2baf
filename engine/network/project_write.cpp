#include <cmath>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/graph.h"
#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

// Whole pixels as integers, others to a hundredth: what a person does not see shall not stir git.
Json coordinate(double value) {
  const double rounded = std::round(value * 100) / 100;
  if (rounded == std::floor(rounded)) return static_cast<std::int64_t>(rounded);
  return rounded;
}

void append(Json& to, const Json& fields) {
  for (const auto& [key, value] : fields.items()) to[key] = value;
}

Json writeNode(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  Json json{{"id", node.id}, {"layer", layer ? layer->entry.id : node.layer}};
  if (!node.shares.empty()) json["shares"] = node.shares;
  append(json, layer ? withoutDefaults(layer->entry, node.values) : node.values);
  if (node.placed && std::abs(node.x) <= 1e7 && std::abs(node.y) <= 1e7)
    json["at"] = {coordinate(node.x), coordinate(node.y)};
  return json;
}

Json writeNetwork(const Network& network) {
  std::map<std::string_view, const LayerDefinition*> layers;
  for (const Node& node : network.nodes) layers.emplace(node.id, findLayer(node.layer));
  const auto layerOf = [&](const Endpoint& endpoint) {
    const auto found = layers.find(endpoint.node);
    return found == layers.end() ? nullptr : found->second;
  };
  Json nodes = Json::array(), edges = Json::array();
  for (const Node& node : network.nodes) nodes.push_back(writeNode(node));
  for (const Edge& edge : network.edges)
    edges.push_back(
        {endpointText(edge.from, layerOf(edge.from), false), endpointText(edge.to, layerOf(edge.to), true)});
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

Json writeDataset(const DatasetSpec& dataset) {
  Json json = Json::object();
  if (!dataset.csv.empty()) json["csv"] = dataset.csv;
  append(json, withoutDefaults(datasetEntry(), dataset.extra));
  if (dataset.ownPrepare || !dataset.prepare.empty()) json["prepare"] = dataset.prepare;
  return json;
}

// Name first, then what differs from the entry; nothing at all when that is the default.
template <class Find>
void writeNamed(Json& to, const char* key, const Json& named, const Json& otherwise, Find find) {
  if (!named.is_object()) return;
  const std::string name =
      named.value("name", Json(nullptr)).is_string() ? named["name"].get<std::string>() : std::string();
  const auto* definition = find(name);
  Json values = named;
  values.erase("name");
  Json json{{"name", definition ? definition->entry.id : name}};
  append(json, definition ? withoutDefaults(definition->entry, values) : values);
  if (json != otherwise) to[key] = std::move(json);
}

Json writeUpdate(const UpdateSpec& update, const TrainingSpec* training) {
  const UpdateSpec usual = defaultUpdate();
  Json json = Json::object();
  if (update.network != usual.network) json["network"] = update.network;
  if (update.dataset != usual.dataset) json["dataset"] = update.dataset;
  if (training) {
    if (!training->validation.empty()) json["validation"] = training->validation;
    if (!training->validationNetwork.empty()) json["validation_network"] = training->validationNetwork;
    append(json, withoutDefaults(settingsEntry(), training->settings));
  }
  if (!update.parameters.empty()) json["parameters"] = update.parameters;
  if (update.decayExclude != usual.decayExclude) json["decay_exclude"] = update.decayExclude;
  if (update.every != usual.every) json["every"] = update.every;
  writeNamed(json, "optimizer", update.optimizer, usual.optimizer, findOptimizer);
  writeNamed(json, "schedule", update.schedule, usual.schedule, findSchedule);
  if (update.warmup.is_object()) json["warmup"] = withoutDefaults(warmupEntry(), update.warmup);
  return json;
}

Json writeTraining(const TrainingSpec& training) {
  if (training.updates.size() <= 1)
    return writeUpdate(training.updates.empty() ? defaultUpdate() : training.updates[0], &training);
  Json list = Json::array();
  for (std::size_t i = 0; i < training.updates.size(); ++i)
    list.push_back(writeUpdate(training.updates[i], i == 0 ? &training : nullptr));
  return list;
}

}  // namespace

std::string writeProject(const Project& project) try {
  Json file{{"loom", kProjectVersion}};
  if (!project.notes.empty()) file["notes"] = project.notes;
  file["networks"] = Json::object();
  for (const Network& network : project.networks) file["networks"][network.name] = writeNetwork(network);
  if (!project.datasets.empty()) file["datasets"] = Json::object();
  for (const DatasetSpec& dataset : project.datasets) file["datasets"][dataset.name] = writeDataset(dataset);
  Json training = writeTraining(project.training);
  if (!training.empty()) file["training"] = std::move(training);
  return formatJson(file);
} catch (const Json::exception& fault) {
  throwError(ErrorCode::badProject, "the project holds a text that is not UTF-8 and cannot be written ({})",
             fault.what());
}

void saveProject(const Project& project, const std::filesystem::path& path) {
  writeFileAtomically(path, writeProject(project));
}

}  // namespace loom
