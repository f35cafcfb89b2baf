#include "launcher/remote/packed_data.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/data/columns/resolve.h"
#include "engine/network/dataset_rows.h"
#include "launcher/job.h"
#include "launcher/run_parts.h"

namespace loom {
namespace {

Json* datasetsOf(Json& project) {
  const auto found = project.find("datasets");
  return found != project.end() && found->is_object() ? &*found : nullptr;
}

// The weights with which training begins: of a run's folder its best checkpoint, else its last one. Empty where there
// are none.
QString startFromOf(Json& project) {
  Json* const settings = trainingSettings(project);
  if (!settings || !settings->contains("start_from") || !(*settings)["start_from"].is_string()) return {};
  const QString path = QString::fromStdString((*settings)["start_from"].get<std::string>());
  if (!QFileInfo(path).isDir()) return path;
  for (const char* pointer : {"best.json", "last.json"}) {
    QFile file(path + "/checkpoints/" + pointer);
    const QByteArray text = file.open(QIODevice::ReadOnly) ? file.read(1 << 20) : QByteArray();
    const Json named = Json::parse(text.begin(), text.end(), nullptr, false);
    if (named.is_object() && named.contains("file") && named["file"].is_string())
      return path + "/checkpoints/" + QFileInfo(QString::fromStdString(named["file"].get<std::string>())).fileName();
  }
  return path;
}

QString hashOfFile(const QString& path, const QString& title, const PackProgress& progress) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    throwError(ErrorCode::missingFile, "{} cannot be read: {}", path.toStdString(), file.errorString().toStdString());
  const qint64 size = file.size();
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (qint64 done = 0; done < size;) {
    const QByteArray piece = file.read(std::min<qint64>(1 << 22, size - done));
    if (piece.isEmpty()) throwError(ErrorCode::inputOutput, "{} became shorter while it was read", path.toStdString());
    hash.addData(piece);
    done += piece.size();
    if (!progress(QStringLiteral("Hashing %1: %2 of %3 MiB").arg(title).arg(done >> 20).arg(size >> 20)))
      throw Error(ErrorCode::stopped, "it was called off");
  }
  return QString::fromLatin1(hash.result().toHex());
}

// "SIZE TIME HASH" beside the pack: hashing a hundred gigabytes takes minutes, and the bytes are the same as yesterday.
QString hashOfPack(const QString& pack, const QString& dataset, const PackProgress& progress) {
  const QFileInfo info(pack);
  const QString note = pack + ".sha256";
  const QString key = QStringLiteral("%1 %2 ").arg(info.size()).arg(info.lastModified().toMSecsSinceEpoch());
  QFile known(note);
  if (known.open(QIODevice::ReadOnly)) {
    const QString text = QString::fromLatin1(known.readAll()).trimmed();
    if (text.startsWith(key) && text.size() == key.size() + 64) return text.mid(key.size());
  }
  const QString text = hashOfFile(pack, dataset, progress);
  try {
    writeFileAtomically(note.toStdString(), (key + text).toStdString());
  } catch (const Error&) {
    // A folder that may only be read: hashed again next time.
  }
  return text;
}

}  // namespace

