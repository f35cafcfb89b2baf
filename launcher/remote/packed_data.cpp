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
#include "engine/data/dataset.h"
#include "launcher/run_parts.h"

namespace loom {
namespace {

Json* datasetsOf(Json& project) {
  const auto found = project.find("datasets");
  return found != project.end() && found->is_object() ? &*found : nullptr;
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
  Json* const datasets = datasetsOf(project);
  if (!datasets) return all;
  for (const auto& [name, dataset] : datasets->items()) {
    if (!dataset.is_object() || !dataset.contains("csv") || !dataset["csv"].is_string()) continue;
    const std::filesystem::path csv = dataset["csv"].get<std::string>();
    const QString title = QString::fromStdString(name);
    QString pack = QString::fromStdString(csv.string());
    if (csv.extension() != ".pack") {
      try {
        OpenOptions options;
        options.progress = [&](const CacheProgress&) { return progress(QStringLiteral("Packing %1").arg(title)); };
        openDataset(csv, options);
        pack = QString::fromStdString(cachePath(csv).string());
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
  Json* const datasets = project.is_object() ? datasetsOf(project) : nullptr;
  if (!datasets) return text;
  for (auto each = places.begin(); each != places.end(); ++each)
    (*datasets)[each.key().toStdString()]["csv"] = each.value().toStdString();
  return QByteArray::fromStdString(formatJson(project));
}

QByteArray withDataMoved(const QByteArray& text, const QString& from, const QString& to) {
  Json project = Json::parse(text.begin(), text.end(), nullptr, false);
  Json* const datasets = project.is_object() ? datasetsOf(project) : nullptr;
  if (!datasets) return text;
  for (auto& [name, dataset] : datasets->items()) {
    if (!dataset.is_object() || !dataset.contains("csv") || !dataset["csv"].is_string()) continue;
    const QString csv = QString::fromStdString(dataset["csv"].get<std::string>());
    const QString inside = QDir(from).relativeFilePath(csv);
    if (inside.startsWith("..") || QDir::isAbsolutePath(inside))
      throwError(ErrorCode::badProject,
                 "dataset '{}' lies in {}, which is not below {}: the host's own data folder {} has no such place",
                 name, csv.toStdString(), from.toStdString(), to.toStdString());
    dataset["csv"] = (to + '/' + inside).toStdString();
  }
  return QByteArray::fromStdString(formatJson(project));
}

QStringList dataWords(const QByteArray& text) {
  QStringList words;
  Json project = Json::parse(text.begin(), text.end(), nullptr, false);
  Json* const datasets = project.is_object() ? datasetsOf(project) : nullptr;
  if (!datasets) return words;
  for (const auto& [name, dataset] : datasets->items())
    if (dataset.is_object() && dataset.contains("csv") && dataset["csv"].is_string() && name.find('=') == std::string::npos)
      words << QString::fromStdString(name + "=" + dataset["csv"].get<std::string>());
  return words;
}

}  // namespace loom
