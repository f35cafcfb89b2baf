#pragma once
// Programs that start the ranks of a job, and what each of them wants to hear. Adding one: a kind, how it makes itself
// known, and its words.
#include <optional>
#include <string>
#include <vector>

namespace loom {

enum class RankLauncher {
  openMpi,  // mpirun, mpiexec, orterun, prterun
  srun,     // Slurm's own, with PMIx
  hydra     // MPICH's mpiexec, and Intel's and Cray's after it
};

struct RankPlaces {
  int ranks = 1;
  struct Host {
    std::string name;
    int ranks = 1;
  };
  std::string hostsFile;    // the same hosts, for a launcher that reads them from a file; where there are some
  std::vector<Host> hosts;  // empty: where the launcher finds itself, or the batch system says
};

// From the program's name where that tells; nothing for mpirun and mpiexec, which all of them have.
std::optional<RankLauncher> rankLauncherNamed(const std::vector<std::string>& command);
// From what it prints when asked for its --version. What nobody knows is taken for Open MPI's.
RankLauncher rankLauncherFrom(const std::string& version);
// By its name, or by asking it; `before` are words that lead into the environment where it is found.
RankLauncher rankLauncherOf(const std::vector<std::string>& command, std::vector<std::string> before = {});

// The person's own words first, which win, then those without which a job would not start, or not be watched over.
std::vector<std::string> rankWords(RankLauncher launcher, const std::vector<std::string>& command,
                                   const RankPlaces& places);
// What has the command carry an environment variable to all hosts; empty where it does so by itself, or is no launcher.
std::vector<std::string> exportWords(const std::vector<std::string>& command, const std::string& variable);

}  // namespace loom
