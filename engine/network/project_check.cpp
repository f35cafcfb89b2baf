#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/loader.h"
#include "engine/network/batch_stages.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/drawing_check.h"
#include "engine/network/label_steps.h"
#include "engine/network/lone_statistics.h"
#include "engine/network/method_check.h"
#include "engine/network/pattern.h"
#include "engine/network/project.h"
#include "engine/network/project_settings.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

class ProjectChecker {
 public:
  ProjectChecker(const Project& project, const std::vector<KnownColumns>& columns, AnalysisMemory& memory)
      : m_project(project), m_columns(columns), m_drawings(project, memory) {}

  std::vector<Problem> run() {
    m_problems = m_drawings.problems();
    for (const DatasetSpec& dataset : m_project.datasets) checkDataset(dataset);
    checkTraining();
    std::stable_sort(m_problems.begin(), m_problems.end(),
                     [](const Problem& a, const Problem& b) { return a.severity < b.severity; });
    return std::move(m_problems);
  }

 private:
  void report(std::string field, std::string message, Json remedy = nullptr, Severity severity = Severity::error) {
    Problem problem{.severity = severity, .field = field, .message = fmt::format("{}: {}", field, message)};
    if (!remedy.is_null())
      problem.remedy = {
          .kind = Remedy::Kind::setField,
          .label = fmt::format("Set it to {}", remedy.is_string() ? remedy.get<std::string>() : shown(remedy)),
          .field = field,
          .value = std::move(remedy)};
    m_problems.push_back(std::move(problem));
  }

  void checkValues(const std::string& path, const Entry& entry, const Json& given,
                   const std::vector<std::string>& ignored = {}) {
    for (FieldProblem& found : validate(entry, given, ignored)) {
      const std::string field = found.key.empty() ? path : fmt::format("{}.{}", path, clipped(found.key));
      const bool isError = found.severity == FieldProblem::Severity::error;
      Problem problem{.severity = isError ? Severity::error : Severity::warning,
                      .field = field,
                      .message = fmt::format("{}: {}", path, found.message)};
      if (found.remedy)
        problem.remedy = {.kind = Remedy::Kind::setField,
                          .label = fmt::format("Set {} to {}", found.key, shown(*found.remedy)),
                          .field = field,
                          .value = *found.remedy};
      else if (!entry.field(found.key) || !isError)
        problem.remedy = {.kind = Remedy::Kind::removeField,
                          .label = fmt::format("Remove {}", clipped(found.key, 30)),
                          .field = field};
      m_problems.push_back(std::move(problem));
    }
  }

  void checkDataset(const DatasetSpec& dataset) {
    const std::string path = "datasets." + dataset.name;
    Json values = dataset.extra.is_object() ? dataset.extra : Json::object();
    if (!dataset.csv.empty()) values["csv"] = dataset.csv;
    checkValues(path, datasetEntry(), values);
    for (std::size_t i = 0; i < dataset.prepare.size(); ++i) {
      const Json& step = dataset.prepare[i];
      const std::string place = fmt::format("{}.prepare[{}]", path, i);
      const Json name = step.is_object() && step.contains("step") ? step["step"] : Json(nullptr);
      if (!name.is_string()) {
        report(place, fmt::format("is {}, but an object with a step is wanted", shown(step)));
        continue;
      }
      static const std::vector<const Entry*> entries = prepareEntries();
      if (const Entry* entry = findNamed<Entry>(entries, name.get<std::string>()))
        checkValues(place, *entry, step, {"step"});
      else
        reportUnknown(place + ".step", "step", name.get<std::string>(), idsOf<Entry>(entries));
    }
    if (const std::string problem = orderProblem(dataset.prepare); !problem.empty()) report(path + ".prepare", problem);
  }

  void reportUnknown(const std::string& field, std::string_view kind, const std::string& name,
                     const std::vector<std::string>& known) {
    const std::string near = nearest(name, known);
    report(field,
           near.empty() ? fmt::format("there is no {} '{}'{}", kind, clipped(name),
                                      known.empty() ? std::string(": the project has none")
                                                    : fmt::format("; known are {}", fmt::join(known, ", ")))
                        : fmt::format("there is no {} '{}': did you mean '{}'?", kind, clipped(name), near),
           near.empty() ? known.size() == 1 ? Json(known[0]) : Json(nullptr) : Json(near));
  }

  template <class Definition>
  void checkNamed(const std::string& path, std::string_view kind, const Json& given,
                  std::span<const Definition* const> table) {
    if (given.is_null()) return;  // the default
    if (!given.is_object() || !given.contains("name") || !given["name"].is_string())
      return report(path, fmt::format("is {}, but an object with a name is wanted, such as {{\"name\": \"{}\"}}",
                                      shown(given), table.front()->entry.id));
    const std::string name = given["name"].get<std::string>();
    if (const Definition* definition = findNamed(table, name))
      checkValues(path, definition->entry, given, {"name"});
    else if (const std::string advice = adviceOn(table, name); !advice.empty())
      report(path + ".name", advice);
    else
      reportUnknown(path + ".name", kind, name, idsOf(table));
  }

