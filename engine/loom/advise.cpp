// advise: batch, ranks, topology, wire, rule, rate and warm-up for a project on a host, with reasons; and how the run
// would scale.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/base/words.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/gpu_plan.h"
#include "engine/loom/processor_plan.h"
#include "engine/loom/verbs.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/project_arguments.h"
#include "engine/planner/numbers_text.h"
#include "engine/planner/run_choice.h"
#include "engine/run/exit_code.h"
#include "engine/training/settings.h"

namespace loom {
namespace {

struct AdviseArguments {
  std::string project, host = "local", hosts, device = "cpu", out, folder;
  std::vector<std::string> settings;
  std::vector<double> between, within;  // delay in microseconds, bandwidth in Mbit/s
  int ranks = 0, perHost = 0, ranksNow = 1, trainedOn = 0, most = 4096;
  std::int64_t sameAs = 0, samples = 0;
  double noise = 0, memory = 0;
  bool json = false, scalingOnly = false;
};

// The list of hosts that the window and `gradloom hosts` keep.
std::filesystem::path hostsFile(const AdviseArguments& given) {
  if (!given.hosts.empty()) return given.hosts;
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path folder = data && *data   ? std::filesystem::path(data)
                                       : home && *home ? std::filesystem::path(home) / ".local/share"
                                                       : std::filesystem::current_path();
  return folder / "gradloom" / "hosts.json";
}

HostOffer hostNamed(const AdviseArguments& given) {
  const std::filesystem::path file = hostsFile(given);
  if (!std::filesystem::exists(file))
    throwError(
        ErrorCode::missingFile,
        "no host '{}' is known: there is no list of hosts at {}; add one on the page Hosts or by `gradloom hosts "
        "add`, or give --ranks",
        given.host, file.string());
  const Json list = parseJson(readFile(file, std::size_t{16} << 20), "hosts.json");
  std::string known;
  for (const Json& each : list.value("hosts", Json::array())) {
    const std::string id = each.value("id", std::string()), name = each.value("name", id);
    known += (known.empty() ? "" : ", ") + name;
    if (name != given.host && id != given.host) continue;
    HostOffer offer{.name = name, .ranks = each.value("ranks", 1)};
    if (each.value("kind", "") == "slurm") {
      const Json slurm = each.value("slurm", Json::object());
      offer.perHost = slurm.value("ranks_per_node", 1);
      offer.ranks = slurm.value("nodes", 1) * offer.perHost;
    } else if (const Json places = each.value("places", Json::array()); !places.empty()) {
      offer.ranks = 0;
      bool alike = true;
      for (const Json& place : places) {
        offer.ranks += place.value("ranks", 1);
        alike &= place.value("ranks", 1) == places.front().value("ranks", 1);
      }
      offer.perHost = places.size() == 1 ? 0 : alike ? places.front().value("ranks", 1) : 1;
    }
    return offer;
  }
  throwError(ErrorCode::badArgument, "no host '{}' is known; known are {}", given.host, known.empty() ? "none" : known);
}

HostOffer offerOf(const AdviseArguments& given) {
  HostOffer offer{.name = given.host == "local" ? "this machine" : given.host};
  if (given.ranks > 0)
    offer.ranks = given.ranks;
  else if (given.host == "local")
    offer.ranks = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  else
    offer = hostNamed(given);
  if (given.perHost > 0) offer.perHost = given.perHost < offer.ranks ? given.perHost : 0;
  const auto link = [](const std::vector<double>& of) { return Link{of[0] * 1e-6, of[1] * 1e6 / 8}; };
  if (!given.between.empty()) offer.links.between = link(given.between);
  if (!given.within.empty()) offer.links.within = link(given.within);
  offer.measured = !given.between.empty() || !given.within.empty();
  return offer;
}

struct StepOfARank {
  double perSample = 0, perStep = 0;             // seconds
  double memoryPerSample = 0, memoryBeside = 0;  // bytes
};

// One rank by itself with its share of the batch.
StepOfARank stepOf(const AdviseArguments& given, Project project) {
  Json& settings = project.training.settings;
  const TrainSettings read = readSettings(settings);
  const std::int64_t share = std::max<std::int64_t>(1, read.batch / (given.ranksNow * read.accumulate));
  settings["batch"] = share;
  for (const char* key : {"accumulate", "virtual_ranks", "batch_at", "batch_then", "reduction", "wire"})
    settings.erase(key);
  if (settings.value("precision", "") == "auto") settings["precision"] = "f32";
  const auto costs = [&](const ProjectPlan& memory, const StepTimes& step) {
    StepOfARank rank;
    double updates = 0;
    for (const StepTimes::Stage& stage : step.stages)
      if (stage.cost.op.rfind("update", 0) == 0) updates += stage.times * stage.seconds;
    rank.perStep = updates;
    rank.perSample = (step.seconds - updates) / static_cast<double>(share);
    const CostPlan& total = memory.total;
    rank.memoryPerSample = static_cast<double>(total.activationBytes + total.inputBytes) / static_cast<double>(share);
    rank.memoryBeside = static_cast<double>(total.totalBytes() - total.activationBytes - total.inputBytes);
    return rank;
  };
  if (given.device != "cpu" && given.device != "auto") {
    const GpuPlan plan = planOnGpu(project, openPlannedGpu(given.device), assumedEfficiency());
    return costs(plan.memory, plan.step);
  }
  const ProcessorPlan plan = planOnProcessor(project, knownProcessor(read.threads));
  return costs(plan.memory, plan.step);
}

// Of the first update's dataset, where its cache stands; else as given.
std::int64_t samplesOf(const AdviseArguments& given, const Project& project, const std::filesystem::path& folder) {
  if (given.samples > 0) return given.samples;
  const DatasetSpec* dataset = project.dataset(project.training.updates.front().dataset);
  if (!dataset) return 0;
  try {
    return openRows(*dataset, folder / dataset->csv, dataset->prepare)->size();
  } catch (const Error&) {
    return 0;  // said where it is trained
  }
}

int advise(const AdviseArguments& given) {
  const std::filesystem::path file = projectFile(given.project);
  const Project project = loadForTraining(file, given.settings).project;
  const std::filesystem::path folder =
      given.folder.empty() ? std::filesystem::absolute(file).parent_path() : std::filesystem::path(given.folder);
  const HostOffer host = offerOf(given);
  const StepOfARank rank = stepOf(given, project);
  ChoiceQuestion question{.host = host,
                          .samples = samplesOf(given, project, folder),
                          .secondsPerSample = rank.perSample,
                          .secondsPerStep = rank.perStep,
                          .memory = given.memory * (1 << 20),
                          .memoryPerSample = rank.memoryPerSample,
                          .memoryBeside = rank.memoryBeside};
  if (given.sameAs > 0) question.sameAsBatch = given.sameAs;
  if (given.noise > 0) question.noise = given.noise;
  const TrainSettings settings = readSettings(project.training.settings);
  const ScalingQuestion scaling{.secondsPerSample = rank.perSample,
                                .secondsPerStep = rank.perStep,
                                .samplesPerRank = std::max<std::int64_t>(1, settings.batch / given.ranksNow),
                                .perHost = host.perHost > 0 ? host.perHost : host.ranks,
                                .links = host.links,
                                .samples = question.samples,
                                .epochs = settings.epochs,
                                .most = given.most,
                                .also = given.ranksNow};
  const std::vector<ScalingPoint> points = predictScaling(project, scaling);
  if (given.scalingOnly) {
    ScalingQuestion asItIs = scaling;
    asItIs.batch = settings.batch;
    const int trainedOn = given.trainedOn > 0 ? given.trainedOn : given.ranksNow;
    const std::vector<ScalingPoint> run{predictScalingAt(project, asItIs, trainedOn)};
    if (given.json)
      fmt::print("{}\n", Json{{"scaling", toJson(points)}, {"run", toJson(run).front()}}.dump());
    else
      fmt::print("{} samples a rank, {}\n{}this run, on {}\n{}", scaling.samplesPerRank,
                 host.measured ? "links as given" : "links assumed", toText(points), counted(trainedOn, "ranks"),
                 toText(run));
    return kExitDone;
  }
  const RunChoice choice = chooseRun(project, 0, given.ranksNow, question);
  if (!given.out.empty()) saveProject(choice.project, given.out);
  if (given.json) {
    fmt::print("{}\n", Json{{"host", host.name},
                            {"ranks", choice.ranks},
                            {"changes", toJson(choice.changes)},
                            {"predicted", toJson(std::vector{choice.predicted}).front()},
                            {"scaling", toJson(points)},
                            {"project", writeProject(choice.project)}}
                           .dump());
    return kExitDone;
  }
  fmt::print("for {}\n{}", host.name, toText(choice.changes));
  fmt::print("predicted: a step of {:.3g} ms, {} samples a second{}\n", 1e3 * choice.predicted.step,
             groupedText(std::llround(choice.predicted.samplesPerSecond)),
             choice.predicted.run > 0 ? fmt::format(", the whole run {:.3g} s", choice.predicted.run) : "");
  fmt::print("{}", toText(points));
  return kExitDone;
}

}  // namespace

void addAdvise(CLI::App& app, Session& session) {
  auto given = std::make_shared<AdviseArguments>();
  CLI::App* verb = app.add_subcommand("advise", "How to train a project on a host: every choice with its reason");
  verb->add_option("PROJECT", given->project, "The .loom file, or a folder with one")->required();
  verb->add_option("--set", given->settings, "As of loom train")->type_name("KEY=VALUE")->expected(1, -1);
  verb->add_option("--host", given->host, "A host of the page Hosts by its name; by default this machine");
  verb->add_option("--hosts", given->hosts, "Another list of hosts than Gradloom's")->type_name("FILE");
  verb->add_option("--ranks", given->ranks, "That it offers, in place of what the list says")
      ->check(CLI::Range(1, 65536));
  verb->add_option("--per-host", given->perHost, "How many of them share a machine; 0 = all")
      ->check(CLI::Range(0, 65536));
  verb->add_option("--between", given->between, "A link between machines")
      ->type_name("DELAY_US MBIT_S")
      ->expected(2)
      ->check(CLI::PositiveNumber);
  verb->add_option("--within", given->within, "A link within one")
      ->type_name("DELAY_US MBIT_S")
      ->expected(2)
      ->check(CLI::PositiveNumber);
  verb->add_option("--device", given->device, "cpu, as predicted here; h100, h200, a100: ranks with such a GPU each");
  verb->add_option("--same-as", given->sameAs, "Wish: the accuracy of this batch; by default as fast as it goes")
      ->type_name("BATCH")
      ->check(CLI::Range(1, 1 << 30));
  verb->add_option("--noise-scale", given->noise, "As loom noise-scale measured it")->check(CLI::PositiveNumber);
  verb->add_option("--memory", given->memory, "That a rank may use, in MiB")->check(CLI::PositiveNumber);
  verb->add_option("--samples", given->samples, "Of an epoch, where the data is not here")->check(CLI::PositiveNumber);
  verb->add_option("--now", given->ranksNow, "Ranks that the project's batch is meant for")
      ->check(CLI::Range(1, 65536));
  verb->add_option("--trained-on", given->trainedOn, "Ranks of which --scaling tells the run, where others are virtual")
      ->check(CLI::Range(1, 65536));
  verb->add_option("--most", given->most, "Up to so many ranks is told how it scales")->check(CLI::Range(1, 65536));
  verb->add_option("--folder", given->folder, "Where the project's relative paths begin; by default its own folder");
  verb->add_flag("--scaling", given->scalingOnly, "Only how it scales");
  verb->add_option("--out", given->out, "Write the changed project there")->type_name("FILE");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->callback([&session, given] { session.chosen = [given] { return advise(*given); }; });
}

}  // namespace loom
