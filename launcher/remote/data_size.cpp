#include "launcher/remote/data_size.h"

#include <QFile>
#include <QSet>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/cache.h"

namespace loom {
namespace {

constexpr qint64 kPiece = 1 << 20;

// Lines below the header; a cell that holds a line break counts twice, which an estimate bears.
qint64 rowsOf(const QString& csv) {
  QFile file(csv);
  if (!file.open(QIODevice::ReadOnly)) return 0;
  qint64 lines = 0;
  char last = '\n';
  for (QByteArray piece = file.read(kPiece); !piece.isEmpty(); piece = file.read(kPiece)) {
    lines += std::count(piece.begin(), piece.end(), '\n');
    last = piece.back();
  }
  return std::max<qint64>(0, lines - (last == '\n' ? 1 : 0));
}

qint64 packedBytes(const QString& csv) {
  const std::filesystem::path path = csv.toStdString();
  if (path.extension() == ".pack") return QFile(csv).size();
  // Its freshness would mean a look at every file that it was made of, and changes the size little.
  for (const CachePlace& place : cachePlaces(path, {}))
    if (const qint64 size = QFile(QString::fromStdString(place.pack().string())).size(); size > 0) return size;
  qint64 row = 0;
  for (const Variable& each : peekSchema(path).variables)
    row += each.shape.elements() * static_cast<qint64>(bytesOf(each.type));
  return row * rowsOf(csv);
}

}  // namespace

qint64 packedBytes(const QStringList& csvs) {
  qint64 bytes = 0;
  for (const QString& each : QSet<QString>(csvs.begin(), csvs.end())) {
    try {
      bytes += packedBytes(each);
    } catch (const Error&) {
      // The page Data tells what is wrong with it.
    }
  }
  return bytes;
}

}  // namespace loom
