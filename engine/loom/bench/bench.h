#pragma once
// `loom bench`: training speed on fixed workloads, one JSON line each. Several ranks each compute the workload's batch.
#include <functional>
#include <string>
#include <vector>

#include "engine/loom/bench/workloads.h"
#include "engine/program/step_cost.h"
#include "engine/training/parallel.h"

namespace loom {

class Backend;

struct BenchArguments {
  std::vector<std::string> names;                 // none = all
  std::string device = "cpu", precision = "f32";  // the backend's, for the lines
  double seconds = 5;                             // of measuring, for each
  int threads = 0;                                // 0 = all that this process may use
  std::int64_t batch = 0;                         // of a rank; 0 = the workload's
  double memoryBudget = 0;                        // MiB, as `memory_budget` of a project; 0 = none
  bool apart = false;      // ranks compute at the same time without exchanging anything: the ceiling of those that do
  bool inStep = false;     // apart, but each step begins when all ranks have ended theirs: what unlike cores cost alone
  ConnectStreams connect;  // ranks with a device each: what their streams exchange by; null: through the host
  std::string trace;       // a file for a browser's trace viewer, of the last workload
  // What was measured of a workload: a step's seconds, the bytes that the process took for it at its peak, and its
  // stages (with times where they are profiled).
  struct Measured {
    double seconds = 0, memory = 0;
    std::vector<StageCost> stages;
  };
  // What is told of it besides: a prediction. Null: nothing.
  std::function<Json(const Workload&, const Measured&)> predict;
  // Instead of measuring one workload, without its dropout: weights and batch, the first step's gradients, and the loss
  // of each step into a .safetensors ("weight:NAME", "gradient:NAME", "input:NAME", "losses"; all f32).
  std::string record;
  std::int64_t recordedSteps = 1;
  std::string weights;  // such a file, whose weights these steps begin with; empty: the workload's own
};

// Rank 0 prints a line for each workload as it ends; answers the exit code. Throws Error(badArgument, device) for what
// cannot be.
int runBench(const BenchArguments& arguments, Backend& backend, Communicator& communicator);

}  // namespace loom
