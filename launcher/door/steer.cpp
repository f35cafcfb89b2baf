// Verbs that steer a run which is there already.
#include <fmt/core.h>

#include <QDir>

#include "engine/base/error.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "launcher/door/terminal.h"
#include "launcher/door/verbs.h"
#include "launcher/door/watch.h"

namespace loom {
namespace {

Json orderFor(const char* verb, const RunRecord& run) {
  return {{"order", verb}, {"run", run.id.toStdString()}};
}

RunState stateOf(Errand& errand, const RunRecord& run) {
  return runStateFromKey(QString::fromStdString(errand.ask(orderFor("state", run)).value("state", std::string())));
}

// What its log says of it is known before anything is asked: a run that ended while nobody looked is not stopped again.
void settled(Errand& errand, const RunRecord& run) {
  while (errand.ask(orderFor("state", run)).value("reading", false) && !Interrupts::came()) errand.wait(kDoorLookMs);
}

// A host that answers, but has the run's folder no more, leaves what was fetched before: a run goes on here from that.
void bringNewest(Errand& errand, const RunRecord& run, bool goesOnHere) {
  try {
    fetchModel(errand, run, true, Models::Which::newest);
  } catch (const Error& error) {
    const bool answers = errand.ask(orderFor("state", run)).value("online", false);
    const bool isHere = !QDir(run.folder + "/checkpoints").entryList({"step-*.safetensors"}, QDir::Files).isEmpty();
    if (error.code() != ErrorCode::communication || !goesOnHere || !answers || !isHere) throw;
    fmt::print(stderr, "gradloom: {} It goes on from the newest checkpoint that is here.\n", error.what());
  }
}

}  // namespace

int giveUpVerb(const QStringList& given, const DoorOptions& options) {
  Words words(
      QStringLiteral("Counts a run as ended of which its host cannot tell any more how it goes: its folder is "
                     "gone, or nobody knows\nits job. Its curves stay; what may go on there is not ended."));
  words.parser.addPositionalArgument("RUN", "Its name, its id, or how the id begins.");
  if (!words.read("give-up", given)) return kExitDone;
  const RunRecord run = meantRun(options, words.one("runs"));
  Errand errand(options);
  settled(errand, run);
  errand.ask(orderFor("give_up", run));
  Console().line(fmt::format("{} counts as ended; gradloom resume {} --here goes on from what was fetched of it",
                             run.name.toStdString(), run.id.toStdString()));
  return kExitDone;
}

int stopVerb(const QStringList& given, const DoorOptions& options) {
  Words words(QStringLiteral(
      "Stops a run with a checkpoint, from which `gradloom resume` goes on, and waits until it has ended."));
  words.parser.addPositionalArgument("RUN", "Its name, its id, or how the id begins.");
  words.parser.addOptions({{"after-epoch", "At the end of this epoch."},
                           {"kill", "Now, without a checkpoint."},
                           {"no-wait", "Do not wait for its end."}});
  if (!words.read("stop", given)) return kExitDone;
  if (words.has("after-epoch") && words.has("kill"))
    throwError(ErrorCode::badArgument, "--after-epoch and --kill exclude each other");
  const RunRecord run = meantRun(options, words.one("runs"));
  Errand errand(options);
  settled(errand, run);
  errand.ask(orderFor("connect", run));
  errand.ask(orderFor(words.has("kill") ? "kill" : words.has("after-epoch") ? "stop_after_epoch" : "stop", run));
  if (words.has("no-wait") && !errand.isOurs()) return kExitDone;
  if (words.has("no-wait")) {  // its host has to hear it from this process
    while (!errand.ask(orderFor("state", run)).value("online", true) && !Interrupts::came()) errand.wait(kDoorLookMs);
    return kExitDone;
  }
  const int code = watchRun(errand, run, {.fromHere = true, .patienceMs = options.patienceMs});
  return code == exitCode(ErrorCode::stopped) ? kExitDone : code;  // that is what was wanted
}

int resumeVerb(const QStringList& given, const DoorOptions& options) {
  Words words(QStringLiteral(
      "Goes on with a run that was stopped or failed, from its newest checkpoint: where it ran, or elsewhere."));
  words.parser.addPositionalArgument("RUN", "Its name, its id, or how the id begins.");
  words.parser.addOptions({{"follow", "Look on until it ends; the exit code is then the run's."},
                           {"host",
                            "Elsewhere: the name of a host (`gradloom hosts`), or local, this machine. What it needs "
                            "is brought here and there first.",
                            "NAME"},
                           {"here", "The same as --host local."},
                           {"ranks", "With --host, how many; all that the host offers, unless named.", "N"}});
  if (!words.read("resume", given)) return kExitDone;
  if (words.has("here") && words.has("host"))
    throwError(ErrorCode::badArgument, "--here and --host exclude each other");
  if (words.has("ranks") && !words.has("host"))
    throwError(ErrorCode::badArgument, "--ranks goes with --host: the name of a host (`gradloom hosts`)");
  const bool elsewhere = words.has("here") || words.has("host");
  const QString host = words.has("host") ? meantHost(HostStore(options.dataFolder), words.value("host")) : QString();
  const RunRecord run = meantRun(options, words.one("runs"));
  Errand errand(options);
  settled(errand, run);
  Json order = orderFor("resume", run);
  if (elsewhere) {
    RunRecord read;
    JobFile file;
    readJobFile(run.folder, read, file);
    if (!file.host.isEmpty() && file.host != host) bringNewest(errand, run, host.isEmpty());
    order["host"] = host.toStdString();
    order["ranks"] = words.number("ranks", 0);
  }
  errand.ask(order);
  return watchRun(errand, run, {.toTheEnd = words.has("follow"), .fromHere = true, .patienceMs = options.patienceMs});
}

int followVerb(const QStringList& given, const DoorOptions& options) {
  Words words(QStringLiteral(
      "Looks on at a run until it ends; the exit code is then the run's. Ctrl+C only ends the looking on."));
  words.parser.addPositionalArgument("RUN", "Its name, its id, or how the id begins.");
  if (!words.read("follow", given)) return kExitDone;
  const RunRecord run = meantRun(options, words.one("runs"));
  Errand errand(options);
  if (const RunState state = stateOf(errand, run); isLive(state) || state == RunState::queued)
    errand.ask(orderFor("connect", run));
  return watchRun(errand, run, {.fromHere = true, .patienceMs = options.patienceMs});
}

int fetchVerb(const QStringList& given, const DoorOptions& options) {
  Words words(
      QStringLiteral("Brings the best checkpoint of a run (where nothing was measured, its newest) from its host into "
                     "the run's folder,\n"
                     "verified by its hash, and prints its path. What broke off goes on where it stood."));
  words.parser.addPositionalArgument("RUN", "Its name, its id, or how the id begins.");
  words.parser.addOption({"json", "Print one JSON object and nothing else."});
  if (!words.read("fetch", given)) return kExitDone;
  const RunRecord run = meantRun(options, words.one("runs"));
  Errand errand(options);
  const QString file = fetchModel(errand, run, words.has("json"));
  if (words.has("json"))
    printJson({{"run", run.id.toStdString()}, {"model", file.toStdString()}});
  else
    Console().line(file.toStdString());
  return kExitDone;
}

}  // namespace loom
