// search: many trials of a project, each an ordinary run, one process each.
#include <CLI/CLI.hpp>
#include <chrono>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/words.h"
#include "engine/loom/candidate_planner.h"
#include "engine/loom/local_trials.h"
#include "engine/loom/search_report.h"
#include "engine/loom/verbs.h"
#include "engine/network/project_arguments.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

struct SearchArguments {
  std::string project, resume, device, runs, space, report, csv;
  std::string against = "multiply_adds";
  std::vector<std::string> over, limits;
  SearchPlan plan{.trials = 0};
  int atOnce = 1, threads = -1;
  bool json = false;
};

std::string valuesText(const SearchPlan& plan, const Point& point) {
  std::string text;
  for (const std::string& each : settingsOf(plan.space, point)) text += (text.empty() ? "" : "  ") + each;
  return text;
}

std::string scoreText(const SearchPlan& plan, const Trial& trial) {
  const double score = trial.score();
  return std::isnan(score) ? "no result"
                           : fmt::format("{} {}", plan.metric, resultText(plan, plan.higher ? score : -score));
}

Json rowOf(const SearchPlan& plan, const TrialRun& run) {
  const Trial& trial = run.trial();
  Json row{{"search", plan.name},         {"number", trial.number}, {"run", run.folder().string()},
           {"state", toKey(trial.state)}, {"spent", trial.spent},   {"metric", plan.metric}};
  for (std::size_t i = 0; i < plan.space.size(); ++i) row["values"][plan.space[i].key] = trial.point[i];
  TrialCost cost = run.file().cost;
  cost.measured = run.stepSeconds();
  row["cost"] = toJson(cost);
  if (!run.file().refused.empty()) row["refused"] = run.file().refused.size();
  if (const double score = trial.score(); !std::isnan(score)) row["result"] = plan.higher ? score : -score;
  if (!run.file().message.empty()) row["message"] = run.file().message;
  return row;
}

void tell(Console& console, const SearchArguments& given, const Study& study, const TrialRun& run) {
  const Trial& trial = run.trial();
  if (given.json) {
    fmt::print("{}\n", rowOf(study.plan, run).dump());
    std::fflush(stdout);
    return;
  }
  if (trial.state == TrialState::running) {
    console.live(
        fmt::format("trial {} of {}  {}", trial.number, study.plan.trials, valuesText(study.plan, trial.point)));
    return;
  }
  const std::vector<Trial> all = study.state();
  const Trial* const best = bestOf(all);
  std::string what = scoreText(study.plan, trial);
  if (trial.state == TrialState::failed) what = "failed: " + run.file().message;
  if (trial.state == TrialState::weak) what += fmt::format("  (ended at {:.0f} %)", trial.spent * 100);
  if (trial.state == TrialState::interrupted) what = "stopped, it can go on";
  console.line(fmt::format("trial {} of {}  {}  {}{}", trial.number, study.plan.trials,
                           valuesText(study.plan, trial.point), what,
                           best && best->number == trial.number ? "  best so far" : ""));
}

void tellEnd(Console& console, const SearchArguments& given, const Study& study, const std::filesystem::path& project) {
  if (given.json) return;
  const std::vector<Trial> all = study.state();
  double spent = 0;
  for (const Trial& each : all) spent += each.spent;
  console.line(fmt::format("{} of {}, {:.0f} % of their steps trained",
                           counted(static_cast<std::int64_t>(all.size()), "trials"), study.plan.trials,
                           all.empty() ? 0 : spent / static_cast<double>(all.size()) * 100));
  if (const Trial* const best = bestOf(all)) {
    console.line(fmt::format("best      trial {}: {}", best->number, scoreText(study.plan, *best)));
    std::string set;
    for (const std::string& each : settingsOf(study.plan.space, best->point)) set += " --set " + each;
    console.line("train it  loom train " + project.string() + set);
  } else {
    console.line("best      none: no trial has a result");
  }
  if (const std::string refused = refusedText(study); !refused.empty()) console.line("refused   " + refused);
  const TrialCostKind& kind = costKindNamed(given.against);
  const std::vector<TrialRow> rows = rowsOf(study);
  // Against what is the same for all there is no front to speak of.
  if (frontOf(study.plan, rows, kind).size() > 1) console.line(frontText(study.plan, rows, kind));
}

