#include "widgets/library/own_layer.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/document/unit_entry.h"

namespace loom {

namespace {

constexpr qint64 kLargestLayer = 4 << 20;

QString say(const char* words) {
  return QCoreApplication::translate("OwnLayer", words);
}

// The unit first, then those that it uses in the order of their first use. Empty where one of them is missing or leads
// back.
std::vector<const Network*> reached(const Project& project, const std::string& top, QString& fault) {
  std::vector<const Network*> order;
  std::set<std::string> open;
  const std::function<bool(const std::string&)> visit = [&](const std::string& name) {
    const Network* unit = project.unit(name);
    if (unit == nullptr) {
      fault = say("it uses a unit '%1' that the file does not hold").arg(q(name));
      return false;
    }
    if (open.contains(name)) {
      fault = say("its unit '%1' uses itself").arg(q(name));
      return false;
    }
    if (std::find(order.begin(), order.end(), unit) != order.end()) return true;
    order.push_back(unit);
    open.insert(name);
    for (const Node& node : unit->nodes)
      if (!node.unit.empty() && !visit(node.unit)) return false;
    open.erase(name);
    return true;
  };
  if (!visit(top)) order.clear();
  return order;
}

}  // namespace

std::string ownLayerName(std::string_view id) {
  return id.starts_with(kOwnPrefix) ? std::string(id.substr(kOwnPrefix.size())) : std::string();
}

Project definitionOf(const Project& project, const std::string& unit) {
  Project alone;
  QString fault;
  for (const Network* each : reached(project, unit, fault)) alone.units.push_back(*each);
  alone.training.updates.push_back(defaultUpdate());
  return alone;
}

std::string definitionText(const Project& project, const std::string& unit) {
  Project alone = definitionOf(project, unit);
  std::map<std::string, std::string> names;
  for (const Network& each : alone.units) names[each.name] = "U" + std::to_string(names.size());
  for (Network& each : alone.units) {
    each.name = names[each.name];
    each.words.origin.clear();
    for (Node& node : each.nodes)
      if (!node.unit.empty()) node.unit = names[node.unit];
  }
  return writeProject(alone);
}

std::string ownLayerText(const Project& project, const std::string& unit) {
  Project alone = definitionOf(project, unit);
  for (Network& each : alone.units) each.words.origin.clear();
  Json json = Json::parse(writeProject(alone));
  json.erase("training");
  json["layer"] = unit;
  return formatJson(json);
}

OwnLayer ownLayerOf(std::string text, const QString& file) {
  OwnLayer layer;
  layer.file = file;
  layer.name = QFileInfo(file).completeBaseName().toStdString();
  layer.entry.id = std::string(kOwnPrefix) + layer.name;
  layer.entry.label = layer.name;
  layer.entry.category = kOwnCategory;
  layer.entry.icon = "problems";
  layer.text = std::move(text);
  Json json = Json::parse(layer.text, nullptr, false);
  if (!json.is_object()) {
    layer.fault = say("it holds no JSON object");
    return layer;
  }
  const auto named = json.find("layer");
  if (named == json.end() || !named->is_string()) {
    layer.fault = say("it does not say which of its units is the layer: \"layer\": \"NAME\"");
    return layer;
  }
  const std::string name = named->get<std::string>();
  json.erase("layer");
  try {
    ReadProject read = readProject(json.dump(-1, ' ', false, Json::error_handler_t::replace), layer.name);
    if (!read.readable || !read.problems.empty()) {
      layer.fault = read.problems.empty() ? say("it cannot be read") : q(read.problems.front().message);
      return layer;
    }
    if (!validId(name) || isLayerName(name)) {
      layer.fault = say("'%1' is no name for a unit").arg(q(name).left(40));
      return layer;
    }
    const std::vector<const Network*> units = reached(read.project, name, layer.fault);
    for (const Network* unit : units)
      for (const Node& node : unit->nodes)
        if (node.unit.empty() && findLayer(node.layer) == nullptr)
          layer.fault = say("it uses a layer '%1' that this program does not have").arg(q(node.layer).left(40));
    if (units.empty() || !layer.fault.isEmpty()) return layer;
    layer.definition = definitionOf(read.project, name);
    layer.name = name;
    const Network& unit = *layer.definition.unit(name);
    layer.entry = unitEntry(layer.definition, unit);
    layer.entry.id = std::string(kOwnPrefix) + name;
    layer.entry.category = kOwnCategory;
    const std::string& help = unit.words.help;
    const std::size_t end = help.find_first_of(".\n");
    layer.entry.summary = help.empty() ? say("A layer of your own").toStdString()
                                       : help.substr(0, end == std::string::npos ? end : end + 1);
    if (help.empty()) layer.entry.help = layer.entry.summary;
  } catch (const std::exception& error) {
    layer.fault = q(error.what());
  }
  return layer;
}

OwnLayer readOwnLayer(const QString& path) {
  QFile file(path);
  OwnLayer broken = ownLayerOf({}, path);
  if (file.size() > kLargestLayer) {
    broken.fault = say("it is larger than %1 MiB").arg(kLargestLayer >> 20);
    return broken;
  }
  if (!file.open(QIODevice::ReadOnly)) {
    broken.fault = file.errorString();
    return broken;
  }
  return ownLayerOf(file.read(kLargestLayer).toStdString(), path);
}

}  // namespace loom
