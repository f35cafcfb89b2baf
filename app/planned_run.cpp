#include "app/planned_run.h"

#include <QCoreApplication>
#include <QFile>
#include <algorithm>
#include <map>
#include <set>

#include "app/run_groups.h"
#include "app/run_settings.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/project.h"
#include "engine/network/project_settings.h"
#include "launcher/job.h"

namespace loom {
namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;

// Where the fields of the run stand: in `training`, or in the first of its updates.
Json& fieldsOf(Json& project) {
  Json& training = project["training"];
  return training.is_array() && !training.empty() ? training.front() : training;
}

std::int64_t takeSeed(Json& project) {
  Json& fields = fieldsOf(project);
  if (!fields.is_object()) fields = Json::object();
  const auto given = fields.find("seed");
  const std::int64_t seed = given != fields.end() && given->is_number_integer()
                                ? given->get<std::int64_t>()
                                : settingsEntry().field("seed")->defaultValue.get<std::int64_t>();
  fields.erase("seed");
  return seed;
}

}  // namespace

Json projectOf(const PlannedRun& planned) {
  Json project = parseJson(planned.snapshot.toStdString(), "the project");
  std::vector<std::string> settings;
  for (const QString& each : planned.overrides) settings.push_back(each.toStdString());
  applySettings(project, settings);
  return project;
}

PlannedRun plannedAs(const RunRecord& run) {
  PlannedRun planned;
  RunRecord read;
  JobFile job;
  if (readJobFile(run.folder, read, job)) {
    planned.overrides = job.overrides;
    planned.snapshot = QByteArray::fromStdString(readFile((run.folder + "/project.loom").toStdString(), kLargest));
    return planned;
  }
  // Started without the IDE: its description holds the project with what was set.
  const Json description = parseJson(readFile((run.folder + "/run.json").toStdString(), kLargest), "run.json");
  if (!description.is_object() || !description.contains("project"))
    throwError(ErrorCode::badData, "{} does not say what it trained: its run.json holds no project",
               run.name.toStdString());
  const QByteArray text = QByteArray::fromStdString(formatJson(description["project"]));
  planned.snapshot =
      withAbsolutePaths(text, QString::fromStdString(description.value("project_folder", std::string())));
  return planned;
}

QString faultOf(const PlannedRun& planned) {
  try {
    const ReadProject read = readProject(projectOf(planned).dump(), "the project");
    std::vector<Problem> problems = read.problems;
    if (read.readable)
      for (Problem& each : checkProject(read.project)) problems.push_back(std::move(each));
    for (const Problem& each : problems)
      if (each.severity == Severity::error) return QString::fromStdString(each.message);
    return {};
  } catch (const Error& error) {
    return QString::fromStdString(error.what());
  }
}

PlannedRun withSeed(PlannedRun planned, std::int64_t seed) {
  planned.overrides.removeIf([](const QString& each) {
    const QString key = each.section('=', 0, 0).trimmed();
    return key == "seed" || key == "training.seed" || key == "training.0.seed";
  });
  const Json project = projectOf(planned);
  const bool list = project.contains("training") && project["training"].is_array();
  planned.overrides << QStringLiteral("%1=%2").arg(list ? "training.0.seed" : "training.seed").arg(seed);
  return planned;
}

namespace {

// What else than the seed a run trains with, defaults written out: a run that says the default is no other one.
std::string settingsBesideSeed(const Json& flat) {
  std::string all;
  std::map<std::string, std::string> sorted;
  for (NamedValue& each : namedSettings(flat, withDefaults(flat)))
    if (!isSeedSetting(QString::fromStdString(each.name))) sorted[std::move(each.name)] = std::move(each.text);
  for (const auto& [name, text] : sorted) all += name + '=' + text + '\n';
  return all;
}

}  // namespace

QList<std::int64_t> freeSeeds(const PlannedRun& planned, const QList<RunRecord>& runs, int count) {
  Json own = projectOf(planned);
  const std::string wanted = settingsBesideSeed(flattenSettings(own.value("training", Json::object())));
  const std::int64_t first = takeSeed(own);
  std::set<std::int64_t> taken{first};
  for (const RunRecord& run : runs) {
    try {
      Json settings = run.settings;
      if (settings.empty()) {  // it has not begun: only its folder tells
        settings = flattenSettings(projectOf(plannedAs(run)).value("training", Json::object()));
      }
      if (settingsBesideSeed(settings) != wanted) continue;
      const auto seed = settings.find("seed");
      taken.insert(seed != settings.end() && seed->is_number_integer()
                       ? seed->get<std::int64_t>()
                       : settingsEntry().field("seed")->defaultValue.get<std::int64_t>());
    } catch (const Error&) {
      continue;  // a folder that is gone takes no seed
    }
  }
  QList<std::int64_t> free;
  for (std::int64_t seed = first + 1; free.size() < count; ++seed)
    if (!taken.count(seed)) free << seed;
  return free;
}

}  // namespace loom