// What is searched and within which limits, from a file: {"over": [...], "limits": [...]}, also that of a search.
void readSpace(const SearchArguments& given, SearchPlan& plan) {
  if (given.space.empty()) return;
  const Json file = parseJson(readFile(given.space), given.space);
  const Json& json = file.is_object() && file.contains("search") ? file["search"] : file;
  const auto texts = [&](const char* key) {
    std::vector<std::string> all;
    for (const Json& each : json.is_object() && json.contains(key) ? json[key] : Json::array()) {
      if (!each.is_string())
        throwError(ErrorCode::badArgument, "--space {}: \"{}\" is a list of texts, such as \"conv1.channels=4..32\"",
                   given.space, key);
      all.push_back(each);
    }
    return all;
  };
  for (const std::string& each : texts("over")) plan.space.push_back(parseDimension(each));
  for (const std::string& each : texts("limits")) plan.limits.push_back(parseLimit(each));
  if (plan.space.empty())
    throwError(ErrorCode::badArgument, "--space {}: it has no \"over\", the list of what is searched", given.space);
}

// A planner where the drawing is searched, or a limit asks for one.
std::shared_ptr<const CandidateScreen> screenFor(const SearchArguments& given, const Json& project,
                                                 const SearchPlan& plan) {
  CandidateScreen::Planner planner;
  try {
    if (wantsPlanner(project, plan)) planner = candidatePlanner(plan.planFor, given.threads);
  } catch (const Error&) {
    if (needsPlanner(plan) || !given.plan.planFor.empty()) throw;  // else the front has no predictions
  }
  return std::make_shared<const CandidateScreen>(project, plan, std::move(planner));
}

int report(const SearchArguments& given, const std::filesystem::path& runs) {
  const TrialCostKind& kind = costKindNamed(given.against);
  std::optional<Study> study = readStudy(runs, given.report);
  if (!study) throwError(ErrorCode::badArgument, "--report {}: {} holds no trial of it", given.report, runs.string());
  for (const auto& each : study->trials) each->look(RunFolder{each->folder()}.running());
  if (!given.csv.empty()) writeFileAtomically(given.csv, frontCsv(study->plan, rowsOf(*study), kind));
  fmt::print("{}", reportText(*study, kind));
  return kExitDone;
}

Study studyFor(const SearchArguments& given, const Json& project, const std::filesystem::path& runs) {
  if (!given.resume.empty()) {
    std::optional<Study> study = readStudy(runs, given.resume);
    if (!study) {
      std::string known;
      for (const std::string& each : searchesIn(runs)) known += (known.empty() ? "" : ", ") + each;
      throwError(ErrorCode::badArgument, "--resume {}: {} holds no trial of it; {}", given.resume, runs.string(),
                 known.empty() ? "no search was begun there" : "there are " + known);
    }
    if (!given.over.empty() || !given.plan.settings.empty() || !given.limits.empty() || !given.space.empty())
      throwError(ErrorCode::badArgument,
                 "--resume {}: a search goes on over what it was begun with; leave --over, --space, --limit and --set "
                 "out, or begin another one",
                 given.resume);
    if (study->plan.project != hashOf(project))
      throwError(ErrorCode::badArgument,
                 "--resume {}: the project was changed since the search began, so further trials could not be compared "
                 "with those that there are; begin another search, or bring back the project as it was",
                 given.resume);
    if (given.plan.trials > 0) study->plan.trials = given.plan.trials;
    return std::move(*study);
  }
  SearchPlan plan = given.plan;
  if (plan.trials == 0) plan.trials = SearchPlan().trials;
  readSpace(given, plan);
  for (const std::string& each : given.over) plan.space.push_back(parseDimension(each));
  for (const std::string& each : given.limits) plan.limits.push_back(parseLimit(each));
  if (plan.planFor.empty()) plan.planFor = given.device;
  if (plan.name.empty()) plan.name = freeSearchName(runs);
  if (readStudy(runs, plan.name))
    throwError(ErrorCode::badArgument, "--name {}: there is a search of that name; go on with it by --resume {}",
               plan.name, plan.name);
  return {.plan = checkedPlan(project, std::move(plan)), .runs = runs, .trials = {}};
}

