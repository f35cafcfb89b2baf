#pragma once
// How many bytes of data a host is sent, before anything is packed.
#include <QStringList>

namespace loom {

// Of these CSV files, each counted once: as large as its pack, or as it will be when its rows are as large as the first
// one, decoded images included. Reads the whole CSV where it is not packed: not for the window's thread. What cannot be
// read counts nothing.
qint64 packedBytes(const QStringList& csvs);

}  // namespace loom
