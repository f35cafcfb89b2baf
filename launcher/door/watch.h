#pragma once
// Looking on at a run from a terminal: what happens before its first step, its progress as `loom` tells it, how it
// ended and where its model is.
#include "launcher/door/errand.h"
#include "launcher/remote/models.h"

namespace loom {

struct WatchOptions {
  bool toTheEnd = true;    // else until the host has taken it, or this machine started it
  bool quiet = false;      // nothing on standard output
  bool fromHere = false;   // what its log says already is not told again
  int patienceMs = 60000;  // with a host that is not reached, before it has the run
};

// Answers the exit code: of the run where it was followed to its end. Throws Error.
int watchRun(Errand& errand, const RunRecord& run, const WatchOptions& options);
// Until its best checkpoint, else its newest, is here; answers where. Throws Error.
QString fetchModel(Errand& errand, const RunRecord& run, bool quiet, Models::Which which = Models::Which::best);

}  // namespace loom
