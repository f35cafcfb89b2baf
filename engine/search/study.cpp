#include "engine/search/study.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/foreign.h"
#include "engine/base/hash.h"
#include "engine/metrics/metric.h"
#include "engine/network/flatten.h"
#include "engine/network/project_arguments.h"
#include "engine/search/front.h"
#include "engine/search/stop_rule.h"
#include "engine/search/strategy.h"

namespace loom {
namespace {

constexpr char kTrialFile[] = "trial.json";
constexpr std::size_t kLargest = std::size_t{16} << 20;

// The layer that measures the monitored result; none for the loss.
std::string measuredBy(const Project& project, const std::string& metric) {
  if (metric == "loss") return {};
  const std::string& network = project.training.validationNetwork.empty() ? project.training.updates.front().network
                                                                          : project.training.validationNetwork;
  const Network flat = flatNetwork(project, network);
  for (const Node& node : flat.nodes)
    if (node.id == metric) return node.layer;
  throwError(ErrorCode::badArgument,
             "training.monitor is '{}', and network '{}' measures nothing of that name: set it to \"loss\" or to the "
             "name of a metric",
             metric, network);
}

TrialState stateFromKey(const std::string& key) {
  for (const TrialState each : {TrialState::weak, TrialState::failed, TrialState::done})
    if (key == toKey(each)) return each;
  return TrialState::running;
}

// Its name becomes part of paths: of the search's file and of its trials' folders. Empty = not chosen yet.
bool isSearchName(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  return name.size() <= kLongest && !name.starts_with('.') && name.find_first_not_of(kLetters) == std::string::npos;
}

std::filesystem::path searchFile(const std::filesystem::path& runs, const std::string& name) {
  return runs / (name + ".search.json");
}

}  // namespace

std::string hashOf(const Json& project) {
  const std::string text = project.dump();
  return fmt::format("{:016x}", Hash64::of(std::as_bytes(std::span(text.data(), text.size()))));
}

SearchPlan checkedPlan(const Json& project, SearchPlan plan) {
  if (plan.trials < 1 || plan.trials > 100000)
    throwError(ErrorCode::badArgument, "--trials {}: a number from 1 to 100000 is wanted", plan.trials);
  if (!isSearchName(plan.name))
    throwError(ErrorCode::badArgument,
               "--name {}: a search is called by letters, digits, '-', '_' and '.' (not first), at most 100 of them",
               shownText(plan.name));
  strategyNamed(plan.strategy);
  stopRuleNamed(plan.stopWeak);
  plan.space = checkedSpace(project, plan.settings, std::move(plan.space));
  for (CostLimit& each : plan.limits) each = parseLimit(toText(each));
  const Project read = checkedProject(project, "the project", plan.settings).project;
  plan.metric = Values(settingsEntry(), read.training.settings).text("monitor");
  const std::string layer = measuredBy(read, plan.metric);
  plan.higher = goalOf(layer) == Goal::higher;
  plan.share = isShare(layer);
  plan.project = hashOf(project);
  return plan;
}

std::string resultText(const SearchPlan& plan, double result) {
  return plan.share ? fmt::format("{:.2f} %", 100 * result) : fmt::format("{:.5f}", result);
}

Json toJson(const SearchPlan& plan) {
  Json space = Json::array();
  for (const Dimension& each : plan.space) space.push_back(toText(each));
  Json limits = Json::array();
  for (const CostLimit& each : plan.limits) limits.push_back(toText(each));
  return {{"name", plan.name},
          {"over", space},
          {"limits", limits},
          {"strategy", plan.strategy},
          {"stop_weak", plan.stopWeak},
          {"trials", plan.trials},
          {"seed", plan.seed},
          {"metric", plan.metric},
          {"better", plan.higher ? "higher" : "lower"},
          {"share", plan.share},
          {"settings", plan.settings},
          {"project", plan.project},
          {"plan_for", plan.planFor}};
}

SearchPlan planFromJson(const Json& json) {
  try {
    SearchPlan plan{.name = json.at("name"),
                    .space = {},
                    .strategy = json.at("strategy"),
                    .stopWeak = json.at("stop_weak"),
                    .trials = json.at("trials"),
                    .seed = json.at("seed"),
                    .metric = json.at("metric"),
                    .higher = json.at("better") == "higher",
                    .share = json.value("share", false),
                    .settings = json.at("settings"),
                    .project = json.at("project"),
                    .limits = {},
                    .planFor = json.value("plan_for", std::string())};
    if (!isSearchName(plan.name))
      throwError(ErrorCode::badData, "the description of a search has no name that a search can have: {}",
                 shownText(plan.name));
    for (const Json& each : json.at("over")) plan.space.push_back(parseDimension(each));
    for (const Json& each : json.value("limits", Json::array())) plan.limits.push_back(parseLimit(each));
    return plan;
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData, "the description of a search is damaged: {}", fault.what());
  }
}

