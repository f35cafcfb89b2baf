#pragma once
// One attempt of a run, from opening the data to the event `finished`: the inside of train(). One thread; loaders and
// the backend have their own.
#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "engine/network/flatten.h"
#include "engine/run/control.h"
#include "engine/training/checkpoint.h"
#include "engine/training/class_weights.h"
#include "engine/training/evaluated_weights.h"
#include "engine/training/evaluation.h"
#include "engine/training/fresh_statistics.h"
#include "engine/training/layer_recorder.h"
#include "engine/training/layer_times.h"
#include "engine/training/project_data.h"
#include "engine/training/rank_times.h"
#include "engine/training/same_weights.h"
#include "engine/training/trainer.h"
#include "engine/training/update_runner.h"
#include "engine/training/user_units.h"

namespace loom {

class TrainingSession {
 public:
  // `step` follows the number of steps whose figures are known: the caller tells it when an error ends the session.
  // `events`: rank 0's; null on others.
  TrainingSession(Backend& backend, TrainerOptions options, EventWriter* events, std::int64_t& step);
  TrainResult run();
  // After an error: tells of the step that was under way, and where the error came between two steps (a file that
  // vanished), keeps what was trained since the last checkpoint.
  void salvage();

 private:
  enum class Pause { none, now, afterEpoch };
  using Clock = std::chrono::steady_clock;

  // setting up: session_setup.cpp
  Feed& feedOf(const std::string& dataset, const std::string& trained);
  void openData();
  void weighClasses();
  void compareData();
  Json facts() const;
  void makeUpdates();
  void makeEvaluation();
  void beginWithWeights(bool wanted);
  void resume();
  void followSettings(std::int64_t stepsPerEpoch);
  void warnOfLoneStatistics();
  void sharePosition();
  void refuseMethods() const;
  void makeStatistics();
  void beginMissingCopies(const std::vector<std::string>& missing);
  // Whether ranks share what a rule keeps, by the setting or by a rule that gives each tensor to one rank.
  bool sharesSlots() const;
  // What rank 0 decides, where all must do the same.
  bool decidedByFirst(bool mine) const;
  SkipsSlot sharedSlots() const;
  std::vector<std::string> spreadSlots(const std::optional<Checkpoint>& from);
  // Rank 0's; nothing on others. By all ranks where they share slots.
  std::optional<Snapshot> snapshot(const EvaluatedInPlace* shown);
  void tellOtherSlots(const std::vector<std::string>& missing, const std::set<std::string>& had);
  void chooseMonitor();
  void describe();
  void tellPlan();

  // stages of the batch: session_stages.cpp
  void checkStages() const;
  std::int64_t stepsOfAllStages() const;
  void followStages();
  void beginStage();

  // steps: session_steps.cpp
  struct PartBegun;
  struct StepBegun;
  void knowMetrics();
  void trainStep();
  void beginStep();
  void settle(std::size_t underWay);
  void finishStep();
  void readFigures(StepBegun& step, PartBegun& part);
  std::string nameOf(const UpdateRunner& update) const;
  [[noreturn]] void refuseStep(const StepBegun& step);
  void makeAlike(const std::vector<int>& apart);
  void tellStep(const StepBegun& step, const Measured& measured);
  void tellRecorded(const StepBegun& step);
  void tellExchange(std::int64_t step);
  void tellGradients(std::int64_t step);
  double waited() const;  // for other ranks, in seconds
  void tellRanks(std::int64_t step);

  // training: training_session.cpp
  bool first() const { return m_events != nullptr; }  // rank 0: it reads and writes the run's folder
  std::vector<Json> commands();
  bool stopAgreed() const { return m_parallel.ranks() > 1 ? m_stopAgreed : stopWanted(); }
  bool pausesAfterStep(bool epochEnded) const;
  void afterStep(bool epochEnded);
  void obey(const std::vector<Json>& commands);
  bool finished() const;
  bool validationPlanned() const;
  bool keepPlanned() const;
  bool longSinceWrite() const;
  bool stopWanted() const { return m_options.stop && m_options.stop->load(std::memory_order_relaxed); }
  void endEpoch();
  bool validate();
  void tellRemarks(const Measured& measured);
  EvaluatedWeights evaluatedNow() const;
  // `shown`: what stands in the store in place of what is trained; null: nothing.
  void considerBest(const Measured& measured, const EvaluatedInPlace* shown = nullptr);
  void checkpointIfDue(bool epochEnded);
  void writeCheckpoint(bool keep);
  void saveBestBeforeDivergence();
  // As events tell it: a tenth of a microsecond is below what a clock can tell here, and half the bytes.
  static double milliseconds(std::chrono::duration<double> duration);
  void tell(std::string_view kind, const Json& fields);
  void tellCheckpoint(const CheckpointKeeper::Written& written);
  Position position() const;

