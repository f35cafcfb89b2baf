#pragma once
// The process beside a job: it starts `loom train` or mpirun around it, outlives every connection, and notes the end.
// Under Slurm it is the batch script's own process. Signals to it:
//   SIGINT, SIGUSR1   the run is to write a checkpoint and end; SIGUSR1 comes from Slurm shortly before the time
//                     limit, and then the continuation is submitted where launch.json asks for it
//   SIGTERM           every rank ends now
#include <string>
#include <vector>

#include "engine/agent/job_folder.h"

namespace loom {

// The words that start the job: [loom supervise --run RUN -- mpirun ...] [prefix] loom train ...; with module lines a
// shell reads those, and only those. `loom supervise` sits between mpirun and us: it hears the ranks' signs of life and
// names the one that fell.
std::vector<std::string> launchWords(const JobFolder& job, const Json& launch, const std::string& program);

// The hosts of launch.json as mpirun reads them from a file, "name slots=2" a line; empty where it names none.
std::string hostLines(const Json& launch);

// `loom agent --job FOLDER`: runs the job to its end in this process. Answers the exit code.
int superviseJob(const JobFolder& job);

// Starts the above in a session of its own and answers at once. Throws Error(inputOutput).
void startSupervisor(const JobFolder& job);

}  // namespace loom
