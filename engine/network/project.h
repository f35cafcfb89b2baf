#pragma once
// A whole project as `*.loom` holds it: networks, units, datasets, training. Reading reports every problem with its
// place; writing is stable and leaves out defaults, so that git shows what changed.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/network/analysis.h"
#include "engine/network/network.h"

namespace loom {

inline constexpr int kProjectVersion = 1;

struct DatasetSpec {
  std::string name;             // "training"
  std::string csv;              // relative to the project file
  std::vector<Json> prepare;    // {"step": "Normalise", ...}: entries of engine/data's prepareTable()
  bool ownPrepare = false;      // false: a validation set takes the training set's (its random steps left out)
  Json extra = Json::object();  // further fields of datasetEntry() (first_row, rows, hold_out ...), defaults left out
};

// One update rule; the simple form of `training` is a list of one. Where the file is silent, reading gives what
// defaultUpdate() has: optimizer and schedule are never null in a project that was read.
struct UpdateSpec {
  std::string network = "main";
  std::string dataset = "training";
  std::vector<std::string> parameters;                             // glob patterns over parameter names; empty = all
  std::vector<std::string> decayExclude{"bias", "normalisation"};  // kinds or glob patterns: no weight decay
  Json optimizer;                                                  // {"name": "Momentum", "learning_rate": ...}
  Json schedule;                                                   // {"name": "Cosine", ...}
  Json warmup;    // null, or {"epochs": 1} or {"steps": 100}, "from": 0
  int every = 1;  // runs at steps divisible by this
};

// With the default optimizer and schedule: what a project without `training` has.
UpdateSpec defaultUpdate();

struct TrainingSpec {
  std::vector<UpdateSpec> updates;  // reading gives at least one
  std::string validation;           // dataset name, empty = none
  std::string validationNetwork;    // network that is evaluated; empty = the first update's
  Json settings =
      Json::object();  // epochs, batch, accumulate, precision, seed, clip_norm, ...: fields of settingsEntry()
};

struct Project {
  std::vector<Network> networks;
  std::vector<Network> units;  // drawings that nodes use; their names and those of the networks differ
  std::vector<DatasetSpec> datasets;
  TrainingSpec training;
  std::string notes;

  const Network* network(std::string_view name) const;
  Network* network(std::string_view name);
  const Network* unit(std::string_view name) const;
  Network* unit(std::string_view name);
  // A network or a unit.
  const Network* drawing(std::string_view name) const;
  Network* drawing(std::string_view name);
  const DatasetSpec* dataset(std::string_view name) const;
};

// The pins of a node as it is drawn, of its layer or of its unit. Of a unit: keys and labels are the ids of its Inputs
// and Outputs.
struct NodePorts {
  std::vector<Port> inputs, outputs;
};
// None for an unknown layer or unit.
NodePorts portsOf(const Project& project, const Node& node);

// The fields of `training` beside the updates, in the order in which a form shows them. Where `training` is a list,
// they stand in its first element.
const Entry& settingsEntry();
const Entry& validationEntry();  // `validation`, `validation_network`: kept in TrainingSpec's own members
const Entry& updateEntry();   // network, dataset, parameters, decay_exclude, every; beside optimizer, schedule, warmup
const Entry& datasetEntry();  // csv, which of its rows; beside prepare

// Never throws for what the file says: `problems` hold every fault of form with its place; parts that can be read are
// there. What the project in memory still shows (an unknown layer or field, a dangling wire, a circle) is
// checkProject()'s to tell. Two nodes of one id: the second is read under a free one, and a problem says so.
struct ReadProject {
  Project project;
  std::vector<Problem> problems;
  bool readable = false;  // false: not JSON, no object, or a newer version (the problem says which)
};
ReadProject readProject(std::string_view text, const std::string& name);
// Throws Error (missingFile, badProject, newerVersion) with the first problem of form.
Project loadProject(const std::filesystem::path& path);
std::string writeProject(const Project& project);
void saveProject(const Project& project, const std::filesystem::path& path);  // atomically

// Problems of the whole project: each network's, settings against the catalogue, names that do not exist, Inputs
// without a column where `columns` of a dataset are known.
struct KnownColumns {
  std::string dataset;
  std::map<std::string, Shape> shapes;          // of one sample, after preparation
  std::map<std::string, std::int64_t> classes;  // label columns: highest label + 1
};
// `memory`: what the last call found, so that this one looks only at what changed since.
struct AnalysisMemory;
std::vector<Problem> checkProject(const Project& project, const std::vector<KnownColumns>& columns = {},
                                  AnalysisMemory* memory = nullptr);

}  // namespace loom
