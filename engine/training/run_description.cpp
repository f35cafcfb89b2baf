#include "engine/training/run_description.h"

#include <chrono>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/training/settings.h"

namespace loom {
namespace {
constexpr int kRunVersion = 1;
}

void writeRunDescription(const RunFolder& folder, const RunDescription& description) {
  const Json settings = resolvedSettings(description.project.training.settings);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  Json json = {{"run", kRunVersion},
               {"name", folder.path.filename().string()},
               {"created", now},
               {"project_file", description.projectFile.string()},
               {"project_folder", description.folder.string()},
               {"project", parseJson(writeProject(description.project), "the project")},
               {"settings", settings},
               {"datasets", description.facts},
               {"seed", settings.value("seed", Json())},
               {"ranks", description.ranks},
               {"hosts", description.hosts},
               {"device", description.device},
               {"precision", description.precision},
               {"versions", description.versions}};
  if (!description.startedFrom.is_null()) json["started_from"] = description.startedFrom;
  writeFileAtomically(folder.runFile(), formatJson(json));
}

RunDescription readRunDescription(const RunFolder& folder) {
  const std::string name = folder.runFile().string();
  if (!std::filesystem::exists(folder.runFile()))
    throwError(ErrorCode::missingFile, "{} is no run: it has no run.json; name the folder that `loom train` wrote",
               folder.path.string());
  const Json json = parseJson(readFile(folder.runFile(), std::size_t{256} << 20), name);
  try {
    if (const int version = json.at("run").get<int>(); version > kRunVersion)
      throwError(ErrorCode::newerVersion, "{} was written by a newer Gradloom (version {}; this one reads up to {})",
                 name, version, kRunVersion);
    // Member by member: when an expression throws, g++ 12 destroys members of a braced aggregate that were never made.
    RunDescription description;
    description.projectFile = json.at("project_file").get<std::string>();
    description.folder = json.at("project_folder").get<std::string>();
    description.facts = json.at("datasets");
    description.device = json.at("device").get<std::string>();
    description.precision = json.at("precision").get<std::string>();
    description.versions = json.value("versions", Json::object());
    description.startedFrom = json.value("started_from", Json());
    description.ranks = json.value("ranks", 1);
    description.hosts = json.value("hosts", std::vector<std::string>());
    ReadProject read = readProject(json.at("project").dump(), name + " (its project)");
    for (const Problem& problem : read.problems)
      if (problem.severity == Severity::error) throwError(ErrorCode::badProject, "{}: {}", name, problem.message);
    description.project = std::move(read.project);
    for (const auto& [dataset, facts] : description.facts.items())
      description.prepared[dataset] = facts.at("prepare").get<std::vector<Json>>();
    return description;
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData, "{} is no description of a run ({})", name, fault.what());
  }
}

}  // namespace loom
