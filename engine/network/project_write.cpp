#include <cmath>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/graph.h"
#include "engine/network/project.h"
#include "engine/network/unit_values.h"
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

Json writeNode(const Project& project, const Node& node) {
  const LayerDefinition* layer = node.unit.empty() ? findLayer(node.layer) : nullptr;
  const Network* unit = node.unit.empty() ? nullptr : project.unit(node.unit);
  Json json{{"id", node.id}};
  if (node.unit.empty())
    json["layer"] = layer ? layer->entry.id : node.layer;
  else
    json["unit"] = node.unit;
  if (!node.shares.empty()) json["shares"] = node.shares;
  append(json, layer  ? withoutDefaults(layer->entry, node.values)
               : unit ? withoutDefaults(*unit, node.values)
                      : node.values);
  if (!node.unit.empty() && isRepeated(node.repeat)) json["repeat"] = node.repeat;
  if (!node.group.empty()) json["group"] = node.group;
  if (node.placed && std::abs(node.x) <= 1e7 && std::abs(node.y) <= 1e7)
    json["at"] = {coordinate(node.x), coordinate(node.y)};
  return json;
}

Json writeArgument(const Argument& argument) {
  if (argument.label.empty() && argument.help.empty() && argument.range.is_null()) return argument.defaultValue;
  Json json = Json::object();
  if (!argument.defaultValue.is_null()) json["default"] = argument.defaultValue;
  if (!argument.label.empty()) json["label"] = argument.label;
  if (!argument.help.empty()) json["help"] = argument.help;
  if (!argument.range.is_null()) json["range"] = argument.range;
  return json;
}

Json writeGroup(const Group& group) {
  Json json{{"id", group.id}};
  if (!group.title.empty()) json["title"] = group.title;
  if (!group.colour.empty()) json["colour"] = group.colour;
  if (!group.parent.empty()) json["parent"] = group.parent;
  if (group.folded) json["folded"] = true;
  if (isRepeated(group.repeat)) json["repeat"] = group.repeat;
  if (group.counter != Group().counter) json["counter"] = group.counter;
  return json;
}

Json writeComment(const Comment& comment) {
  const Comment usual;
  Json json{{"id", comment.id}};
  if (!comment.text.empty()) json["text"] = comment.text;
  if (!comment.colour.empty()) json["colour"] = comment.colour;
  json["at"] = {coordinate(comment.x), coordinate(comment.y)};
  if (comment.width != usual.width || comment.height != usual.height)
    json["size"] = {coordinate(comment.width), coordinate(comment.height)};
  return json;
}

// "stage1", or "stage1.mask" where the pin is not the first one of its node.
std::string pinText(const Endpoint& endpoint, const NodePorts& ports, bool isInput) {
  const std::vector<Port>& side = isInput ? ports.inputs : ports.outputs;
  const std::string_view first = !side.empty() ? std::string_view(side[0].key) : isInput ? "input" : "output";
  return endpoint.port.empty() || endpoint.port == first ? endpoint.node : endpoint.node + "." + endpoint.port;
}

Json writeDrawing(const Project& project, const Network& network) {
  std::map<std::string_view, const LayerDefinition*> layers;
  std::map<std::string_view, NodePorts> units;
  for (const Node& node : network.nodes) {
    if (node.unit.empty())
      layers.emplace(node.id, findLayer(node.layer));
    else
      units.emplace(node.id, portsOf(project, node));
  }
  const auto text = [&](const Endpoint& endpoint, bool isInput) {
    if (const auto unit = units.find(endpoint.node); unit != units.end())
      return pinText(endpoint, unit->second, isInput);
    const auto found = layers.find(endpoint.node);
    return endpointText(endpoint, found == layers.end() ? nullptr : found->second, isInput);
  };
  Json json = Json::object();
  if (!network.words.help.empty()) json["help"] = network.words.help;
  if (!network.words.icon.empty()) json["icon"] = network.words.icon;
  if (!network.words.origin.empty()) json["origin"] = network.words.origin;
  if (!network.arguments.empty()) json["arguments"] = Json::object();
  for (const Argument& argument : network.arguments) json["arguments"][argument.name] = writeArgument(argument);
  Json nodes = Json::array(), edges = Json::array(), groups = Json::array(), comments = Json::array();
  for (const Node& node : network.nodes) nodes.push_back(writeNode(project, node));
  for (const Edge& edge : network.edges) edges.push_back({text(edge.from, false), text(edge.to, true)});
  for (const Group& group : network.groups) groups.push_back(writeGroup(group));
  for (const Comment& comment : network.comments) comments.push_back(writeComment(comment));
  json["nodes"] = std::move(nodes);
  json["edges"] = std::move(edges);
  if (!groups.empty()) json["groups"] = std::move(groups);
  if (!comments.empty()) json["comments"] = std::move(comments);
  return json;
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
  for (const Network& network : project.networks) file["networks"][network.name] = writeDrawing(project, network);
  if (!project.units.empty()) file["units"] = Json::object();
  for (const Network& unit : project.units) file["units"][unit.name] = writeDrawing(project, unit);
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