  const Network* checkNetworkName(const std::string& path, const std::string& name) {
    const Network* network = m_project.network(name);
    std::vector<std::string> names;
    for (const Network& known : m_project.networks) names.push_back(known.name);
    if (!network) reportUnknown(path, "network", name, names);
    return network;
  }

  const DatasetSpec* checkDatasetName(const std::string& path, const std::string& name) {
    const DatasetSpec* dataset = m_project.dataset(name);
    if (m_project.datasets.empty()) {
      m_problems.push_back(
          {.field = "datasets", .message = "the project has no data yet: attach a CSV, or import images"});
      return nullptr;
    }
    std::vector<std::string> names;
    for (const DatasetSpec& known : m_project.datasets) names.push_back(known.name);
    if (!dataset) reportUnknown(path, "dataset", name, names);
    return dataset;
  }

  void checkColumnsOf(const Network& network, const std::string& dataset) {
    for (Problem& problem : m_drawings.columnProblems(network, columnsOf(dataset))) {
      // A network that is fed by training and validation set alike is told each fault once.
      const bool told = std::any_of(m_problems.begin(), m_problems.end(), [&](const Problem& other) {
        return other.network == problem.network && other.node == problem.node && other.field == problem.field &&
               other.remedy.value == problem.remedy.value;
      });
      if (!told) m_problems.push_back(std::move(problem));
    }
  }

  void checkTraining() {
    const TrainingSpec& training = m_project.training;
    if (training.updates.empty()) return;
    const bool isList = training.updates.size() > 1;
    for (std::size_t i = 0; i < training.updates.size(); ++i)
      checkUpdate(training.updates[i], isList ? fmt::format("training[{}]", i) : "training");
    const std::string path = isList ? "training[0]" : "training";
    checkValues(path, settingsEntry(), training.settings);
    checkTogether(path);
    const std::string evaluated =
        training.validationNetwork.empty() ? training.updates[0].network : training.validationNetwork;
    const Network* network = training.validationNetwork.empty()
                                 ? m_project.network(evaluated)
                                 : checkNetworkName(path + ".validation_network", evaluated);
    const DatasetSpec* validation =
        training.validation.empty() ? nullptr : checkDatasetName(path + ".validation", training.validation);
    if (validation && network) {
      checkColumnsOf(*network, training.validation);
      checkLabelsOf(m_drawings.flat(*network), *validation);
    }
    if (network) checkMonitor(path, *network);
  }

  const KnownColumns* columnsOf(const std::string& dataset) const {
    for (const KnownColumns& columns : m_columns)
      if (columns.dataset == dataset) return &columns;
    return nullptr;
  }

  void checkUpdate(const UpdateSpec& update, const std::string& path) {
    checkNamed(path + ".optimizer", "optimizer", update.optimizer, optimizerTable());
    checkNamed(path + ".schedule", "schedule", update.schedule, scheduleTable());
    if (const std::string advice = scheduleAdvice(update); !advice.empty())
      report(path + ".schedule", advice, nullptr, Severity::warning);
    if (!update.warmup.is_null()) checkValues(path + ".warmup", warmupEntry(), update.warmup);
    if (update.every < 1) report(path + ".every", fmt::format("is {}, but at least 1 is possible", update.every), 1);
    const Network* network = checkNetworkName(path + ".network", update.network);
    if (!network) return;
    const Network& flat = m_drawings.flat(*network);
    const bool hasLoss = std::any_of(flat.nodes.begin(), flat.nodes.end(),
                                     [](const Node& node) { return roleOf(node.layer) == LayerRole::loss; });
    if (hasLoss)
      checkPatterns(update, path, *network);
    else
      // Where the loss goes is drawn on the canvas; the settings have no say in it.
      m_problems.push_back(
          {.network = network->name,
           .message =
               network->nodes.empty()
                   ? fmt::format("network '{}' is empty: add an Input, a layer and a loss", clipped(network->name))
                   : fmt::format("network '{}' has no loss to make smaller: add one, such as SoftmaxCrossEntropy or "
                                 "MeanSquaredError",
                                 clipped(network->name)),
           .remedy = m_drawings.lossRemedy(*network)});
    if (datasetInputs(flat).empty()) return;  // noise alone needs no dataset
    const DatasetSpec* dataset = checkDatasetName(path + ".dataset", update.dataset);
    if (!dataset) return;
    checkColumnsOf(*network, update.dataset);
    checkLabelsOf(flat, *dataset);
  }

  void checkLabelsOf(const Network& flat, const DatasetSpec& dataset) {
    const bool own = dataset.ownPrepare || !m_project.dataset(m_project.training.updates.front().dataset);
    const std::string owner = own ? dataset.name : m_project.training.updates.front().dataset;
    for (Problem& problem : scaledLabels(flat, owner, prepareOf(m_project, dataset))) {
      const bool told = std::any_of(m_problems.begin(), m_problems.end(),
                                    [&](const Problem& other) { return other.message == problem.message; });
      if (!told) m_problems.push_back(std::move(problem));
    }
  }

