#include "launcher/run_parts.h"

#include <QFile>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "launcher/job.h"

namespace loom {
namespace {

constexpr int kMostEvents = 100000;  // checkpoints are among them, steps are not
constexpr std::size_t kLongestRunFile = std::size_t{256} << 20;

}  // namespace

RunCheckpoints checkpointsOf(RunStore& store, const QString& id) {
  RunCheckpoints found;
  for (const Event& event : store.events(id, kMostEvents)) {
    const auto file = event.body.find("file");
    if (event.kind != "checkpoint" || file == event.body.end() || !file->is_string()) continue;
    found.newest = QFileInfo(QString::fromStdString(file->get<std::string>())).fileName();
    if (event.body.value("best", Json()) == Json(true)) found.best = found.newest;
  }
  return found;
}

QString pointedCheckpoint(const QString& pointer) {
  QFile file(pointer);
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QByteArray text = file.read(1 << 20);
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  const auto name = json.is_object() ? json.find("file") : json.end();
  if (!json.is_object() || name == json.end() || !name->is_string()) return {};
  return QFileInfo(QString::fromStdString(name->get<std::string>())).fileName();
}

QStringList runParts(const QString& folder) {
  const auto isHere = [&](const QString& part) { return QFile::exists(folder + '/' + part); };
  QStringList parts;
  for (const char* pointer : {"last", "best"}) {
    const QString file = QStringLiteral("checkpoints/%1.json").arg(QLatin1String(pointer));
    const QString checkpoint = "checkpoints/" + pointedCheckpoint(folder + '/' + file);
    if (checkpoint.endsWith('/') || !isHere(checkpoint)) continue;
    parts << file;
    if (!parts.contains(checkpoint)) parts << checkpoint;
  }
  if (!parts.contains("checkpoints/last.json"))
    throwError(ErrorCode::missingFile, "there is no newest checkpoint in {}/checkpoints to go on from: fetch it first",
               folder.toStdString());
  for (const char* part : {"run.json", "events.jsonl"})
    if (!isHere(part))
      throwError(ErrorCode::missingFile, "{}/{} is not there: another machine cannot go on without it",
                 folder.toStdString(), part);
  parts << "run.json"
        << "events.jsonl";
  if (QFileInfo(folder + "/log.txt").size() > 0) parts << "log.txt";
  return parts;
}

void requireSnapshot(const QString& folder) {
  const QString snapshot = folder + "/project.loom", description = folder + "/run.json";
  if (QFile::exists(snapshot)) return;
  const Json run = parseJson(readFile(description.toStdString(), kLongestRunFile), description.toStdString());
  const auto project = run.find("project"), place = run.find("project_folder");
  if (project == run.end() || place == run.end() || !place->is_string())
    throwError(ErrorCode::badData, "{} names no project: another machine cannot go on without it",
               description.toStdString());
  const QByteArray text = withAbsolutePaths(QByteArray::fromStdString(formatJson(*project)),
                                            QString::fromStdString(place->get<std::string>()));
  writeFileAtomically(snapshot.toStdString(),
                      std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
}

}  // namespace loom
