#pragma once
// What travels to a host, each file named by the hash of its bytes: the datasets of a project, packed, and the parts of
// a run that is to go on there.
#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>
#include <QStringList>
#include <atomic>
#include <functional>

namespace loom {

struct PackedData {
  QString dataset;  // "training"; kWeights; of a run: what a person is told
  QString file;     // on this machine
  QString sha256;
  qint64 size = 0;
  QString part;  // of a run's folder: "checkpoints/last.json"; empty = a dataset
};

// In the place of a dataset's name the file of weights with which training begins; no dataset is called so.
inline constexpr char kWeights[] = "#weights";

// "Packing training: 1,200 of 60,000 rows"; false calls it off.
using PackProgress = std::function<bool(const QString& sentence)>;

// Packs what is not packed yet and hashes what is not hashed yet (the hash stands beside the pack). Takes as long as it
// takes: not for the window's thread. Throws Error (badProject, badData, missingFile, diskFull, stopped).
QList<PackedData> packData(const QByteArray& project, const PackProgress& progress);

// The files that another machine needs to go on with the run in `folder`, hashed. Throws Error (missingFile,
// inputOutput, stopped).
QList<PackedData> packRun(const QString& folder, const PackProgress& progress);

// The project with every dataset's csv, and its start_from, replaced by its place on the host.
QByteArray withDataAt(const QByteArray& project, const QHash<QString, QString>& places);
// The project with every csv and its start_from moved from `from` on this machine to `to` on the host, where the data
// already lies. Throws Error(badProject) for one that does not stand below `from`.
QByteArray withDataMoved(const QByteArray& project, const QString& from, const QString& to);
// "training=/there/data/1f.pack" for each dataset: where the engine is to look for it, whatever the run found elsewhere
// before.
QStringList dataWords(const QByteArray& project);

}  // namespace loom
