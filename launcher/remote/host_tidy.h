#pragma once
// What Gradloom leaves on a host: what nobody misses goes by itself, the rest is told with its size, and goes when a
// person says so.
#include <QMetaType>
#include <QStringList>
#include <QVector>

#include "launcher/ssh/host_transport.h"

namespace loom {

struct HostRemain {
  QString path;  // below the host's folder: "engine/0123456789abcdef", "runs/lars-7f3a", "data/HASH.pack"
  qint64 bytes = 0;
  bool isUsed = false;  // the engine that this Gradloom starts there
};

// Removes the folder of a check that has ended (`check`; empty = none), those of earlier ones, and pieces of transfers
// that broke off more than a week ago. Answers what else lies there, largest first. Blocks; throws SshError.
QVector<HostRemain> tidyHost(HostTransport& transport, const QString& base, const QString& check = {});
// Of those what a person chose. Blocks; throws SshError, or Error(badArgument) for a path that is none of them.
void removeFromHost(HostTransport& transport, const QString& base, const QStringList& paths);

}  // namespace loom

Q_DECLARE_METATYPE(loom::HostRemain)
