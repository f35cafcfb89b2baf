#pragma once
// Processes that outlive whoever started them. A number alone is reused by the system; number, start time and boot
// together name one process for good.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom {

struct ProcessStat {
  std::int64_t parent = 0;
  std::int64_t group = 0;
  std::int64_t start = 0;  // clock ticks since boot
  char state = '?';        // as in /proc/PID/stat; 'Z' = ended, not yet collected
};
// Nothing when there is no such process.
std::optional<ProcessStat> processStat(std::int64_t process);

// Its children, theirs, and so on, as of this instant; those that ended and were not collected are left out.
std::vector<std::int64_t> descendantsOf(std::int64_t process);

// Whether a process of this group, begun no earlier than `start`, is there: its leader may be gone.
bool groupLives(std::int64_t group, std::int64_t start);

// One text a boot of this machine; empty where the system does not tell.
std::string bootId();
// Name of this machine as the system has it.
std::string machineName();

struct ProcessName {
  std::int64_t id = 0;
  std::int64_t start = 0;
  std::string boot;
  std::string machine;
};
ProcessName nameOf(std::int64_t process);
// Whether this very process runs on this machine.
bool isAlive(const ProcessName& process);

// The program that is running now, for starting it again: GRADLOOM_PROGRAM (the bundle's own starter says so, as its
// program runs under a loader of its own) or this process's file.
std::string ownProgram();

}  // namespace loom
