#include "engine/search/structure_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/project_arguments.h"
#include "engine/network/structure_settings.h"

namespace loom {
namespace {

bool takesTheSame(const LayerDefinition& a, const LayerDefinition& b) {
  const auto alike = [](const std::vector<Port>& left, const std::vector<Port>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Port& one, const Port& other) {
      return one.type == other.type && one.several == other.several && one.optional == other.optional;
    });
  };
  return a.role == b.role && a.entry.category == b.entry.category && alike(a.entry.inputs, b.entry.inputs) &&
         alike(a.entry.outputs, b.entry.outputs);
}

// Whether a problem is of a field that the dimension sets itself.
bool isOf(const Problem& problem, const std::vector<std::string>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto dot = key.rfind('.');
    const std::string before = dot == std::string::npos ? std::string() : key.substr(0, dot);
    return problem.field == key.substr(dot + 1) && problem.node == before.substr(before.rfind('.') + 1);
  });
}

}  // namespace

std::vector<std::string> alternativesTo(const LayerDefinition& layer) {
  std::vector<std::string> ids{layer.entry.id};
  if (layer.role != LayerRole::layer || layer.entry.outputs.empty()) return ids;
  for (const LayerDefinition* each : layerTable())
    if (each != &layer && takesTheSame(*each, layer)) ids.push_back(each->entry.id);
  if (layer.entry.inputs.size() == 1 && !layer.entry.inputs[0].several && layer.entry.outputs.size() == 1)
    ids.push_back(kNoLayer);
  return ids;
}

bool isChainKey(const Json& project, const std::string& plain) {
  if (!plain.ends_with(".repeat") || plain.find(".nodes.") == std::string::npos) return false;
  const auto at = plain.find(".nodes.") + 7;
  const std::string ids = plain.substr(at, plain.rfind('.') - at);
  if (ids.find(',') != std::string::npos) return true;
  const std::vector<std::string> path = settingPath(project, plain);
  const Json drawing = project.value(path[0], Json::object()).value(path[1], Json::object());
  for (const Json& node : drawing.value("nodes", Json::array()))
    if (node.is_object() && node.value("id", Json()) == ids) return !node.contains("unit");
  return false;
}

std::string faultOfChain(const Json& project, const std::string& key) {
  Json changed = project;
  const std::vector<std::string> path = settingPath(project, key);
  try {
    return applyStructure(changed, path, 2, key) ? "" : "no chain of layers";
  } catch (const Error& error) {
    return error.message();
  }
}

void checkLayerName(const Json& project, const Dimension& dimension, const Json& value) {
  const Json units = project.value("units", Json::object());
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  if (name == kNoLayer || findLayer(name) || (units.is_object() && units.contains(name))) return;
  std::vector<std::string> known{kNoLayer};
  for (const LayerDefinition* each : layerTable()) known.push_back(each->entry.id);
  if (units.is_object())
    for (const auto& [unit, drawing] : units.items()) known.push_back(unit);
  const std::string near = nearest(name, known);
  throwError(ErrorCode::badArgument, "--over {}: there is no layer and no unit '{}'{}", toText(dimension), name,
             near.empty() ? std::string("; 'none' leaves the node out") : fmt::format(": did you mean '{}'?", near));
}

TriedValue tryValue(const Json& project, const std::vector<std::string>& settings, const Dimension& dimension,
                    const Json& value) {
  std::vector<std::string> all = settings;
  all.push_back(dimension.key + '=' + value.dump());
  Json changed = project;
  try {
    applySettings(changed, all);
  } catch (const Error& error) {
    return {error.message(), true};
  }
  if (!isOfDrawing(project, dimension)) {
    try {
      checkedProject(changed, "the project", {});
    } catch (const Error& error) {
      return {error.message(), true};
    }
    return {};
  }
  ReadProject read = readProject(changed.dump(), "the project");
  std::vector<Problem> problems = std::move(read.problems);
  if (read.readable)
    for (Problem& each : checkProject(read.project)) problems.push_back(std::move(each));
  std::erase_if(problems, [](const Problem& each) { return each.severity != Severity::error; });
  if (problems.empty()) return {};
  std::vector<std::string> keys;
  for (const std::string& each : singleKeys(dimension.key)) keys.push_back(each);
  const auto own =
      std::find_if(problems.begin(), problems.end(), [&](const Problem& each) { return isOf(each, keys); });
  return {problemText(own == problems.end() ? problems.front() : *own), own != problems.end()};
}

}  // namespace loom
