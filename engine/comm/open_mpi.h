#pragma once
// Open MPI, opened when a launcher started this process. The library itself is in a module of its own (mpi/), so `loom`
// starts where there is none.
#include <filesystem>
#include <memory>
#include <string>

#include "engine/comm/communicator.h"

namespace loom {

// What the launcher said through the environment (Open MPI's mpirun, srun with PMI): valid before any library is
// opened. Throws Error(communication), with the remedy, for ranks of a launcher whose MPI is another.
struct Launch {
  bool launched = false;  // by a launcher of parallel jobs
  int rank = 0, size = 1;
  int localRank = 0, localSize = 1;  // on this host
};
Launch launchOfEnvironment();

// The group of all ranks. It may be made once in a process; the last group that goes ends MPI. Throws
// Error(communication), with the remedy, where the module or the library cannot be opened or is not the one that the
// launcher belongs to (it then sees 1 rank).
std::unique_ptr<Communicator> openMpi(const Launch& launch);

// Where the module is looked for: GRADLOOM_MPI_MODULE, beside the program, in ../lib/gradloom.
std::filesystem::path mpiModule();

}  // namespace loom
