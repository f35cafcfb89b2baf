#pragma once
// Drives a search: looks at its trials, ends the weak ones, begins the next. Where trials run is the bench's matter:
// processes of this machine, or the window's launcher with its hosts. One thread, and nothing here waits: with a screen
// the next trial is drawn on another one.
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>

#include "engine/search/draw.h"
#include "engine/search/stop_rule.h"

namespace loom {

class TrialBench {
 public:
  virtual ~TrialBench() = default;
  // A folder of its own for the run of a trial, made; its name is the run's.
  virtual std::filesystem::path place(const SearchPlan& plan, int number) = 0;
  // Begins it (or goes on with it from its newest checkpoint), or has it wait its turn.
  virtual void start(TrialRun& run, bool goesOn) = 0;
  virtual bool lives(const TrialRun& run) = 0;  // trains, or waits for its turn
  virtual void stop(const TrialRun& run) = 0;   // with a checkpoint
  // Why a run that ended without a word in its log did so.
  virtual std::string lastWords(const TrialRun& run) = 0;
};

class SearchDriver {
 public:
  // `atOnce` trials live at one time. Without a screen whatever is drawn trains.
  SearchDriver(Study study, TrialBench& bench, int atOnce, std::shared_ptr<const CandidateScreen> screen = nullptr);
  ~SearchDriver();  // waits for the candidate that is looked at, and keeps what was refused on the way
  // Called now and then. False when nothing is left to do: all trials have ended, or those that lived stopped. Throws
  // Error(badArgument) where no candidate can be the first trial.
  bool step();
  // No further trial begins; those that live write a checkpoint and end, and go on when the search does.
  void stop();
  bool stopping() const { return m_stopping; }
  const Study& study() const { return m_study; }
  // Why it ended before all trials were; empty where it did not.
  const std::string& ending() const { return m_ending; }
  // Told of every trial that began or ended.
  std::function<void(const TrialRun&)> changed;

 private:
  void look(TrialRun& run);
  bool goOn();
  void begin();
  void draw();
  void take(DrawnCandidate drawn);
  void keepRefused(DrawnCandidate& drawn);
  void dropDrawing();
  Study m_study;
  TrialBench& m_bench;
  const StopRule& m_rule;
  const SearchStrategy& m_strategy;
  int m_atOnce;
  std::shared_ptr<const CandidateScreen> m_screen;
  std::atomic<bool> m_outdated{false};    // nobody wants what is drawn any more; outlives m_drawing
  std::future<DrawnCandidate> m_drawing;  // valid while the next trial is drawn
  std::string m_ending;
  bool m_stopping = false, m_exhausted = false, m_dirty = true;
  std::map<int, bool> m_asked;  // trials that this driver asked to stop
  std::set<int> m_begun;        // that it began or took up again itself
  std::map<int, TrialState> m_known;
  std::map<int, std::size_t> m_measured;  // results that the rule was asked about
};

}  // namespace loom
