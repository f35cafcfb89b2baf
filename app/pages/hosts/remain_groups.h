#pragma once
// What lies on a host, sorted by what may become of it: what goes without a question, what stays, and what a person
// decides about.
#include <QList>
#include <QString>
#include <QStringList>
#include <QVector>

#include "launcher/remote/host_tidy.h"
#include "launcher/store/run_store.h"

namespace loom {

struct RemainGroup {
  enum class Fate { stays, goes, decided };
  Fate fate = Fate::stays;
  QString name;   // "lars-4096", "Earlier engines"
  QString words;  // what is lost with it, or why it stays
  qint64 bytes = 0;
  QStringList paths;  // below the host's folder; it goes as a whole
};

// `busy`: runs that go or wait there. While there are any, engines and data stay.
QVector<RemainGroup> groupRemains(const QVector<HostRemain>& remains, const RunStore& store,
                                  const QList<RunRecord>& busy);

}  // namespace loom
