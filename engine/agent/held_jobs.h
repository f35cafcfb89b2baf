#pragma once
// A job that its batch system could not start, and therefore holds, waits for somebody's word: the controller fell
// while it was being started, or a node refused it. The agent gives that word itself, a few times for each start of a
// run; what a person or an administrator holds stays held.
#include "engine/agent/batch_desk.h"
#include "engine/agent/job_folder.h"

namespace loom {

struct ReleaseRule {
  int most = 3;         // times for each start of a run
  double settled = 10;  // seconds after a release until "held" is believed to be another failure
};

// Looks at the job by the desk, which it refers to, and has what was not started released; the state's sentence says
// how often that was done. The count stands in the job's folder, whichever agent looks.
BatchLook lookAndRelease(JobFolder job, BatchDesk& desk, ReleaseRule rule = {});

}  // namespace loom
