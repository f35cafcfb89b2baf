#pragma once
// Trains a project into a run folder: updates step by step, validation, checkpoints, events, commands. Knows a Backend
// and no machine. One Trainer does one attempt; resuming makes another one on the same folder.
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/network/project.h"
#include "engine/program/backend.h"
#include "engine/run/run_folder.h"
#include "engine/training/parallel.h"
#include "engine/training/position.h"

namespace loom {

struct TrainerOptions {
  Project project;
  std::filesystem::path folder;       // where the project's relative CSV paths begin
  std::filesystem::path projectFile;  // for run.json; may be empty
  RunFolder run;
  bool resume = false;                         // go on from the newest whole checkpoint of the run, as a new attempt
  bool changed = false;                        // resume: the project differs from run.json's, which is written anew
  Json trainedOn = Json::object();             // resume: run.json's "datasets"; other samples are told of, or refused:
  Json startedFrom;                            // resume: run.json's "started_from", which is kept
  std::vector<std::string> moved;              // resume: of these datasets, which lie elsewhere than run.json says
  Json versions = Json::object();              // of the program and its libraries, for run.json
  std::function<void(const Event&)> observer;  // every event, after it was written
  const std::atomic<bool>* stop = nullptr;     // true: write a checkpoint and stop at the next step (signals)
  // The newest checkpoint is written at the end of an epoch when this long has passed since the last one, and in the
  // midst of an epoch after `longEpochSeconds`.
  double checkpointSeconds = 5;
  double longEpochSeconds = 180;
  // The ranks of this run; all call train() alike. Null: this process by itself. Rank 0 alone reads and writes the
  // run's folder.
  Communicator* communicator = nullptr;
  ConnectStreams connect = nullptr;  // where the backend's devices exchange by themselves
  // Told of the error that ends this rank, after the run's folder was, and before anything is given back: several ranks
  // must end the job here, for others wait in collectives that this one will not enter.
  std::function<void(const Error&)> failed;
  Trace* trace = nullptr;  // where compute, communication and waits are recorded
  // How many seconds a stage is predicted to take on this rank's machine, and from what that is known: told beside what
  // is measured. Null: nobody knows.
  std::function<double(const StageCost&)> predictedSeconds;
  std::string predictedFrom;
  // In place of a schedule: the learning rate of update `update` at a step (from 0), given what is scheduled. Null: as
  // scheduled. On every rank alike.
  std::function<double(std::size_t update, std::int64_t step, double scheduled)> rateAt;
};

struct TrainResult {
  bool stopped = false;  // by a command or a signal, before the last step
  std::int64_t step = 0;
  double epoch = 0;
  std::optional<BestSoFar> best;
  std::filesystem::path lastCheckpoint, bestCheckpoint;  // empty when there is none
};

// Takes the folder's lock for the whole time (Error(badArgument) when another process trains there). Every end is told
// by an event `finished`; an error is told by an event `error` first and then thrown: badProject, badData, missingFile,
// diskFull, inputOutput, device, diverged. Whatever happens, files that were whole before stay whole.
TrainResult train(Backend& backend, TrainerOptions options);

}  // namespace loom