QList<PackedData> packData(const QByteArray& text, const PackProgress& progress) {
  QList<PackedData> all;
  Json project = parseJson(std::string_view(text.constData(), static_cast<std::size_t>(text.size())), "the project");
  if (const QString weights = startFromOf(project); !weights.isEmpty())
    all.append({kWeights,
                weights,
                hashOfFile(weights, QFileInfo(weights).fileName(), progress),
                QFileInfo(weights).size(),
                {}});
  Json* const datasets = datasetsOf(project);
  if (!datasets) return all;
  const Project read =
      readProject(std::string_view(text.constData(), static_cast<std::size_t>(text.size())), "the project").project;
  const std::string trained = read.training.updates.empty() ? std::string() : read.training.updates.front().dataset;
  OpenOptions options;
  // How a dataset's samples are made; what is measured for that is measured on the one that is trained on.
  const auto opening = [&](const DatasetSpec& spec) {
    const DatasetSpec* first = read.dataset(trained);
    std::vector<Json> prepare = prepareOf(read, spec);
    if (first && first != &spec && !spec.ownPrepare && needsResolving(columnStepsOf(prepare))) {
      std::vector<Json> resolved = openDataset(first->csv, openingOf(*first, first->prepare, options))->columnSteps();
      if (first->csv != spec.csv) resolved = stepsForAnotherFile(std::move(resolved));
      const std::vector<Json> others = sampleStepsOf(prepare);
      resolved.insert(resolved.end(), others.begin(), others.end());
      prepare = std::move(resolved);
    }
    return openingOf(spec, std::move(prepare), options);
  };
  for (const auto& [name, dataset] : datasets->items()) {
    if (!dataset.is_object() || !dataset.contains("csv") || !dataset["csv"].is_string()) continue;
    const std::filesystem::path csv = dataset["csv"].get<std::string>();
    const QString title = QString::fromStdString(name);
    QString pack = QString::fromStdString(csv.string());
    if (csv.extension() != ".pack") {
      try {
        options.progress = [&](const CacheProgress&) { return progress(QStringLiteral("Packing %1").arg(title)); };
        const DatasetSpec* const spec = read.dataset(name);
        const OpenOptions how = spec ? opening(*spec) : options;
        openDataset(csv, how);
        pack = QString::fromStdString(cachePath(csv, how).string());
      } catch (Error& error) {
        error.addContext("dataset '" + name + "'");
        throw;
      }
    }
    all.append({title, pack, hashOfPack(pack, title, progress), QFileInfo(pack).size(), {}});
  }
  return all;
}

QList<PackedData> packRun(const QString& folder, const PackProgress& progress) {
  QList<PackedData> all;
  const QString title = QStringLiteral("the run");
  for (const QString& part : runParts(folder)) {
    const QString file = folder + '/' + part;
    all.append({title, file, hashOfFile(file, title, progress), QFileInfo(file).size(), part});
  }
  return all;
}

QByteArray withDataAt(const QByteArray& text, const QHash<QString, QString>& places) {
  Json project = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!project.is_object()) return text;
  Json* const datasets = datasetsOf(project);
  for (auto each = places.begin(); each != places.end(); ++each) {
    if (Json* const settings = each.key() == kWeights ? trainingSettings(project) : nullptr)
      (*settings)["start_from"] = each.value().toStdString();
    else if (datasets && each.key() != kWeights)
      (*datasets)[each.key().toStdString()]["csv"] = each.value().toStdString();
  }
  return QByteArray::fromStdString(formatJson(project));
}

QByteArray withDataMoved(const QByteArray& text, const QString& from, const QString& to) {
  Json project = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!project.is_object()) return text;
  const auto move = [&](Json& object, const char* key, const std::string& what) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return;
    const QString path = QString::fromStdString(object[key].get<std::string>());
    const QString inside = QDir(from).relativeFilePath(path);
    if (inside.startsWith("..") || QDir::isAbsolutePath(inside))
      throwError(ErrorCode::badProject,
                 "{} lies in {}, which is not below {}: the host's own data folder {} has no such place", what,
                 path.toStdString(), from.toStdString(), to.toStdString());
    object[key] = (to + '/' + inside).toStdString();
  };
  if (Json* const datasets = datasetsOf(project))
    for (auto& [name, dataset] : datasets->items()) move(dataset, "csv", "dataset '" + name + "'");
  if (Json* const settings = trainingSettings(project)) move(*settings, "start_from", "the file of weights");
  return QByteArray::fromStdString(formatJson(project));
}

QStringList dataWords(const QByteArray& text) {
  QStringList words;
  Json project = Json::parse(text.begin(), text.end(), nullptr, false);
  Json* const datasets = project.is_object() ? datasetsOf(project) : nullptr;
  if (!datasets) return words;
  for (const auto& [name, dataset] : datasets->items())
    if (dataset.is_object() && dataset.contains("csv") && dataset["csv"].is_string() &&
        name.find('=') == std::string::npos)
      words << QString::fromStdString(name + "=" + dataset["csv"].get<std::string>());
  return words;
}

}  // namespace loom
