#include "launcher/job.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>
#include <QRegularExpression>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/run_folder.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

const QString kJobFile = QStringLiteral("/job.json"), kJobCopy = QStringLiteral("/job.copy.json");

Json readObject(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > (64 << 20)) return Json::object();
  const QByteArray text = file.readAll();
  Json value = Json::parse(text.begin(), text.end(), nullptr, false);
  return value.is_object() ? value : Json::object();
}

QString textOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

std::int64_t integerOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

QStringList listOf(const Json& object, const char* key) {
  QStringList list;
  const auto found = object.find(key);
  if (found != object.end() && found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) list << QString::fromStdString(each.get<std::string>());
  return list;
}

Json toJson(const QStringList& list) {
  Json array = Json::array();
  for (const QString& each : list) array.push_back(each.toStdString());
  return array;
}

}  // namespace

QString makeRunId(const QString& project) {
  QString stem = project.isEmpty() ? QStringLiteral("run") : QFileInfo(project).completeBaseName();
  // Plain on every host, and read as a name everywhere: an accent goes, the letter stays; what begins with a dash would
  // be an option.
  stem = stem.normalized(QString::NormalizationForm_KD).remove(QRegularExpression("\\p{Mn}"));
  stem.replace(QRegularExpression("[^A-Za-z0-9_-]+"), "-").remove(QRegularExpression("^[_-]+"));
  while (stem.endsWith('-')) stem.chop(1);
  if (stem.isEmpty()) stem = QStringLiteral("run");
  return QStringLiteral("%1-%2-%3")
      .arg(stem.left(40), QDateTime::currentDateTime().toString("yyyyMMdd-HHmmss"))
      .arg(QRandomGenerator::global()->bounded(0x10000), 4, 16, QLatin1Char('0'));
}

Json* trainingSettings(Json& project) {
  const auto training = project.find("training");
  if (training == project.end()) return nullptr;
  if (training->is_object()) return &*training;
  return training->is_array() && !training->empty() && (*training)[0].is_object() ? &(*training)[0] : nullptr;
}

QByteArray withAbsolutePaths(const QByteArray& snapshot, const QString& folder) {
  Json project = Json::parse(snapshot.begin(), snapshot.end(), nullptr, false);
  if (!project.is_object() || folder.isEmpty()) return snapshot;
  const auto makeAbsolute = [&folder](Json& object, const char* key) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return;
    const QString path = QString::fromStdString(object[key].get<std::string>());
    if (!path.isEmpty() && QDir::isRelativePath(path)) object[key] = QDir::cleanPath(folder + '/' + path).toStdString();
  };
  if (const auto datasets = project.find("datasets"); datasets != project.end() && datasets->is_object())
    for (auto& [name, dataset] : datasets->items()) makeAbsolute(dataset, "csv");
  if (Json* const settings = trainingSettings(project)) makeAbsolute(*settings, "start_from");
  return QByteArray::fromStdString(formatJson(project));
}

void writeJobFile(const RunRecord& record, const JobFile& job) {
  Json file = {{"loom_job", 1},
               {"id", record.id.toStdString()},
               {"name", record.name.toStdString()},
               {"project", record.project.toStdString()},
               {"tags", toJson(record.tags)},
               {"note", record.note.toStdString()},
               {"created", record.created},
               {"overrides", toJson(job.overrides)},
               {"queued", job.queued},
               {"resume", job.resume},
               {"process", job.process},
               {"process_start", job.processStart},
               {"boot", job.bootId.toStdString()},
               {"start", job.start}};
  if (!job.host.isEmpty()) file["host"] = job.host.toStdString();
  if (!job.host.isEmpty() && job.accepted >= 0) file["accepted"] = job.accepted;
  if (job.ranks > 0) file["ranks"] = job.ranks;
  if (job.priority == Priority::shared) file["priority"] = "shared";
  if (job.gaveWay) file["gave_way"] = true;
  if (job.carry) file["carry"] = true;
  if (job.queued) file["place"] = job.place;
  const std::string text = formatJson(file) + "\n";
  for (const QString& name : {kJobFile, kJobCopy}) writeFileAtomically((job.folder + name).toStdString(), text);
}

bool readJobFile(const QString& folder, RunRecord& record, JobFile& job) {
  job = {.folder = folder};
  Json file = readObject(folder + kJobFile);
  if (!file.contains("loom_job")) file = readObject(folder + kJobCopy);
  if (!file.contains("loom_job")) return false;
  if (record.id.isEmpty()) record.id = textOf(file, "id");
  record.name = textOf(file, "name");
  record.project = textOf(file, "project");
  record.tags = listOf(file, "tags");
  record.note = textOf(file, "note");
  if (const auto created = file.find("created"); created != file.end() && created->is_number())
    record.created = *created;
  job.overrides = listOf(file, "overrides");
  job.queued = file.value("queued", Json()) == Json(true);
  job.resume = file.value("resume", Json()) == Json(true);
  job.process = integerOf(file, "process");
  job.processStart = integerOf(file, "process_start");
  job.bootId = textOf(file, "boot");
  job.host = textOf(file, "host");
  job.ranks = static_cast<int>(integerOf(file, "ranks"));
  job.priority = textOf(file, "priority") == "shared" ? Priority::shared : Priority::exclusive;
  job.gaveWay = file.value("gave_way", Json()) == Json(true);
  job.carry = file.value("carry", Json()) == Json(true);
  job.place = static_cast<int>(integerOf(file, "place"));
  job.start = static_cast<int>(integerOf(file, "start"));
  job.accepted = file.contains("accepted") ? static_cast<int>(integerOf(file, "accepted")) : -1;
  return true;
}

JobFile jobFileOf(const RunStore& store, const RunRecord& run) {
  RunRecord read;
  JobFile job;
  if (readJobFile(run.folder, read, job)) return job;
  const RunMark* const mark = store.mark(run.folder);
  if (mark && mark->host) {
    job.host = *mark->host;
    job.accepted = -1;
  } else if (QFile::exists(run.folder + kJobFile) || QFile::exists(run.folder + kJobCopy)) {
    throwError(ErrorCode::badData,
               "{}{} is damaged, and nothing else tells on which machine this run is: bring the file back, or start a "
               "new run",
               run.folder.toStdString(), kJobFile.toStdString());
  }
  return job;
}

QString hostIdOf(const RunStore& store, const RunRecord& run) {
  try {
    return jobFileOf(store, run).host;
  } catch (const Error&) {
    return {};
  }
}

void readRunFile(const QString& folder, RunRecord& record) {
  const Json run = readObject(folder + "/run.json");
  if (record.project.isEmpty()) record.project = textOf(run, "project_file");
  if (record.name.isEmpty()) record.name = textOf(run, "name");
  // Optimizer, schedule and what else an update has stand in the project; "settings" holds the fields of the run,
  // resolved.
  Json settings = Json::object();
  if (const auto project = run.find("project"); project != run.end() && project->is_object())
    if (const auto training = project->find("training"); training != project->end())
      settings = flattenSettings(*training);
  if (const auto resolved = run.find("settings"); resolved != run.end() && resolved->is_object())
    settings.update(flattenSettings(*resolved));
  if (!settings.empty()) record.settings = settings;
}

}  // namespace loom
