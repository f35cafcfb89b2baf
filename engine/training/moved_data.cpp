#include "engine/training/moved_data.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "engine/network/project_arguments.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

bool isThere(const fs::path& file) {
  std::error_code fault;
  return fs::exists(file, fault);
}

// The project as it lies on this machine, read when it is asked for: it may have been changed since, or be broken.
struct LocalProject {
  fs::path file;
  std::optional<Project> project;

  LocalProject(const RunFolder& run, const RunDescription& description, const DataPlaces& places)
      : file(places.projectFile) {
    if (!file.empty()) return;
    const fs::path runs = fs::absolute(run.path).lexically_normal().parent_path();
    if (runs.filename() != "runs") return;
    file = runs.parent_path() / description.projectFile.filename();
    try {
      if (!isThere(file)) file = loom::projectFile(runs.parent_path());  // on a host it had another name
    } catch (const Error&) {
      file.clear();
    }
  }
  fs::path csvOf(const std::string& dataset) {
    if (file.empty() || !isThere(file)) return {};
    try {
      if (!project) project = loadForTraining(file, {}).project;
    } catch (const Error&) {
      project.emplace();
    }
    const DatasetSpec* spec = project->dataset(dataset);
    return spec && !spec->csv.empty() ? fs::weakly_canonical(fs::absolute(file).parent_path() / spec->csv) : fs::path();
  }
};

}  // namespace

void placeData(Project& project, const std::map<std::string, fs::path>& given) {
  for (const auto& [name, csv] : given) {
    const auto found = std::find_if(project.datasets.begin(), project.datasets.end(),
                                    [&name = name](const DatasetSpec& one) { return one.name == name; });
    if (found == project.datasets.end()) {
      std::vector<std::string> known;
      for (const DatasetSpec& one : project.datasets) known.push_back(one.name);
      throwError(ErrorCode::badArgument, "--data {}={}: the project has no dataset '{}'; it has {}", name, csv.string(),
                 name, fmt::join(known, ", "));
    }
    found->csv = fs::absolute(csv).lexically_normal().string();
  }
}

std::vector<std::string> findData(Project& project, const RunFolder& run, const RunDescription& description,
                                  const DataPlaces& places) {
  std::vector<std::string> moved;
  placeData(project, places.given);
  for (const auto& [name, csv] : places.given) moved.push_back(name);
  LocalProject local(run, description, places);
  for (DatasetSpec& dataset : project.datasets) {
    if (dataset.csv.empty() || places.given.count(dataset.name) || !description.facts.contains(dataset.name)) continue;
    const fs::path then = description.folder / dataset.csv;
    if (isThere(then)) continue;
    const fs::path now = local.csvOf(dataset.name);
    if (now.empty() || !isThere(now))
      throwError(ErrorCode::missingFile,
                 "dataset '{}' of the run {} lay in {}{}, which is not here{}; say where it lies with --data {}=CSV",
                 dataset.name, run.path.filename().string(), then.string(),
                 description.hosts.empty() ? std::string() : " on " + description.hosts.front(),
                 now.empty() ? std::string() : fmt::format(", nor is {} of {}", now.string(), local.file.string()),
                 dataset.name);
    dataset.csv = now.string();
    moved.push_back(dataset.name);
  }
  return moved;
}

std::map<std::string, std::string> changedData(const Json& trained, const Json& opened) {
  std::map<std::string, std::string> changed;
  for (const auto& [name, now] : opened.items()) {
    const auto then = trained.find(name);
    if (then == trained.end()) continue;
    const auto rows = [](const Json& facts) { return facts.value("rows", std::int64_t{0}); };
    const auto content = [](const Json& facts) { return facts.value("content", std::string()); };
    const bool hashed = !content(*then).empty() && !content(now).empty();  // earlier programs wrote none
    if (rows(*then) == rows(now) && (!hashed || content(*then) == content(now))) continue;
    changed[name] = fmt::format("dataset '{}' ({}) does not hold what the run was trained on: {} rows{} then, {}{} now",
                                name, now.value("csv", std::string()), rows(*then),
                                hashed ? " with the hash " + content(*then) : std::string(), rows(now),
                                hashed ? " with the hash " + content(now) : std::string());
  }
  return changed;
}

}  // namespace loom
