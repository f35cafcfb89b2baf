#include "app/pages/hosts/remain_groups.h"

#include <QCoreApplication>
#include <QSet>
#include <algorithm>

namespace loom {
namespace {

constexpr int kMostRuns = 10;  // that have a row of their own

QString say(const char* text) {
  return QCoreApplication::translate("RemainGroups", text);
}
QString say(const char* text, qsizetype count) {
  return QCoreApplication::translate("RemainGroups", text).arg(count);
}

void put(RemainGroup& group, const HostRemain& remain) {
  group.bytes += remain.bytes;
  group.paths << remain.path;
}

}  // namespace

QVector<RemainGroup> groupRemains(const QVector<HostRemain>& remains, const RunStore& store,
                                  const QList<RunRecord>& busy) {
  using Fate = RemainGroup::Fate;
  QSet<QString> going;
  for (const RunRecord& each : busy) going.insert(each.id);
  RemainGroup engine, earlier, data, pieces, live, removed, foreign, smaller;
  QVector<RemainGroup> runs;
  for (const HostRemain& each : remains) {
    const QString kind = each.path.section('/', 0, 0), name = each.path.section('/', 1);
    if (kind == "runs") {
      const RunRecord* const run = store.find(name);
      if (going.contains(name))
        put(live, each);
      else if (name.startsWith("check-"))
        put(pieces, each);
      else if (!run)
        put(foreign, each);
      else if (run->deleted > 0)
        put(removed, each);
      else
        runs << RemainGroup{
            Fate::decided, run->name, say("checkpoints that may lie nowhere else"), each.bytes, {each.path}};
    } else if (name.contains(".part")) {
      put(pieces, each);
    } else if (kind == "engine") {
      put(each.isUsed ? engine : earlier, each);
    } else {
      put(data, each);
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RemainGroup& one, const RemainGroup& other) { return one.bytes > other.bytes; });
  while (runs.size() > kMostRuns) {
    const RemainGroup last = runs.takeLast();
    smaller.bytes += last.bytes;
    smaller.paths << last.paths;
  }

  QVector<RemainGroup> all;
  const auto add = [&all](RemainGroup group, Fate fate, const QString& name, const QString& words) {
    if (group.paths.isEmpty()) return;
    group.fate = fate;
    group.name = name;
    group.words = words;
    all << group;
  };
  const QString stays = say("stays while a run goes or waits there");
  add(engine, Fate::stays, say("Engine"), say("in use"));
  add(earlier, busy.isEmpty() ? Fate::goes : Fate::stays,
      earlier.paths.size() == 1 ? say("Earlier engine") : say("%1 earlier engines", earlier.paths.size()),
      busy.isEmpty() ? say("may go: brought again if ever asked for") : stays);
  add(pieces, Fate::stays, say("Broken off"), say("transfers and checks; go by themselves when they are old enough"));
  add(live, Fate::stays, live.paths.size() == 1 ? say("1 run") : say("%1 runs", live.paths.size()),
      say("still going or waiting"));
  add(data, busy.isEmpty() ? Fate::decided : Fate::stays,
      data.paths.size() == 1 ? say("1 data set") : say("%1 data sets", data.paths.size()),
      busy.isEmpty() ? say("sent again when a run needs it") : stays);
  add(removed, Fate::decided, removed.paths.size() == 1 ? say("1 run") : say("%1 runs", removed.paths.size()),
      say("taken from the list of runs here"));
  add(foreign, Fate::decided, foreign.paths.size() == 1 ? say("1 run") : say("%1 runs", foreign.paths.size()),
      say("not in the list here; another computer may follow it"));
  all << runs;
  add(smaller, Fate::decided, say("%1 smaller runs", smaller.paths.size()),
      say("checkpoints that may lie nowhere else"));
  return all;
}

}  // namespace loom