  // A pattern that matches no weight is a slip: the update would train nothing, or decay what it should not.
  void checkPatterns(const UpdateSpec& update, const std::string& path, const Network& network) {
    if (!m_drawings.isSound(network)) return;
    const std::vector<std::string> names = m_drawings.weightNames(network);
    const auto matches = [&](const std::string& pattern) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return matchesPattern(pattern, name); });
    };
    if (names.empty()) report(path + ".network", fmt::format("network '{}' has no weights to train", network.name));
    for (const std::string& pattern : update.parameters)
      if (!matches(pattern))
        report(path + ".parameters",
               fmt::format(
                   "the pattern '{}' matches no weight of network '{}'{}", clipped(pattern), network.name,
                   names.empty() ? std::string() : fmt::format(", whose weights are called {} and so on", names[0])));
    for (const std::string& pattern : update.decayExclude)
      if (pattern != "bias" && pattern != "normalisation" && pattern != "weight" && !matches(pattern))
        report(path + ".decay_exclude",
               fmt::format("the pattern '{}' matches no weight of network '{}'", clipped(pattern), network.name),
               nullptr, Severity::warning);
  }

  // Settings that are each possible and together not.
  void checkTogether(const std::string& path) {
    const Values settings(settingsEntry(), m_project.training.settings);
    try {
      const std::int64_t batch = settings.integer("batch"), passes = settings.integer("accumulate");
      if (passes > batch && batch >= 1)
        report(path + ".accumulate",
               fmt::format("is {}, but a batch of {} can be split into at most {} passes", passes, batch, batch),
               batch);
      const std::int64_t ranks = std::max<std::int64_t>(settings.integer("virtual_ranks"), 1);
      checkReduction(path, ranks);
      checkMethods(path);
      if (batch >= 1 && passes >= 1 && batch < 2 * passes * ranks &&
          settings.text("batch_statistics") != "synchronised")
        checkStatistics(path);
      checkStages(path, settings);
      const double epochs = settings.real("epochs");
      for (const UpdateSpec& update : m_project.training.updates) {
        if (!update.warmup.is_object() || !update.warmup.contains("epochs") || !update.warmup["epochs"].is_number())
          continue;
        const double warmup = update.warmup["epochs"].get<double>();
        if (warmup > epochs && epochs > 0)
          report(path + ".warmup.epochs",
                 fmt::format("is {}, but the run has only {} {}: the full rate is never reached", shown(warmup),
                             shown(epochs), epochs == 1 ? "epoch" : "epochs"),
                 nullptr, Severity::warning);
      }
    } catch (const Error&) {
      return;  // of a wrong type: reported with the fields
    }
  }

  void checkStages(const std::string& path, const Values& settings) {
    if (settings.reals("batch_at").empty() && settings.reals("batch_then").empty()) return;
    try {
      batchStages(settings);
    } catch (const Error& error) {
      report(path + ".batch_at", fmt::format("and batch_then make no stages: {}", error.message()));
    }
  }

  // What cannot be on so many ranks; a host's own number is known where one is chosen.
  void checkReduction(const std::string& path, std::int64_t ranks) {
    if (const auto refusal = refusedReduction(m_project.training.settings, ranks))
      report(path + "." + refusal->setting, refusal->sentence(), refusal->value);
  }

  void checkMethods(const std::string& path) {
    if (const auto refusal = refusedMethods(m_project))
      report(path + "." + refusal->setting, refusal->text, refusal->value);
  }

  // Of passes of one sample each.
  void checkStatistics(const std::string& path) {
    std::set<std::string> told;
    for (const UpdateSpec& update : m_project.training.updates) {
      const Network* const network = m_project.network(update.network);
      if (!network || !m_drawings.isSound(*network) || !told.insert(update.network).second) continue;
      const std::vector<std::string> layers = loneStatistics(m_drawings.flat(*network));
      if (!layers.empty()) report(path + ".batch", loneStatisticsText(layers), nullptr, Severity::warning);
    }
  }

  void checkMonitor(const std::string& path, const Network& network) {
    try {
      const std::string monitor = Values(settingsEntry(), m_project.training.settings).text("monitor");
      if (monitor == "loss") return;
      std::vector<std::string> results{"loss"};
      for (const Node& node : m_drawings.flat(network).nodes) {
        if (isResult(roleOf(node.layer)) && node.id != "loss") results.push_back(node.id);
      }
      if (std::find(results.begin(), results.end(), monitor) == results.end())
        reportUnknown(path + ".monitor", "loss or metric", monitor, results);
    } catch (const Error&) {
      return;  // of a wrong type: reported with the fields
    }
  }

  const Project& m_project;
  const std::vector<KnownColumns>& m_columns;
  CheckedDrawings m_drawings;
  std::vector<Problem> m_problems;
};

}  // namespace

std::vector<Problem> checkProject(const Project& project, const std::vector<KnownColumns>& columns,
                                  AnalysisMemory* memory) {
  AnalysisMemory once;
  return ProjectChecker(project, columns, memory ? *memory : once).run();
}

}  // namespace loom