void writeTrialFile(const std::filesystem::path& run, const TrialFile& trial) {
  Json json{{"search", toJson(trial.plan)}, {"number", trial.number}, {"values", trial.point}};
  if (trial.verdict != TrialState::running) json["verdict"] = toKey(trial.verdict);
  if (!trial.message.empty()) json["message"] = trial.message;
  if (trial.process != 0) json.update({{"process", trial.process}, {"process_start", trial.processStart}});
  if (const Json cost = toJson(trial.cost); !cost.empty()) json["cost"] = cost;
  if (!trial.drawing.empty()) json["drawing"] = trial.drawing;
  for (const auto& [key, all] : {std::pair{"refused", &trial.refused}, {"refused_next", &trial.refusedNext}})
    for (const RefusedCandidate& each : *all)
      json[key].push_back({{"values", each.point}, {"why", each.why}, {"cost", toJson(each.cost)}});
  writeFileAtomically(run / kTrialFile, formatJson(json) + "\n");
}

std::optional<TrialFile> readTrialFile(const std::filesystem::path& run) {
  std::error_code fault;
  if (!std::filesystem::exists(run / kTrialFile, fault)) return std::nullopt;
  try {
    const Json json = parseJson(readFile(run / kTrialFile, kLargest), kTrialFile);
    TrialFile trial{.plan = planFromJson(json.at("search")),
                    .number = json.at("number"),
                    .point = json.at("values"),
                    .verdict = stateFromKey(json.value("verdict", std::string())),
                    .message = json.value("message", std::string()),
                    .process = json.value("process", std::int64_t{0}),
                    .processStart = json.value("process_start", std::int64_t{0}),
                    .cost = costFromJson(json.value("cost", Json::object())),
                    .drawing = json.value("drawing", std::string())};
    for (const auto& [key, all] : {std::pair{"refused", &trial.refused}, {"refused_next", &trial.refusedNext}})
      for (const Json& each : json.value(key, Json::array())) {
        all->push_back({each.at("values"), each.at("why"), costFromJson(each.value("cost", Json::object()))});
        if (all->back().point.size() != trial.plan.space.size()) return std::nullopt;
      }
    if (trial.point.size() != trial.plan.space.size() || trial.number < 1) return std::nullopt;
    return trial;
  } catch (const Error&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::vector<Trial> Study::state() const {
  std::vector<Trial> all;
  for (const auto& each : trials) all.push_back(each->trial());
  return all;
}

std::int64_t Study::refused() const {
  std::size_t all = 0;
  for (const auto& each : trials) all += each->file().refused.size();
  if (!trials.empty()) all += trials.back()->file().refusedNext.size();
  return static_cast<std::int64_t>(all);
}

void Study::save() const {
  Json list = Json::array();
  for (const TrialRow& each : rowsOf(*this)) list.push_back(toJson(each));
  const Json all{{"search", toJson(plan)}, {"trials", list}, {"refused", refused()}};
  writeFileAtomically(searchFile(runs, plan.name), formatJson(all) + "\n");
}

std::optional<Study> readStudy(const std::filesystem::path& runs, const std::string& name) {
  Study study{.plan = {}, .runs = runs, .trials = {}};
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(runs, fault)) {
    std::optional<TrialFile> file = readTrialFile(entry.path());
    if (file && file->plan.name == name)
      study.trials.push_back(std::make_unique<TrialRun>(entry.path(), std::move(*file)));
  }
  std::sort(study.trials.begin(), study.trials.end(),
            [](const auto& a, const auto& b) { return a->file().number < b->file().number; });
  if (study.trials.empty()) return std::nullopt;
  study.plan = study.trials.back()->file().plan;
  return study;
}

std::vector<std::string> searchesIn(const std::filesystem::path& runs) {
  std::set<std::string> names;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(runs, fault))
    if (const auto file = readTrialFile(entry.path())) names.insert(file->plan.name);
  return {names.begin(), names.end()};
}

std::string freeSearchName(const std::filesystem::path& runs) {
  const std::vector<std::string> taken = searchesIn(runs);
  for (int number = 1;; ++number) {
    std::string name = fmt::format("search-{}", number);
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
  }
}

}  // namespace loom
