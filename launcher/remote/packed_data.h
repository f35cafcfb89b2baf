#pragma once
// The data of a project as it travels: each dataset as its packed cache, one file, named by the hash of its bytes.
#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>
#include <atomic>
#include <functional>

namespace loom {

struct PackedData {
  QString dataset;  // "training"
  QString file;     // on this machine
  QString sha256;
  qint64 size = 0;
};

// "Packing training: 1,200 of 60,000 rows"; false calls it off.
using PackProgress = std::function<bool(const QString& sentence)>;

// Packs what is not packed yet and hashes what is not hashed yet (the hash stands beside the pack). Takes as long as it
// takes: not for the window's thread. Throws Error (badProject, badData, missingFile, diskFull, stopped).
QList<PackedData> packData(const QByteArray& project, const PackProgress& progress);

// The project with every dataset's csv replaced by its place on the host.
QByteArray withDataAt(const QByteArray& project, const QHash<QString, QString>& places);
// The project with every csv moved from `from` on this machine to `to` on the host, where the data already lies. Throws
// Error(badProject) for one that does not stand below `from`.
QByteArray withDataMoved(const QByteArray& project, const QString& from, const QString& to);

}  // namespace loom
