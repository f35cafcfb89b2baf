#include <QDir>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/samples.h"
#include "engine/network/project_arguments.h"
#include "engine/network/project_settings.h"
#include "engine/run/console.h"
#include "launcher/door/verbs.h"
#include "launcher/door/watch.h"
#include "launcher/orders.h"

namespace loom {
namespace {

// A .loom file, or a folder that holds one.
QString projectFile(const QString& given) {
  const QFileInfo place(given);
  if (!place.exists()) throwError(ErrorCode::missingFile, "{} is not there", given.toStdString());
  if (!place.isDir()) return place.canonicalFilePath();
  const QStringList inside = QDir(given).entryList({"*.loom"}, QDir::Files, QDir::Name);
  if (inside.isEmpty()) throwError(ErrorCode::missingFile, "{} holds no .loom file", given.toStdString());
  if (inside.size() > 1)
    throwError(ErrorCode::badArgument, "{} holds {} projects, {}: name the one to train", given.toStdString(),
               inside.size(), inside.join(", ").toStdString());
  return QFileInfo(given + '/' + inside.front()).canonicalFilePath();
}

// "optimizer.learning_rate=0.1"; further words after --set that hold a "=" belong to it as well, as with `loom`.
QStringList settingsOf(const Words& words, QStringList& rest) {
  QStringList settings = words.parser.values("set");
  for (const QString& each : words.positional()) {
    if (words.has("set") && each.contains('=') && !rest.isEmpty() && !QFileInfo::exists(each))
      settings << each;
    else
      rest << each;
  }
  return settings;
}

// Everything that can be known to be wrong is said before a run is made. `host`: null for this machine.
void check(const Job& job, const Host* host) {
  std::vector<std::string> settings;
  for (const QString& each : job.overrides) settings.push_back(each.toStdString());
  const std::string name = QFileInfo(job.project).fileName().toStdString();
  const Project project = checkedProject(parseJson(job.snapshot.toStdString(), name), name, settings).project;
  const int ranks = job.ranks > 0 ? job.ranks : host ? host->totalRanks() : 1;
  if (const auto refusal = refusedReduction(project.training.settings, ranks))
    throwError(ErrorCode::badProject, "{}: training: {}", name, refusal->text);
}

}  // namespace

int submitVerb(const QStringList& given, const DoorOptions& options) {
  Words words(QStringLiteral(
      "Trains a project: uploads what the host lacks, submits it, and says what it is called. Ctrl+C only ends the\n"
      "looking on. Exit codes are those of loom; 130: the run goes on without this terminal."));
  words.parser.addPositionalArgument("PROJECT", "A .loom file, or a folder that holds one.");
  words.parser.addOptions(
      {{"host", "Where: the name of a host (`gradloom hosts`), or local, this machine.", "NAME"},
       {"ranks", "How many; all that the host offers, unless named.", "N"},
       {"set", "Change a setting for this run: epochs=3, optimizer.learning_rate=0.1. Again for more.", "KEY=VALUE"},
       {"name", "What the run is called.", "TEXT"},
       {"runs",
        "Where its folder is made; `runs` beside the project, unless named (of a sample in Gradloom's own folder).",
        "FOLDER"},
       {"shared", "It gives way to others and goes on when the host is idle."},
       {"follow", "Look on until it ends; the exit code is then the run's."},
       {"json", "Print one JSON object and nothing else."}});
  if (!words.read("submit", given)) return 0;
  QStringList rest;
  const QStringList settings = settingsOf(words, rest);
  if (rest.size() != 1)
    throwError(ErrorCode::badArgument, "{} projects were named, but one is wanted: gradloom submit PROJECT --host NAME",
               rest.size());
  if (!words.has("host"))
    throwError(ErrorCode::badArgument, "--host is missing: the name of a host (`gradloom hosts` lists them), or local");
  const QString project = projectFile(rest.front());
  const std::string text = readFile(project.toStdString(), std::size_t{256} << 20);
  const HostStore hosts(options.dataFolder);
  Job job{.id = makeRunId(project),
          .name = words.value("name"),
          .project = project,
          .snapshot = QByteArray::fromStdString(text),
          .dataFolder = QFileInfo(project).absolutePath(),
          .overrides = settings,
          .host = meantHost(hosts, words.value("host")),
          .ranks = words.number("ranks", 0),
          // Nothing is written beside a sample.
          .runsFolder = words.has("runs")                         ? QFileInfo(words.value("runs")).absoluteFilePath()
                        : liesAmongSamples(project.toStdString()) ? QDir(options.dataFolder).absoluteFilePath("runs")
                                                                  : QString(),
          .priority = words.has("shared") ? Priority::shared : Priority::exclusive};
  if (job.host.isEmpty() && job.ranks > 1)
    throwError(
        ErrorCode::badArgument,
        "{} ranks are asked for, but this machine is used with one: `mpirun -n {} loom train` starts several here",
        job.ranks, job.ranks);
  check(job, hosts.find(job.host));
  Errand errand(options);
  Json order = toJson(job);
  order["order"] = "submit";
  const Json made = errand.ask(order);
  RunRecord run;
  run.id = job.id;
  run.name = QString::fromStdString(made.value("name", job.id.toStdString()));
  run.folder = QString::fromStdString(made.value("folder", std::string()));
  run.project = project;
  const bool json = words.has("json");
  if (!json) {
    Console console;
    console.line(fmt::format("run       {}", run.id.toStdString()));
    console.line(fmt::format("curves    {}/events.jsonl", run.folder.toStdString()));
    if (!errand.isOurs()) console.line("An open Gradloom takes it over; what signing in asks is asked there.");
  }
  const int code =
      watchRun(errand, run, {.toTheEnd = words.has("follow"), .quiet = json, .patienceMs = options.patienceMs});
  if (json)
    printJson({{"run", run.id.toStdString()},
               {"name", run.name.toStdString()},
               {"folder", run.folder.toStdString()},
               {"host", words.value("host").toStdString()},
               {"exit_code", code}});
  return code;
}

}  // namespace loom
