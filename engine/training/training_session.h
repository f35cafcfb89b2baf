#pragma once
// One attempt of a run, from opening the data to the event `finished`: the inside of train(). One thread; loaders and
// the backend have their own.
#include <chrono>
#include <memory>
#include <vector>

#include "engine/run/control.h"
#include "engine/training/checkpoint.h"
#include "engine/training/evaluation.h"
#include "engine/training/project_data.h"
#include "engine/training/trainer.h"
#include "engine/training/update_runner.h"

namespace loom {

class TrainingSession {
 public:
  // `step` follows the number of steps done: the caller tells it when an error ends the session.
  // `events`: rank 0's; null on others.
  TrainingSession(Backend& backend, TrainerOptions options, EventWriter* events, std::int64_t& step);
  TrainResult run();
  // After an error that came between two steps (a file that vanished): keeps what was trained since the last
  // checkpoint.
  void salvage();

 private:
  enum class Pause { none, now, afterEpoch };
  using Clock = std::chrono::steady_clock;

  // setting up: session_setup.cpp
  Feed& feedOf(const std::string& dataset, const std::string& trained);
  void openData();
  void compareData();
  Json facts() const;
  void makeUpdates();
  void makeEvaluation();
  void resume();
  void followSettings(std::int64_t stepsPerEpoch);
  void sharePosition();
  void chooseMonitor();
  void describe();
  void tellPlan();

  // training: training_session.cpp
  void trainStep();
  bool first() const { return m_events != nullptr; }  // rank 0: it reads and writes the run's folder
  std::vector<Json> commands();
  bool stopAgreed() const { return m_parallel.ranks() > 1 ? m_stopAgreed : stopWanted(); }
  void afterStep(bool epochEnded);
  void makeAlike(const std::vector<int>& apart);
  void obey(const std::vector<Json>& commands);
  bool finished() const;
  bool stopWanted() const { return m_options.stop && m_options.stop->load(std::memory_order_relaxed); }
  void endEpoch();
  bool validate();
  void considerBest(const Measured& measured);
  void checkpointIfDue(bool epochEnded);
  void writeCheckpoint(bool keep);
  void saveBestBeforeDivergence();
  struct StepFigures {
    double rate = 0, gradientNorm = 0;
    double lossScale = 0;  // in f16; 0 = none
  };
  void tellStep(const Measured& measured, const StepFigures& figures, Clock::time_point begin);
  void tell(std::string_view kind, const Json& fields);
  void tellCheckpoint(const CheckpointKeeper::Written& written);
  Position position() const;

  Backend& m_backend;
  TrainerOptions m_options;
  EventWriter* m_events;
  std::int64_t& m_step;
  TrainSettings m_settings;
  std::unique_ptr<Communicator> m_alone;  // where no communicator was given
  Parallel m_parallel;
  CompileOptions m_compile;
  ProjectData m_data;
  ParameterStore m_store;
  CompiledNetworks m_networks;
  std::map<std::string, std::unique_ptr<Feed>> m_feeds;
  std::vector<std::unique_ptr<UpdateRunner>> m_updates;
  std::unique_ptr<Evaluation> m_evaluation;
  std::unique_ptr<ControlReader> m_control;
  std::unique_ptr<CheckpointKeeper> m_keeper;
  std::vector<std::string> m_hosts;  // by rank
  Feed* m_primary = nullptr;  // of the update that defines what an epoch is
  bool m_higherIsBetter = false;
  std::int64_t m_stepsTotal = 0;
  bool m_endsBySteps = false;  // max_steps come before the last epoch: the schedule counts steps, whatever their batch

  Position m_position;  // datasets and updates are filled in by position()
  Pause m_pause = Pause::none;
  std::vector<Json> m_held;                             // several ranks: rank 0's commands, not yet known to the others
  bool m_stopAgreed = false, m_commandsAgreed = false;  // what all ranks learned with the last step
  std::optional<Snapshot> m_pendingBest;                // the best one so far, not yet on disk
  std::int64_t m_writtenStep = -1;                      // step of the newest checkpoint on disk
  Clock::time_point m_lastWrite = Clock::now();
  Measured m_firstMeasured;      // the first update's newest, shown again at steps at which it does not run
  std::size_t m_ownMetrics = 0;  // how many metrics of it are its own
  bool m_sound = true;           // between two steps: weights, slots and position belong together
  std::filesystem::path m_lastCheckpoint, m_bestCheckpoint;
};

}  // namespace loom
