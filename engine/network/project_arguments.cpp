#include "engine/network/project_arguments.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {

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