  Backend& m_backend;
  TrainerOptions m_options;
  std::map<std::string, ClassWeights> m_classWeights;  // by dataset
  Project m_weighed;                                   // that of the options, in its losses what classes count
  FlatNetworks m_flat{m_weighed};
  EventWriter* m_events;
  std::int64_t& m_step;
  TrainSettings m_settings;
  std::unique_ptr<Communicator> m_alone;  // where no communicator was given
  Parallel m_parallel;
  LayerTimes m_layerTimes;
  int m_stepsTold = 0;                                                 // steps that were told in this attempt
  std::optional<Clock::time_point> m_firstGradients, m_lastGradients;  // when these were told of
  RankClock m_rankClock;                                               // several ranks: this one's
  RankSums m_rankSums;                                                 // rank 0's, of all
  double m_dataWaited = 0;                                             // seconds, of all steps so far
  std::optional<Clock::time_point> m_lastRanks;                        // when these were told of
  Clock::time_point m_firstRanks;
  CompileOptions m_compile;
  ProjectData m_data;
  ParameterStore m_store;
  CompiledNetworks m_networks;
  std::map<std::string, std::unique_ptr<Feed>> m_feeds;
  std::vector<std::unique_ptr<UpdateRunner>> m_updates;
  std::unique_ptr<LayerRecorder> m_recorder;  // null: nothing is recorded
  std::unique_ptr<Evaluation> m_evaluation;
  std::vector<std::unique_ptr<FreshStatistics>> m_statistics;  // of the networks whose weights to evaluate differ
  std::unique_ptr<ControlReader> m_control;
  std::unique_ptr<CheckpointKeeper> m_keeper;
  std::vector<std::string> m_hosts;  // by rank
  Feed* m_primary = nullptr;         // of the update that defines what an epoch is
  bool m_higherIsBetter = false;
  std::int64_t m_stepsTotal = 0;    // of the schedule: of the settings' first batch
  std::int64_t m_stepsPlanned = 0;  // that will be made
  bool m_endsBySteps = false;  // max_steps come before the last epoch: the schedule counts steps, whatever their batch

  // A step that was begun and whose event was not told yet, and one of its updates.
  struct PartBegun {
    UpdateRunner* update = nullptr;
    double rate = 0;
    std::optional<UpdateRunner::Outcome> outcome;  // once it was read
  };
  struct StepBegun {
    std::vector<PartBegun> parts;        // in the order of updates
    std::int64_t step = 0, samples = 0;  // the position behind it
    double epoch = 0;
    std::optional<std::int64_t> batch;  // samples of the batch that defines what an epoch is, where one was read
    bool epochEnded = false;
    std::uint64_t weights = 0;  // checksum from before it; 0 = not taken
    double waited = 0;          // for data, in seconds
    Clock::time_point began;
    std::string diverged;        // empty = all is well
    std::vector<int> apart;      // ranks with other weights than rank 0
    std::optional<Json> layers;  // LayerTimes, once in an attempt
    bool recorded = false;       // its layers are recorded
  };
  std::deque<StepBegun> m_underWay;
  std::set<std::string> m_remarked;                    // metrics of which was told what has to be known
  std::vector<UnitMetric> m_units, m_validationUnits;  // of the first update's network, of what is validated
  std::size_t m_mostUnderWay = 0;                      // 1 where a machine of its own computes while figures are read
  Clock::time_point m_lastTold;

  Position m_position;  // behind all steps that were begun; datasets and updates are filled in by position()
  Pause m_pause = Pause::none;
  std::vector<Json> m_held;                             // several ranks: rank 0's commands, not yet known to the others
  bool m_stopAgreed = false, m_commandsAgreed = false,  // what all ranks learned with the last step
      m_writeAgreed = false;
  std::optional<Snapshot> m_pendingBest;  // the best one so far, not yet on disk
  std::int64_t m_writtenStep = -1;        // step of the newest checkpoint on disk
  Clock::time_point m_lastWrite = Clock::now();
  Measured m_firstMeasured;      // the first update's newest, shown again at steps at which it does not run
  std::size_t m_ownMetrics = 0;  // how many metrics of it are its own
  bool m_sound = true;           // between two calls: weights, slots, position and steps under way belong together
  std::filesystem::path m_lastCheckpoint, m_bestCheckpoint;
};

}  // namespace loom
