#include "engine/loom/project_arguments.h"

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {
namespace {

std::vector<std::string> splitPath(const std::string& key) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = key.find('.', begin);
    parts.push_back(key.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

// The element of a list that a path's part names: by place, or by its "id".
Json* elementOf(Json& list, const std::string& part) {
  for (Json& item : list)
    if (item.is_object() && item.value("id", std::string()) == part) return &item;
  if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos && part.size() < 6)
    if (const auto place = static_cast<std::size_t>(std::stoi(part)); place < list.size()) return &list[place];
  return nullptr;
}

void applyOne(Json& project, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throwError(ErrorCode::badArgument,
               "--set {}: key=value is wanted, such as --set epochs=3 or --set optimizer.learning_rate=0.1", setting);
  const std::string key = setting.substr(0, equals), text = setting.substr(equals + 1);
  std::vector<std::string> path = splitPath(key);
  static const std::vector<std::string> own{"networks", "datasets", "training", "notes"};
  if (std::find(own.begin(), own.end(), path.front()) == own.end()) path.insert(path.begin(), "training");
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) value = text;
  Json* place = &project;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool last = i + 1 == path.size();
    if (path[i].empty()) throwError(ErrorCode::badArgument, "--set {}: the key has an empty part", setting);
    if (place->is_array()) {
      place = elementOf(*place, path[i]);
      if (!place)
        throwError(ErrorCode::badArgument,
                   "--set {}: the list has no '{}'; elements are named by their id or their place from 0", setting,
                   path[i]);
      if (last) *place = value;
      continue;
    }
    if (!place->is_object() && !place->is_null())
      throwError(ErrorCode::badArgument, "--set {}: '{}' stands in {}, which is no object", setting, path[i],
                 place->dump());
    if (last && value.is_null())
      place->erase(path[i]);
    else if (last)
      (*place)[path[i]] = value;
    else
      place = &(*place)[path[i]];
  }
}

}  // namespace

void applySettings(Json& project, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) applyOne(project, setting);
}

std::string problemText(const Problem& problem) {
  std::string where;
  if (!problem.network.empty()) where += "network '" + problem.network + "'";
  if (!problem.node.empty() && problem.message.find(problem.node) == std::string::npos)
    where += (where.empty() ? "" : ", ") + ("'" + problem.node + "'");
  const std::string key = problem.field.substr(problem.field.rfind('.') + 1);
  if (!key.empty() && problem.message.find(key) == std::string::npos)
    where += (where.empty() ? "" : ", ") + problem.field;
  return where.empty() ? problem.message : where + ": " + problem.message;
}

LoadedProject checkedProject(const Json& json, const std::string& name, const std::vector<std::string>& settings) {
  Json changed = json;
  if (!settings.empty() && changed.is_object()) applySettings(changed, settings);
  ReadProject read = readProject(changed.dump(), name);
  std::vector<Problem> problems = read.problems;
  if (read.readable)
    for (Problem& problem : checkProject(read.project)) {
      const std::string text = problemText(problem);
      if (std::none_of(problems.begin(), problems.end(),
                       [&text](const Problem& one) { return problemText(one) == text; }))
        problems.push_back(std::move(problem));
    }
  if (changed.is_object() && changed.contains("loom") && changed["loom"].is_number() &&
      changed["loom"].get<double>() > kProjectVersion && !problems.empty())
    throwError(ErrorCode::newerVersion, "{}: {}", name, problemText(problems.front()));
  LoadedProject loaded{.project = std::move(read.project), .warnings = {}};
  std::vector<std::string> errors;
  for (const Problem& problem : problems)
    (problem.severity == Severity::error ? errors : loaded.warnings).push_back(problemText(problem));
  if (errors.empty()) return loaded;
  if (errors.size() == 1) throwError(ErrorCode::badProject, "{}: {}", name, errors.front());
  std::string text;
  for (const std::string& error : errors) text += "\n  - " + error;
  throwError(ErrorCode::badProject, "{} has {} faults:{}", name, errors.size(), text);
}

std::filesystem::path projectFile(const std::filesystem::path& given) {
  std::error_code fault;
  if (!std::filesystem::is_directory(given, fault)) return given;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(given, fault))
    if (entry.path().extension() == ".loom" && entry.is_regular_file(fault)) found.push_back(entry.path());
  if (found.size() == 1) return found.front();
  if (found.empty())
    throwError(ErrorCode::missingFile, "the folder {} holds no project: name a .loom file, or a folder with one",
               given.string());
  std::sort(found.begin(), found.end());
  std::string names;
  for (const std::filesystem::path& file : found) names += (names.empty() ? "" : ", ") + file.filename().string();
  throwError(ErrorCode::badArgument, "the folder {} holds {} projects: name one of {}", given.string(), found.size(),
             names);
}

LoadedProject loadForTraining(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  const std::string name = file.filename().string();
  return checkedProject(parseJson(readFile(file, std::size_t{256} << 20), name), name, settings);
}

}  // namespace loom
