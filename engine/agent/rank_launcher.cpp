#include "engine/agent/rank_launcher.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "engine/agent/command.h"

namespace loom {
namespace {

using Words = std::vector<std::string>;
constexpr std::chrono::seconds kVersionLimit{60};  // module lines may take their time

bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool says(const Words& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& each) { return each == option || each.starts_with(option + "="); });
}

std::string hostList(const RankPlaces& places) {
  std::string names;
  for (const RankPlaces::Host& each : places.hosts)
    names += (names.empty() ? "" : ",") + each.name + ":" + std::to_string(each.ranks);
  return names;
}

void openMpiWords(Words& words, const RankPlaces& places) {
  if (::geteuid() == 0) words.push_back("--allow-run-as-root");
  // A host that is cut off is noticed within seconds instead of minutes.
  words.insert(words.end(), {"--mca", "oob_tcp_keepalive_time", "3", "--mca", "oob_tcp_keepalive_intvl", "1", "--mca",
                             "oob_tcp_keepalive_probes", "3"});
  words.insert(words.end(), {"--bind-to", "none"});
  // By a file: with --host, Open MPI 5 does not know the machine that it runs on by its address.
  if (!places.hosts.empty()) words.insert(words.end(), {"--hostfile", places.hostsFile});
  words.insert(words.end(), {"-n", std::to_string(places.ranks)});
}

void srunWords(Words& words, const RankPlaces& places) {
  if (!says(words, "--mpi")) words.push_back("--mpi=pmix");
  words.push_back("--kill-on-bad-exit=1");
  // Since 22.05 what sbatch was told of cores does not reach srun.
  if (const char* cores = std::getenv("SLURM_CPUS_PER_TASK");
      cores && !says(words, "--cpus-per-task") && !says(words, "-c"))
    words.push_back(std::string("--cpus-per-task=") + cores);
  if (!places.hosts.empty()) {
    std::string names;
    for (const RankPlaces::Host& each : places.hosts) names += (names.empty() ? "" : ",") + each.name;
    words.push_back("--nodelist=" + names);
  }
  words.push_back("--ntasks=" + std::to_string(places.ranks));
}

void hydraWords(Words& words, const RankPlaces& places) {
  if (!places.hosts.empty()) words.insert(words.end(), {"-hosts", hostList(places)});
  words.insert(words.end(), {"-n", std::to_string(places.ranks)});
}

}  // namespace

std::optional<RankLauncher> rankLauncherNamed(const Words& command) {
  const std::string name = command.empty() ? "" : std::filesystem::path(command[0]).filename().string();
  if (name == "srun") return RankLauncher::srun;
  if (name == "orterun" || name == "prterun" || name.ends_with(".openmpi")) return RankLauncher::openMpi;
  if (holds(name, "hydra") || holds(name, "mpich")) return RankLauncher::hydra;
  return {};
}

RankLauncher rankLauncherFrom(const std::string& version) {
  if (holds(version, "HYDRA") || holds(version, "Intel(R) MPI") || holds(version, "MPICH") || holds(version, "MVAPICH"))
    return RankLauncher::hydra;
  if (version.starts_with("slurm ")) return RankLauncher::srun;
  return RankLauncher::openMpi;
}

RankLauncher rankLauncherOf(const Words& command, Words before) {
  if (const auto named = rankLauncherNamed(command)) return *named;
  if (command.empty()) return RankLauncher::openMpi;
  before.insert(before.end(), {command[0], "--version"});
  return rankLauncherFrom(runCommand(before, {.limit = kVersionLimit}).output);
}

Words rankWords(RankLauncher launcher, const Words& command, const RankPlaces& places) {
  Words words = command;
  switch (launcher) {
    case RankLauncher::openMpi:
      openMpiWords(words, places);
      break;
    case RankLauncher::srun:
      srunWords(words, places);
      break;
    case RankLauncher::hydra:
      hydraWords(words, places);
      break;
  }
  return words;
}

Words exportWords(const Words& command, const std::string& variable) {
  const std::string name = command.empty() ? "" : std::filesystem::path(command[0]).filename().string();
  const bool launcher = rankLauncherNamed(command) || name.starts_with("mpirun") || name.starts_with("mpiexec");
  if (launcher && rankLauncherOf(command) == RankLauncher::openMpi) return {"-x", variable};
  return {};
}

}  // namespace loom