int search(const SearchArguments& given, const std::atomic<bool>& stop) {
  const std::filesystem::path file = std::filesystem::absolute(projectFile(given.project));
  const Json project = parseJson(readFile(file, std::size_t{256} << 20), file.filename().string());
  const std::filesystem::path runs =
      given.runs.empty() ? file.parent_path() / "runs" : std::filesystem::absolute(given.runs);
  if (!given.report.empty()) return report(given, runs);
  Study begun = studyFor(given, project, runs);
  std::vector<std::string> further;
  if (!given.device.empty()) further.insert(further.end(), {"--device", given.device});
  if (given.threads >= 0) further.insert(further.end(), {"--threads", std::to_string(given.threads)});
  LocalTrials bench(file, runs, further);
  Console console;
  if (!given.json)
    console.line(fmt::format("search    {}, {} trials by {}, best by {} of {}", begun.plan.name, begun.plan.trials,
                             begun.plan.strategy, begun.plan.higher ? "most" : "least", begun.plan.metric));
  const std::string name = begun.plan.name;
  const auto screen = screenFor(given, project, begun.plan);
  SearchDriver driver(std::move(begun), bench, given.atOnce, screen);
  driver.changed = [&](const TrialRun& run) { tell(console, given, driver.study(), run); };
  while (driver.step()) {
    std::this_thread::sleep_for(kBetweenLooks);
    if (stop) driver.stop();
  }
  if (!driver.ending().empty()) console.line("ended     " + driver.ending());
  tellEnd(console, given, driver.study(), file);
  if (!driver.stopping()) return kExitDone;
  console.line(fmt::format("go on     loom search {} --resume {}", file.string(), name));
  return exitCode(ErrorCode::stopped);
}

}  // namespace

void addSearch(CLI::App& app, Session& session) {
  auto given = std::make_shared<SearchArguments>();
  CLI::App* verb = app.add_subcommand("search", "Train a project with many settings and find the best of them");
  verb->add_option("PROJECT", given->project, "The .loom file, or a folder with one")->required();
  verb->add_option("--over", given->over,
                   "What is searched, and from where to where: optimizer.learning_rate=log:1e-4..1, batch=16,32,64, "
                   "conv1.channels=4..32; /N behind a range: so many values of it in a grid. Of what is drawn: "
                   "conv1,conv2.channels=8..64 (both alike), conv2,relu2.repeat=1..4 (the chain of both), "
                   "stage1.repeat=1..4 (a unit or a group), relu1.layer=ReLU,GELU,none (another layer, or nothing)")
      ->type_name("KEY=RANGE")
      ->expected(1, -1);
  verb->add_option("--space", given->space, "The same from a file: {\"over\": [\"KEY=RANGE\"], \"limits\": []}")
      ->type_name("FILE");
  verb->add_option("--limit", given->limits,
                   "What costs more is never trained: multiply_adds=2M (of a sample), parameters=60k, step=5ms, "
                   "memory=512MiB (both predicted)")
      ->type_name("COST=MOST")
      ->expected(1, -1);
  verb->add_option("--plan-for", given->plan.planFor,
                   "The device of predicted times and memory, as of loom plan; by default that of --device");
  verb->add_option("--trials", given->plan.trials, "How many (30); with --resume: in all")
      ->check(CLI::Range(1, 100000));
  std::vector<std::string> strategyIds, ruleIds;
  for (const SearchStrategy* each : strategyTable()) strategyIds.push_back(each->id);
  for (const StopRule* each : stopRuleTable()) ruleIds.push_back(each->id);
  verb->add_option("--strategy", given->plan.strategy, "Where the next trial is")->check(CLI::IsMember(strategyIds));
  verb->add_option("--stop-weak", given->plan.stopWeak, "Which trials end early")->check(CLI::IsMember(ruleIds));
  verb->add_option("--set", given->plan.settings, "For every trial, as of loom train")
      ->type_name("KEY=VALUE")
      ->expected(1, -1);
  verb->add_option("--seed", given->plan.seed, "Of the search; trials have the project's own");
  verb->add_option("--name", given->plan.name, "Of the search; by default search-1, search-2, ...");
  verb->add_option("--runs", given->runs, "Where the trials' folders are made; by default `runs` beside PROJECT")
      ->type_name("FOLDER");
  verb->add_option("--at-once", given->atOnce, "Trials that train side by side")->check(CLI::Range(1, 256));
  verb->add_option("--device", given->device, "As of loom train");
  verb->add_option("--threads", given->threads, "Of each trial, as of loom train");
  verb->add_option("--resume", given->resume, "Go on with this search")->type_name("NAME");
  std::vector<std::string> costs;
  for (const TrialCostKind& each : costKinds()) costs.push_back(each.key);
  verb->add_option("--report", given->report, "Say what this search found so far, with its front, and train nothing")
      ->type_name("NAME");
  verb->add_option("--against", given->against, "Of the front: results against this cost")->check(CLI::IsMember(costs));
  verb->add_option("--csv", given->csv, "With --report: the front as a table")->type_name("FILE");
  verb->add_flag("--json", given->json, "A line of JSON for each trial that begins or ends");
  verb->callback([&session, given] { session.chosen = [&session, given] { return search(*given, session.stop); }; });
}

}  // namespace loom
