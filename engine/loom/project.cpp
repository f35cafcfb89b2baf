// check, catalogue: what can be said of a project without training it.
#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/data/dataset.h"
#include "engine/data/loader.h"
#include "engine/loom/verbs.h"
#include "engine/metrics/metric.h"
#include "engine/network/analysis.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/flatten.h"
#include "engine/network/project_arguments.h"
#include "engine/optimizers/optimizer.h"
#include "engine/run/exit_code.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

struct ProjectArguments {
  std::string project, category;
  std::vector<std::string> settings;
  bool json = false;
};

int check(const ProjectArguments& given) {
  const std::filesystem::path file = projectFile(given.project);
  const LoadedProject loaded = loadForTraining(file, given.settings);
  for (const std::string& warning : loaded.warnings) fmt::print("warning: {}\n", warning);
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  for (const DatasetSpec& dataset : loaded.project.datasets) {
    if (dataset.csv.empty()) continue;
    needCsv(dataset, folder / dataset.csv);
  }
  for (const Network& network : loaded.project.networks) {
    const Network flat = flatNetwork(loaded.project, network.name);
    const Analysis analysis = analyse(flat);
    const std::string layers =
        isFlat(network)
            ? std::string()
            : fmt::format(" ({} written out)", counted(static_cast<std::int64_t>(flat.nodes.size()), "layers"));
    fmt::print("network {}: {}{}, {}, {:.3g} multiply-adds a sample\n", network.name,
               counted(static_cast<std::int64_t>(network.nodes.size()), "nodes"), layers,
               counted(analysis.parameters, "parameters"), analysis.multiplyAdds);
  }
  fmt::print("no fault found{}\n", loaded.warnings.empty()
                                       ? ""
                                       : "; " + counted(static_cast<std::int64_t>(loaded.warnings.size()), "warnings"));
  return kExitDone;
}

// Each kind of choosable thing with its entries, in the order of the palette. Metrics are layers that are drawn like
// any other; they have a list of their own, which says how each is read.
std::vector<std::pair<std::string, std::vector<const Entry*>>> catalogue() {
  std::vector<std::pair<std::string, std::vector<const Entry*>>> kinds;
  kinds.emplace_back("layers", std::vector<const Entry*>());
  std::vector<const Entry*> metrics;
  for (const LayerDefinition* layer : layerTable()) {
    kinds.back().second.push_back(&layer->entry);
    if (isMetric(layer->entry.id)) metrics.push_back(&layer->entry);
  }
  kinds.emplace_back("metrics", std::move(metrics));
  kinds.emplace_back("optimizers", std::vector<const Entry*>());
  for (const OptimizerDefinition* optimizer : optimizerTable()) kinds.back().second.push_back(&optimizer->entry);
  kinds.emplace_back("schedules", std::vector<const Entry*>());
  for (const ScheduleDefinition* schedule : scheduleTable()) kinds.back().second.push_back(&schedule->entry);
  kinds.emplace_back("warmup", std::vector<const Entry*>{&warmupEntry()});
  kinds.emplace_back("prepare", prepareEntries());
  kinds.emplace_back("settings", std::vector<const Entry*>{&settingsEntry(), &updateEntry(), &datasetEntry()});
  return kinds;
}

int printCatalogue(const ProjectArguments& given) {
  Json all = Json::object();
  for (const auto& [kind, entries] : catalogue()) {
    if (!given.json) fmt::print("{}\n", kind);
    for (const Entry* entry : entries) {
      if (given.json) {
        Json whole = toJson(*entry);
        if (kind == "metrics") {
          whole["better"] = goalOf(entry->id) == Goal::higher ? "higher" : "lower";
          whole["share"] = isShare(entry->id);
        }
        all[kind].push_back(std::move(whole));
        continue;
      }
      fmt::print("  {:<28} {}\n", entry->id, entry->summary);
      for (const Field& field : entry->fields)
        fmt::print(
            "      {:<24} {}\n", field.key,
            field.defaultValue.is_null() ? (field.optional ? "(absent)" : "(required)") : field.defaultValue.dump());
    }
  }
  if (given.json) fmt::print("{}\n", all.dump(2));
  return kExitDone;
}

CLI::App* addProjectVerb(CLI::App& app, const char* name, const char* help,
                         const std::shared_ptr<ProjectArguments>& given) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("PROJECT", given->project, "The .loom file, or a folder with one")->required();
  verb->add_option("--set", given->settings, "As of loom train")->type_name("KEY=VALUE")->expected(1, -1);
  return verb;
}

}  // namespace

void addCheck(CLI::App& app, Session& session) {
  auto given = std::make_shared<ProjectArguments>();
  addProjectVerb(app, "check", "Every fault of a project, without training it", given)->callback([&session, given] {
    session.chosen = [given] { return check(*given); };
  });
}

void addCatalogue(CLI::App& app, Session& session) {
  auto given = std::make_shared<ProjectArguments>();
  CLI::App* verb =
      app.add_subcommand("catalogue", "All layers, metrics, optimizers, schedules, preparation steps and settings");
  verb->add_flag("--json", given->json, "One JSON object with every entry whole");
  verb->callback([&session, given] { session.chosen = [given] { return printCatalogue(*given); }; });
}

}  // namespace loom
