#pragma once
// The process beside a job: it starts `loom train` or mpirun around it, outlives every connection, and notes the end.
// Under Slurm it is the batch script's own process. Signals to it:
//   SIGINT, SIGUSR1   the run is to write a checkpoint and end; SIGUSR1 comes from the batch system shortly before the
//                     time limit, and then the continuation is submitted where launch.json asks for it
//   SIGTERM           every rank ends now; under a batch system, where it is how a preemption begins, after a time in
//                     which the run may write its checkpoint, unless a person has ended the job
// A job that the batch system itself starts anew (preempted, its node failed) goes on from its checkpoint.
#include "engine/agent/job_folder.h"

namespace loom {

// `loom agent --job FOLDER`: runs the job to its end in this process. Answers the exit code.
int superviseJob(const JobFolder& job);

// Starts the above in a session of its own and answers at once. Throws Error(inputOutput).
void startSupervisor(const JobFolder& job);

}  // namespace loom
