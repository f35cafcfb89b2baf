#include "engine/agent/slurm.h"

#include <chrono>
#include <map>

#include "engine/agent/command.h"
#include "engine/base/error.h"

namespace loom {
namespace {

constexpr std::chrono::seconds kAskAgain{2};
constexpr std::chrono::seconds kLimit{20};  // a busy controller answers late

SlurmState askSlurm(const std::string& number) {
  const CommandResult result =
      runCommand({"squeue", "--noheader", "--states=all", "--jobs=" + number, "--format=%T|%r"}, {.limit = kLimit});
  if (result.ok()) {
    if (result.output.find('|') != std::string::npos) return slurmStateFrom(result.output);
    return {JobPhase::unknown, fmt::format("Slurm no longer knows job {}, and it left no word of its end", number)};
  }
  if (result.errors.find("Invalid job id") != std::string::npos)
    return {JobPhase::unknown, fmt::format("Slurm no longer knows job {}, and it left no word of its end", number)};
  return {JobPhase::unknown, "Slurm does not tell: " + result.why("squeue")};
}

}  // namespace

std::string slurmSubmit(const std::filesystem::path& script, const std::filesystem::path& folder) {
  const CommandResult result =
      runCommand({"sbatch", "--parsable", script.string()}, {.folder = folder.string(), .limit = kLimit});
  // "1234" or "1234;cluster"; warnings of plug-ins may stand before it.
  std::string number;
  std::size_t begin = 0;
  while (result.ok() && begin < result.output.size()) {
    const auto end = std::min(result.output.find('\n', begin), result.output.size());
    const std::string line = result.output.substr(begin, end - begin);
    const auto digits = line.find_first_not_of("0123456789");
    if (!line.empty() && digits != 0 && (digits == std::string::npos || line[digits] == ';'))
      number = line.substr(0, digits);
    begin = end + 1;
  }
  if (number.empty()) throwError(ErrorCode::badArgument, "Slurm did not take the job: {}", result.why("sbatch"));
  return number;
}

SlurmState slurmStateFrom(const std::string& line) {
  const std::string state = line.substr(0, line.find_first_of("|\n"));
  const auto bar = line.find('|');
  std::string reason = bar == std::string::npos ? "" : line.substr(bar + 1, line.find('\n') - bar - 1);
  if (reason == "None") reason.clear();
  for (const char* each : {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
    if (state == each)
      return {JobPhase::queued, reason.empty() ? "waiting in Slurm's queue" : "waiting in Slurm's queue: " + reason};
  for (const char* each : {"RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED"})
    if (state == each) return {JobPhase::running, state == "RUNNING" ? "" : "Slurm says " + state};
  for (const char* each : {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
                           "DEADLINE", "OUT_OF_MEMORY"})
    if (state == each) return {JobPhase::ended, "Slurm says " + state + (reason.empty() ? "" : " (" + reason + ")")};
  return {JobPhase::unknown, "Slurm says " + state};
}

SlurmState slurmState(const std::string& number) {
  struct Known {
    SlurmState state;
    std::chrono::steady_clock::time_point asked;
  };
  static std::map<std::string, Known> known;  // the agent has one thread
  const auto now = std::chrono::steady_clock::now();
  const auto found = known.find(number);
  if (found != known.end() && now - found->second.asked < kAskAgain) return found->second.state;
  const SlurmState state = askSlurm(number);
  known[number] = {state, std::chrono::steady_clock::now()};
  return state;
}

void slurmCancel(const std::string& number, SlurmEnd how) {
  std::vector<std::string> words{"scancel"};
  if (how == SlurmEnd::stop) words.insert(words.end(), {"--batch", "--signal=INT"});
  words.push_back(number);
  const CommandResult result = runCommand(words, {.limit = kLimit});
  if (!result.ok()) throwError(ErrorCode::communication, "Slurm did not end job {}: {}", number, result.why("scancel"));
}

}  // namespace loom
