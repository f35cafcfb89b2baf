#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/host.h"
#include "engine/base/samples.h"
#include "engine/base/words.h"
#include "engine/loom/auto_precision.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/job.h"
#include "engine/loom/verbs.h"
#include "engine/metrics/metric.h"
#include "engine/network/flatten.h"
#include "engine/network/project_arguments.h"
#include "engine/program/trace.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "engine/training/moved_data.h"
#include "engine/training/run_description.h"
#include "engine/training/trainer.h"

namespace loom {
namespace {

struct TrainArguments {
  std::string project, run, resume, device = "auto", precision, trace;
  std::vector<std::string> settings, data;
  int threads = -1;
};

std::filesystem::path userData() {
  if (const char* folder = std::getenv("XDG_DATA_HOME"); folder && *folder)
    return std::filesystem::path(folder) / "gradloom";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".local/share/gradloom";
  return std::filesystem::current_path();
}

// PROJECT's folder/runs/NAME-001, -002, ...: the first that is free, made here so that two starts never share one.
// Nothing is written beside a sample.
std::filesystem::path freshRunFolder(const std::filesystem::path& project) {
  const std::filesystem::path runs =
      (liesAmongSamples(project) ? userData() : std::filesystem::absolute(project).parent_path()) / "runs";
  std::error_code fault;
  std::filesystem::create_directories(runs, fault);
  for (int number = 1; !fault && number < 1000000; ++number) {
    const std::filesystem::path folder = runs / fmt::format("{}-{:03}", project.stem().string(), number);
    if (std::filesystem::create_directory(folder, fault)) return folder;
  }
  throwError(ErrorCode::inputOutput, "cannot make a run folder in {}: {}; choose one with --run", runs.string(),
             fault.message());
}

// NAME=CSV, where CSV begins in the current folder.
std::map<std::string, std::filesystem::path> dataPlaces(const std::vector<std::string>& words) {
  std::map<std::string, std::filesystem::path> places;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      throwError(ErrorCode::badArgument, "--data {}: NAME=CSV is wanted, as in --data training=train.csv", word);
    places[word.substr(0, equals)] = std::filesystem::absolute(word.substr(equals + 1));
  }
  return places;
}

// What rank 0 knows and the others are told: they may see neither the run's folder nor, when it goes on, its project.
Json shareable(const TrainerOptions& options) {
  Json shared = {{"run", options.run.path.string()}, {"resume", options.resume}};
  if (options.resume)
    shared.update({{"project", writeProject(options.project)},
                   {"folder", options.folder.string()},
                   {"file", options.projectFile.string()}});
  return shared;
}

TrainerOptions fromShared(const Json& shared) {
  TrainerOptions options;
  options.resume = true;
  options.run.path = shared["run"].get<std::string>();
  options.folder = shared["folder"].get<std::string>();
  options.projectFile = shared["file"].get<std::string>();
  options.versions = {{"gradloom", versionText()}};  // this rank's own: the ranks compare them
  options.project =
      checkedProject(parseJson(shared["project"].get<std::string>(), "rank 0's project"), "rank 0's project", {})
          .project;
  return options;
}

TrainerOptions optionsFor(const TrainArguments& given, Console* console, const std::string& run = {}) {
  std::vector<std::string> settings = given.settings;
  if (!given.precision.empty()) settings.push_back("precision=" + given.precision);
  if (given.threads >= 0) settings.push_back(fmt::format("threads={}", given.threads));
  TrainerOptions options;
  options.resume = !given.resume.empty();
  if (options.resume) options.run.path = std::filesystem::absolute(given.resume);
  LoadedProject loaded;
  if (options.resume && std::filesystem::exists(options.run.runFile())) {
    // The run's own copy is what it was begun with, whatever became of the file since.
    RunDescription description = readRunDescription(options.run);
    options.folder = description.folder;
    options.projectFile = description.projectFile;
    loaded = checkedProject(parseJson(writeProject(description.project), options.run.runFile().string()),
                            "the run's project", settings);
    options.moved =
        findData(loaded.project, options.run, description,
                 {.given = dataPlaces(given.data),
                  .projectFile = given.project.empty() ? std::filesystem::path() : projectFile(given.project)});
    options.trainedOn = std::move(description.facts);
    options.startedFrom = std::move(description.startedFrom);
    options.changed = !settings.empty() || !options.moved.empty();
  } else {
    if (given.project.empty())
      throwError(ErrorCode::badArgument, "{}",
                 options.resume ? "the run has no run.json yet; name its PROJECT as well"
                                : "name the PROJECT to train, a .loom file");
    options.projectFile = std::filesystem::absolute(projectFile(given.project));
    loaded = loadForTraining(options.projectFile, settings);
    placeData(loaded.project, dataPlaces(given.data));
    options.folder = options.projectFile.parent_path();
  }
  if (console)
    for (const std::string& warning : loaded.warnings) console->line("warning: " + warning);
  options.project = std::move(loaded.project);
  if (!run.empty())
    options.run.path = run;
  else if (!options.resume)
    options.run.path = given.run.empty() ? freshRunFolder(options.projectFile) : std::filesystem::absolute(given.run);
  options.versions = {{"gradloom", versionText()}};
  return options;
}

std::string shownPath(const std::filesystem::path& path) {
  const std::filesystem::path near = std::filesystem::proximate(path);
  return near.native().size() < path.native().size() ? near.string() : path.string();
}

// Rank 0 reads first and tells the others, which read the same project where they are and are compared with it later.
TrainerOptions agreedOptions(const TrainArguments& given, Job& job, Console* console) {
  TrainerOptions options;
  if (job.first()) options = optionsFor(given, console);
  if (job.ranks() == 1) return options;
  const std::string text = broadcastText(job.communicator(), job.first() ? shareable(options).dump() : std::string());
  if (job.first()) return options;
  const Json shared = parseJson(text, "rank 0's options");
  return shared["resume"].get<bool>() ? fromShared(shared)
                                      : optionsFor(given, nullptr, shared["run"].get<std::string>());
}

void writeTrace(const Trace& trace, Job& job, const std::string& file) {
  const std::vector<std::string> events =
      allGatherTexts(job.communicator(), trace.events(job.communicator().rank(), hostName()));
  if (job.first()) writeFileAtomically(file, Trace::file(events));
}

// As events name them: metrics of the first update by their nodes, those of others behind their network's name.
std::set<std::string> sharesOf(const Project& project) {
  std::set<std::string> shares;
  for (const UpdateSpec& update : project.training.updates) {
    const std::string prefix = &update == &project.training.updates.front() ? "" : update.network + "/";
    if (project.network(update.network) == nullptr) continue;
    for (const Node& node : flatten(project, update.network).network.nodes)
      if (isShare(node.layer)) shares.insert(prefix + node.id);
  }
  return shares;
}

void tellResult(Console& console, const Progress& progress, const TrainResult& result, const RunFolder& run,
                double seconds) {
  console.line(fmt::format("{} after {} (epoch {:g}) in {:.1f} s", result.stopped ? "stopped" : "done",
                           counted(result.step, "steps"), result.epoch, seconds));
  if (result.best)
    console.line(fmt::format("best      {} at epoch {:g}", progress.measure(result.best->metric, result.best->value),
                             result.best->epoch));
  console.line("curves    " + shownPath(run.eventsFile()));
  const bool best = !result.bestCheckpoint.empty();
  if (best || !result.lastCheckpoint.empty())
    console.line(fmt::format("model     {}{}", shownPath(best ? result.bestCheckpoint : result.lastCheckpoint),
                             best ? "  (best)" : ""));
  if (result.stopped) console.line("go on     loom train --resume " + shownPath(run.path));
}

// What the processor is known to take for a stage is told beside what this run measures.
void predictStages(TrainerOptions& options, int threads, std::optional<Console>& console) {
  try {
    const auto times = std::make_shared<const ProcessorTimes>(knownProcessor(threads));
    options.predictedSeconds = [times](const StageCost& stage) { return secondsOf(stage, *times); };
    options.predictedFrom = sourceOf(*times);
  } catch (const std::exception& error) {
    if (console) console->line(fmt::format("warning: no times are predicted: {}", error.what()));
  }
}

// A precision that is left to the machine: rank 0 chooses for all, and the run holds what was chosen.
void settlePrecision(TrainerOptions& options, const Backend& backend, Job& job, std::optional<Console>& console) {
  Json& settings = options.project.training.settings;
  if (!isPrecisionAuto(settings)) return;
  std::string precision = "f32";
  if (job.first() && backend.name() != "reference") {
    const auto tell = [&console](const std::string& what) { console->line("measuring this processor once: " + what); };
    const PrecisionChoice choice =
        backend.name() == "cpu"
            ? choosePrecisionOnProcessor(options.project, job.threads(settings.value("threads", 0)), tell)
            : choosePrecisionOnGpu(options.project, backend.name(), {});
    precision = toString(choice.precision);
    console->line("precision " + toText(choice));
  }
  settings["precision"] = broadcastText(job.communicator(), precision);
}

int trainIn(Job& job, const TrainArguments& given, const std::atomic<bool>& stop) {
  std::optional<Console> console;
  std::optional<Progress> progress;
  if (job.first()) progress.emplace(console.emplace());
  TrainerOptions options = agreedOptions(given, job, console ? &*console : nullptr);
  const Json settings = options.project.training.settings;
  const auto backend =
      makeBackend(given.device, job.threads(settings.value("threads", 0)), !settings.value("deterministic", false));
  settlePrecision(options, *backend, job, console);
  if (progress)
    progress->setShares(
        [shares = sharesOf(options.project)](const std::string& metric) { return shares.contains(metric); });
  const RunFolder run = options.run;
  std::optional<Trace> trace;
  if (!given.trace.empty()) options.trace = &trace.emplace();
  bool logged = false;
  options.stop = &stop;
  options.communicator = &job.communicator();
  options.connect = makeConnection(given.device, [&console](const std::string& reason) {
    if (console) console->line("warning: gradients go from GPU to GPU through the hosts: " + reason);
  });
  if (backend->name() == "cpu") predictStages(options, job.threads(settings.value("threads", 0)), console);
  options.failed = [&job](const Error& error) { job.fail(error); };
  options.observer = [&](const Event& event) {
    if (!logged) {  // the folder exists and is ours by now
      console->logInto(run);
      console->line("run       " + shownPath(run.path));
      if (job.ranks() > 1) console->line(fmt::format("ranks     {}, {}", job.ranks(), job.communicator().name()));
      logged = true;
    }
    (*progress)(event);
  };
  const auto begin = std::chrono::steady_clock::now();
  const TrainResult result = train(*backend, std::move(options));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (trace) writeTrace(*trace, job, given.trace);
  if (console) tellResult(*console, *progress, result, run, seconds);
  return result.stopped ? exitCode(ErrorCode::stopped) : kExitDone;
}

int train(const TrainArguments& given, const std::atomic<bool>& stop) {
  Job job;
  try {
    return trainIn(job, given, stop);
  } catch (const Error& error) {
    job.fail(error);  // several ranks: returns to nobody
    throw;
  }
}

}  // namespace

