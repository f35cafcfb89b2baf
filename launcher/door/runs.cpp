#include <QDateTime>
#include <QFileInfo>
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/run/console.h"
#include "launcher/door/errand.h"
#include "launcher/door/verbs.h"
#include "launcher/folder_lock.h"
#include "launcher/found_run.h"
#include "launcher/remote/models.h"
#include "launcher/store/run_filter.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr std::size_t kEvents = 100000;

void readLog(RunStore& store, const RunRecord& run) {
  const std::string log = (run.folder + "/events.jsonl").toStdString();
  for (bool more = true; more;) {
    const EventBatch batch = readBatch(log, store.logOffset(run.id), kEvents, store.logMark(run.id));
    if (batch.isAnother) {
      store.forgetLog(run.id);
      continue;
    }
    more = !batch.atEnd && batch.to > batch.from;
    if (batch.to > batch.from) store.append(run.id, batch);
  }
}

// What the list lost is read again. What goes on now, whoever keeps the list later finds by its state.
void readAgain(RunStore& store) {
  tellNotice(store);
  for (const FoundRun& lost : lostRuns(store)) {
    const QString id = store.add(lost.record);
    if (!lost.neverBegan) readLog(store, lost.record);
    store.change(id, [](RunRecord& run) { readRunFile(run.folder, run); });
    if (lost.waits) store.setState(id, RunState::queued);
  }
}

// Where nobody keeps the list now, what the logs of live runs say since is taken in.
void readOn(RunStore& store, const DoorOptions& options) {
  FolderLock lock(options.dataFolder);
  if (!lock.take()) return;
  for (const RunRecord& run : store.runs())
    if (isLive(run.state)) readLog(store, run);
}

QString hostOf(const RunStore& store, const RunRecord& run, const HostStore& hosts) {
  const QString id = hostIdOf(store, run);
  if (id.isEmpty()) return QStringLiteral("local");
  const Host* const host = hosts.find(id);
  return host ? host->name : id;
}

Json toJson(const RunRecord& run, const QString& host, const Models& models) {
  const ModelPlace place = models.place(run.id);
  Json tags = Json::array();
  for (const QString& each : run.tags) tags.push_back(each.toStdString());
  Json model = nullptr;
  if (!place.isNowhere())
    model = {{"path", (place.here.isEmpty() ? place.there : place.here).toStdString()},
             {"here", !place.here.isEmpty()},
             {"best", place.best}};
  return {{"id", run.id.toStdString()},
          {"name", run.name.toStdString()},
          {"project", run.project.toStdString()},
          {"folder", run.folder.toStdString()},
          {"host", host.toStdString()},
          {"state", toKey(run.state)},
          {"message", run.message.toStdString()},
          {"step", run.step},
          {"steps_total", run.stepsTotal},
          {"epoch", numberToJson(run.epoch)},
          {"loss", numberToJson(run.loss)},
          {"metric", run.metric.toStdString()},
          {"best", run.bestStep >= 0 ? numberToJson(run.best) : Json()},
          {"best_epoch", run.bestStep >= 0 ? numberToJson(run.bestEpoch) : Json()},
          {"last", run.metric.isEmpty() ? Json() : numberToJson(run.last)},
          {"duration", run.duration},
          {"attempt", run.attempt},
          {"created", run.created},
          {"started", run.started},
          {"ended", run.ended},
          {"tags", tags},
          {"note", run.note.toStdString()},
          {"settings", run.settings},
          {"model", model}};
}

}  // namespace

int runsVerb(const QStringList& given, const DoorOptions& options) {
  Words words(QStringLiteral(
      "Lists runs, newest last: name, state, best, step, host, id, and below each where its model is. Those that "
      "were archived or deleted are left out unless the filter asks for state == archived or deleted."));
  words.parser.addOptions(
      {{"filter", "Words, or comparisons joined by and: optimizer == LARS and epochs > 100 and best >= 0.9.", "TEXT"},
       {"project", "Of this project alone, a .loom file.", "FILE"},
       {"json", "Print a JSON list and nothing else."}});
  if (!words.read("runs", given)) return 0;
  if (!words.positional().isEmpty())
    throwError(ErrorCode::badArgument, "'{}' is not understood: gradloom runs [--filter TEXT]",
               words.positional().front().toStdString());
  RunStore store(options.dataFolder);
  HostStore hosts(options.dataFolder);
  HostLines lines(hosts, options.line);
  readAgain(store);
  readOn(store, options);
  const Models models(store, &lines);
  const QString project = words.has("project") ? QFileInfo(words.value("project")).canonicalFilePath() : QString();
  if (words.has("project") && project.isEmpty())
    throwError(ErrorCode::missingFile, "{} is not there", words.value("project").toStdString());
  QList<RunRecord> runs = store.runs(project);
  const RunFilter filter(words.value("filter"), runs);
  if (filter.wantsDeleted()) runs = store.runs(project, RunStore::Deleted::include);
  runs.removeIf([&](const RunRecord& run) {
    return !filter.holds(run) || (run.archived && run.deleted == 0 && !filter.wantsArchived());
  });
  if (words.has("json")) {
    Json list = Json::array();
    for (const RunRecord& run : std::as_const(runs)) list.push_back(toJson(run, hostOf(store, run, hosts), models));
    printJson(list);
    return 0;
  }
  Console console;
  if (runs.isEmpty())
    console.line(filter.isEmpty() ? "no runs yet: gradloom submit PROJECT --host NAME makes one"
                                  : "no run is like that");
  std::size_t widest = 4;
  for (const RunRecord& run : std::as_const(runs))
    widest = std::max<std::size_t>(widest, static_cast<std::size_t>(run.name.size()));
  for (const RunRecord& run : std::as_const(runs)) {
    const std::string best =
        run.bestStep >= 0 ? fmt::format("{} {:.5g}", run.metric.toStdString(), run.best) : std::string("-");
    const std::string steps =
        run.stepsTotal > 0 ? fmt::format("{} of {}", run.step, run.stepsTotal) : std::to_string(run.step);
    console.line(fmt::format("{:<{}}  {:<8}  {:<20}  step {:<16}  {:<10}  {}", run.name.toStdString(),
                             std::min<std::size_t>(widest, 40), toKey(run.state), best, steps,
                             hostOf(store, run, hosts).toStdString(), run.id.toStdString()));
    if (const QString model = models.sentence(run.id); !model.isEmpty())
      console.line(fmt::format("    model {}{}", model.toStdString(),
                               models.mayFetch(run.id) ? ", gradloom fetch " + run.id.toStdString() : std::string()));
    if (run.state == RunState::failed && !run.message.isEmpty()) console.line("    " + run.message.toStdString());
  }
  return 0;
}

}  // namespace loom
