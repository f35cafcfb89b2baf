#pragma once
// Losses and metrics of what was begun, read late: when they are wanted, or before their executable keeps them no
// longer. So a machine of its own always has the next run before it while the host waits for the one before.
#include <deque>

#include "engine/program/backend.h"
#include "engine/training/means.h"

namespace loom {

class Figures {
 public:
  // Begins a run of the executable over `samples`. Throws what it throws.
  void run(Executable& executable, const StepOptions& options, double samples);
  // The figures of the oldest run that was not taken yet; waits for them. There must be one.
  Measured take();
  // Reads all that were begun, so that a run whose figures nobody wants may follow.
  void readAll();
  void clear() { m_runs.clear(); }

 private:
  struct Run {
    const Executable* executable;
    StepNumber step;
    double samples;
    bool read = false;
    Measured measured;
  };
  static void read(Run& run);
  void readWhatIsPushedOut(const Executable& executable);
  std::deque<Run> m_runs;  // in the order in which they were begun
};

}  // namespace loom