void addTrain(CLI::App& app, Session& session) {
  auto given = std::make_shared<TrainArguments>();
  CLI::App* verb = app.add_subcommand("train", "Train a project, into a run folder");
  verb->add_option("PROJECT", given->project, "The .loom file, or a folder with one; may be left out with --resume");
  verb->add_option("--run", given->run,
                   "The run's folder; by default <folder of PROJECT>/runs/<name>-NNN, of a sample "
                   "~/.local/share/gradloom/runs/<name>-NNN");
  verb->add_option("--set", given->settings,
                   "Change a setting for this run: epochs=3, optimizer.learning_rate=0.1, ...")
      ->type_name("KEY=VALUE")
      ->expected(1, -1);
  verb->add_option("--data", given->data,
                   "Where the CSV of a dataset lies here, as of a run that was begun on another machine")
      ->type_name("NAME=CSV")
      ->expected(1, -1);
  verb->add_option("--device", given->device, "auto, cpu, cuda or reference (slow, in double precision)")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}));
  verb->add_option("--precision", given->precision, "f32, bf16, f16, or auto: what is faster here")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "auto"}));
  verb->add_option("--threads", given->threads, "How many; 0 = all that this process may use");
  verb->add_option("--trace", given->trace, "Write when what was computed and sent, for a browser's trace viewer")
      ->type_name("FILE");
  verb->add_option("--resume", given->resume, "Go on with this run from its newest checkpoint")->type_name("RUN");
  verb->callback([&session, given] { session.chosen = [&session, given] { return train(*given, session.stop); }; });
}

}  // namespace loom
