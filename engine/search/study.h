#pragma once
// A search as it lies on disk. Each trial is an ordinary run of the project, whose folder holds `trial.json`: the whole
// description of the search, the trial's number and its values. So a search is what its trials say; NAME.search.json
// beside their folders is written anew from them, for readers and for what is to be asked further.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/run_folder.h"
#include "engine/search/candidate.h"
#include "engine/search/trial.h"

namespace loom {

struct SearchPlan {
  std::string name;  // of the search: letters, digits, '-', '_', '.'
  Space space;
  std::string strategy = "global", stopWeak = "none";
  int trials = 30;
  std::uint64_t seed = 1;
  std::string metric;                 // "loss", or a metric's name in the events
  bool higher = false;                // more of it is better
  bool share = false;                 // from 0 to 1, which is written in percent
  std::vector<std::string> settings;  // of every trial, as for --set
  std::string project;                // hash of the project's text
  std::vector<CostLimit> limits;      // candidates above one of them never train
  std::string planFor;                // device of predicted times and memory, as of loom plan; empty = this processor
};
Json toJson(const SearchPlan& plan);
SearchPlan planFromJson(const Json& json);  // throws Error(badData)

std::string resultText(const SearchPlan& plan, double result);  // "99.44 %", "0.03312"

// The metric that decides and its way, as the project's monitor says; the hash of the project; the checked space.
// Throws Error(badArgument, badProject) for what cannot be searched.
SearchPlan checkedPlan(const Json& project, SearchPlan plan);
std::string hashOf(const Json& project);

// One that was drawn and cannot be a trial.
struct RefusedCandidate {
  Point point;
  std::string why;
  TrialCost cost = {};
};

// What a trial's folder says besides its run.
struct TrialFile {
  SearchPlan plan;
  int number = 0;
  Point point;
  TrialState verdict = TrialState::running;    // weak, failed: nothing more is done with it
  std::string message;                         // why it failed
  std::int64_t process = 0, processStart = 0;  // that trains it on this machine, where the search started it itself
  TrialCost cost = {};                         // as it was before it trained
  std::string drawing = {};                    // CandidateScreen::Answer::drawing; empty = not known
  std::vector<RefusedCandidate> refused = {};  // drawn on the way to it, in their order
  // Drawn behind it for a trial that did not come yet; counts as long as it is the last one.
  std::vector<RefusedCandidate> refusedNext = {};
};
void writeTrialFile(const std::filesystem::path& run, const TrialFile& trial);
// Nothing where there is none or it is damaged.
std::optional<TrialFile> readTrialFile(const std::filesystem::path& run);

// One run as a trial. Reads what is new of its events with each look.
class TrialRun {
 public:
  TrialRun(std::filesystem::path folder, TrialFile file);
  const std::filesystem::path& folder() const { return m_folder; }
  const TrialFile& file() const { return m_file; }
  void judge(TrialState verdict, const std::string& message = {});  // and writes it down
  void keepRefused(std::vector<RefusedCandidate> next);             // and writes it down
  void remember(std::int64_t process, std::int64_t start);
  // `lives`: somebody trains it or will. Without one it is interrupted where its log tells of no end.
  const Trial& look(bool lives);
  const Trial& trial() const { return m_trial; }
  const std::string& ended() const { return m_end; }  // "done", "stopped", "failed"; empty = the log tells of no end
  double stepSeconds() const;  // of a mean step as it was trained, the first of each attempt left out; NaN = none

 private:
  void take(const Event& event);
  std::filesystem::path m_folder;
  TrialFile m_file;
  Trial m_trial;
  EventReader m_events;
  std::string m_end, m_message;
  double m_stepsTotal = 0, m_stepMs = 0;
  std::int64_t m_steps = 0;  // that m_stepMs sums
  bool m_first = true;       // the next step is the first of its attempt
  std::vector<TrialResult> m_validations, m_epochs;
};

// The search `name` among the runs of a folder, from its trials, in the order of their numbers. Nothing where there is
// no trial of it.
struct Study {
  SearchPlan plan;
  std::filesystem::path runs;  // the folder
  std::vector<std::unique_ptr<TrialRun>> trials;

  std::vector<Trial> state() const;
  std::int64_t refused() const;  // candidates, each once, also those of a trial that did not come yet
  void save() const;             // NAME.search.json
};
std::optional<Study> readStudy(const std::filesystem::path& runs, const std::string& name);
// Names of the searches among the runs of a folder, and "search-1", "search-2": the first that is free.
std::vector<std::string> searchesIn(const std::filesystem::path& runs);
std::string freeSearchName(const std::filesystem::path& runs);

}  // namespace loom
