#pragma once
// The curves of a run for TensorBoard.
#include <atomic>
#include <filesystem>
#include <string>

#include "engine/run/run_folder.h"

namespace loom {

struct TensorBoardExport {
  RunFolder run;
  std::filesystem::path folder;  // what TensorBoard is pointed to; each run has a folder of its own in it
  std::string name;              // of that folder; empty = as the run's folder is called
  const std::atomic<bool>* stop = nullptr;
};

struct TensorBoardWritten {
  std::filesystem::path file;  // replaced where the run was exported before
  std::int64_t points = 0;
};

// All points of all curves, every step once (of attempts that went through it the newest), at the wall time and the
// step that the run gave them; "training.loss" becomes the tag "training/loss". Reads the log twice and holds none of
// it. Any thread. Throws Error: missingFile where the run has no log, inputOutput and diskFull, stopped.
TensorBoardWritten exportTensorBoard(const TensorBoardExport& wanted);

}  // namespace loom
