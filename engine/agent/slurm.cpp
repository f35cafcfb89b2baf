#include "engine/agent/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <thread>

#include "engine/agent/command.h"
#include "engine/agent/wall_clock.h"
#include "engine/base/error.h"

namespace loom {
namespace {

constexpr int kLooks = 3;

using Words = std::vector<std::string>;

std::string person() {
  return std::to_string(::geteuid());
}

std::string plainNumber(const std::string& number) {
  return number.substr(0, number.find(';'));
}
std::string clusterOf(const std::string& number) {
  const auto semicolon = number.find(';');
  return semicolon == std::string::npos ? std::string() : number.substr(semicolon + 1);
}
Words onCluster(Words words, const std::string& cluster) {
  if (!cluster.empty()) words.push_back("--clusters=" + cluster);
  return words;
}

// The fields of each line that has them; other lines (a cluster's heading, a warning) are passed over.
std::vector<Words> rowsOf(const std::string& output, std::size_t fields) {
  std::vector<Words> rows;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    Words row;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) row.push_back(part);
    if (line.ends_with('|')) row.emplace_back();
    if (row.size() >= fields) rows.push_back(std::move(row));
  }
  return rows;
}

// "3:0" is code and signal.
int codeFrom(const std::string& text) {
  int code = -1, signal = 0;
  const auto colon = text.find(':');
  if (colon == std::string::npos) return -1;
  std::from_chars(text.data(), text.data() + colon, code);
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), signal);
  return signal > 0 ? 128 + signal : code;
}

std::string fieldOf(const std::string& text, const std::string& key) {
  const auto at = text.find(key + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + key.size() + 1;
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

bool saysInvalid(const CommandResult& result) {
  return result.errors.find("Invalid job id") != std::string::npos ||
         result.errors.find("already completing or completed") != std::string::npos;
}

// "Submitted batch job 7 on cluster atlas", as a wrapper that leaves --parsable out says it: "7;atlas". Other lines as
// they are.
std::string plainAnswer(const std::string& line) {
  constexpr std::string_view kSubmitted = "Submitted batch job ";
  const auto at = line.find(kSubmitted);
  if (at == std::string::npos) return line;
  std::istringstream words(line.substr(at + kSubmitted.size()));
  std::string number, on, cluster, name;
  words >> number >> on >> cluster >> name;
  return on == "on" && cluster == "cluster" && !name.empty() ? number + ";" + name : number;
}

// What became of a job, for a person.
std::string endOf(const std::string& state) {
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"CANCELLED", "Slurm cancelled its job"},
      {"TIMEOUT", "Slurm ended its job at the time limit"},
      {"DEADLINE", "Slurm ended its job at its deadline"},
      {"PREEMPTED", "Slurm ended its job for one that goes before it (preempted)"},
      {"NODE_FAIL", "a node of its job failed, says Slurm"},
      {"BOOT_FAIL", "a node of its job could not start, says Slurm"},
      {"OUT_OF_MEMORY", "its job took more memory than Slurm had granted"},
  };
  for (const auto& [name, words] : kEnds)
    if (name == state) return std::string(words);
  return "Slurm says " + state;
}

// A job that is held waits for somebody's word, not for its turn. "launch failed requeued held", in other versions with
// underscores, is Slurm's own doing; "JobHeldUser", "JobHeldAdmin" and "JobHoldMaxRequeue" are somebody's wish.
BatchState waiting(const std::string& state, const std::string& reason) {
  const auto says = [&reason](const char* word) { return reason.find(word) != std::string::npos; };
  const bool held =
      says("held") || says("Held") || says("JobHold") || state == "REQUEUE_HOLD" || state == "RESV_DEL_HOLD";
  BatchState waits{.phase = JobPhase::queued, .detail = "waiting in Slurm's queue"};
  if (held)
    waits.detail =
        fmt::format("Slurm holds it ({}): release it there (scontrol release), or stop the run and resume it",
                    reason.empty() ? state : reason);
  else if (!reason.empty())
    waits.detail += ": " + reason;
  waits.notStarted = held && (says("launch failed") || says("launch_failed"));
  return waits;
}

}  // namespace

std::string slurmNumberFrom(const std::string& output) {
  // What a cluster may be called: the name becomes a word of later commands.
  constexpr const char* kClusterLetters = ";ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  std::string number;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    line = plainAnswer(line);
    const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits == 0 || (digits < line.size() && line[digits] != ';')) continue;
    if (line.find_first_not_of(kClusterLetters, digits) == std::string::npos) number = line;
  }
  return number;
}

BatchState slurmStateFrom(std::string state, std::string reason) {
  state = state.substr(0, state.find_first_of(" +\n"));  // "CANCELLED by 1000", "CANCELLED+"
  if (reason == "None") reason.clear();
  const auto is = [&state](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&state](const char* each) { return state == each; });
  };
  if (is({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT",
          "POWER_UP_NODE"}))
    return waiting(state, reason);
  if (is({"RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED", "UPDATE_DB"}))
    return {.phase = JobPhase::running, .detail = state == "RUNNING" ? "" : "Slurm says " + state};
  // REVOKED: a sister of it runs on another cluster of the federation, and this one never will.
  if (is({"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
          "OUT_OF_MEMORY", "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"}))
    return {.phase = JobPhase::ended, .detail = endOf(state) + (reason.empty() ? "" : " (" + reason + ")")};
  return {.detail = "Slurm says " + state};
}

std::string Slurm::submit(const Submission& job) const {
  const CommandResult result = runCommand({"sbatch", "--parsable", "--job-name=" + job.name, job.script.string()},
                                          {.folder = job.folder.string(), .limit = m_limits.submit});
  if (const std::string number = result.ok() ? slurmNumberFrom(result.output) : ""; !number.empty()) return number;
  const auto says = [&result](const char* words) { return result.errors.find(words) != std::string::npos; };
  if (result.timedOut || result.ok() || says("timed out")) {
    // The controller may have taken it all the same, now or in a moment; or a wrapper says so in words of its own.
    for (int look = 0; look < kLooks; ++look) {
      if (look > 0) std::this_thread::sleep_for(m_limits.lookAgain);
      try {
        if (const std::string number = findByName(job.name, job.previous); !number.empty()) return number;
      } catch (const Error&) {
      }
    }
    throwError(ErrorCode::communication,
               "Slurm did not answer with a job's number ({}), and whether it took the job is not known yet: it is "
               "looked for by its name "
               "before it is submitted again",
               result.why("sbatch"));
  }
  if (says("Unable to contact slurm controller"))
    throwError(ErrorCode::communication, "Slurm cannot be reached: {}", result.why("sbatch"));
  throwError(ErrorCode::badArgument, "Slurm did not take the job: {}", result.why("sbatch"));
}

std::map<std::string, BatchState> Slurm::query(const std::vector<std::string>& numbers) const {
  const double asked = wallClock();
  std::map<std::string, std::vector<std::string>> clusters;
  for (const std::string& each : numbers) clusters[clusterOf(each)].push_back(each);
  std::map<std::string, BatchState> states;
  for (const auto& [cluster, theirs] : clusters) queryCluster(cluster, theirs, states);
  for (auto& [number, state] : states) state.asked = asked;
  return states;
}

// All jobs of this person at once; for what the queue no longer holds the accounting, where there is one, and in the
// end the controller's own memory.
void Slurm::queryCluster(const std::string& cluster, const std::vector<std::string>& numbers,
                         std::map<std::string, BatchState>& states) const {
  const CommandOptions options{.limit = m_limits.answer, .mostOutput = std::size_t{16} << 20};
  const CommandResult queue = runCommand(
      onCluster({"squeue", "--noheader", "--states=all", "--user=" + person(), "--format=%i|%T|%r"}, cluster), options);
  if (!queue.ok()) {
    for (const std::string& each : numbers) states[each] = {.detail = "Slurm does not tell: " + queue.why("squeue")};
    return;
  }
  std::map<std::string, BatchState> listed;
  for (const Words& row : rowsOf(queue.output, 3)) listed[row[0]] = slurmStateFrom(row[1], row[2]);
  std::map<std::string, std::string> missing;  // plain number, number
  for (const std::string& each : numbers) {
    const auto found = listed.find(plainNumber(each));
    if (found != listed.end())
      states[each] = found->second;
    else
      missing[plainNumber(each)] = each;
  }
  if (missing.empty()) return;
  std::string list;
  for (const auto& [plain, number] : missing) list += (list.empty() ? "" : ",") + plain;
  const CommandResult accounting = runCommand(onCluster({"sacct", "--noheader", "--parsable2", "--allocations",
                                                         "--format=JobID,State,ExitCode", "--jobs=" + list},
                                                        cluster),
                                              options);
  if (accounting.ok())
    for (const Words& row : rowsOf(accounting.output, 3)) {
      const auto found = missing.find(row[0]);
      BatchState state = slurmStateFrom(row[1], {});
      if (found == missing.end() || state.phase != JobPhase::ended) continue;  // the queue knows better what still runs
      state.code = codeFrom(row[2]);
      states[found->second] = state;
      missing.erase(found);
    }
  for (const auto& [plain, number] : missing) {
    const CommandResult memory =
        runCommand(onCluster({"scontrol", "show", "job", plain, "--oneliner"}, cluster), options);
    if (memory.ok() && !fieldOf(memory.output, "JobState").empty()) {
      states[number] = slurmStateFrom(fieldOf(memory.output, "JobState"), fieldOf(memory.output, "Reason"));
      states[number].code = codeFrom(fieldOf(memory.output, "ExitCode"));
    } else if (saysInvalid(memory)) {
      states[number] = {.detail = fmt::format("Slurm no longer knows job {}, and it left no word of its end", number),
                        .forgotten = true};
    } else {
      states[number] = {.detail = "Slurm does not tell: " + memory.why("scontrol")};
    }
  }
}

void Slurm::cancel(const std::string& number, BatchEnd how) const {
  Words words = onCluster({"scancel"}, clusterOf(number));
  if (how == BatchEnd::stop) words.insert(words.end(), {"--batch", "--signal=INT"});
  words.push_back(plainNumber(number));
  const CommandResult result = runCommand(words, {.limit = m_limits.answer});
  if (!result.ok() && !saysInvalid(result))
    throwError(ErrorCode::communication, "Slurm did not end job {}: {}", number, result.why("scancel"));
}

void Slurm::release(const std::string& number) const {
  Words words = onCluster({"scontrol"}, clusterOf(number));
  words.insert(words.end(), {"release", plainNumber(number)});
  const CommandResult result = runCommand(words, {.limit = m_limits.answer});
  if (!result.ok())
    throwError(ErrorCode::communication, "Slurm did not release job {}: {}", number, result.why("scontrol"));
}

std::string Slurm::findByName(const std::string& name, const std::string& previous) const {
  const std::string cluster = clusterOf(previous);
  const CommandResult result = runCommand(
      onCluster({"squeue", "--noheader", "--states=all", "--user=" + person(), "--name=" + name, "--format=%i|%T|%r"},
                cluster),
      {.limit = m_limits.answer});
  if (!result.ok())
    throwError(ErrorCode::communication, "Slurm does not tell whether it has the job {}: {}", name,
               result.why("squeue"));
  long newest = 0;
  for (const Words& row : rowsOf(result.output, 3)) {
    if (row[0] == plainNumber(previous) || slurmStateFrom(row[1], row[2]).phase == JobPhase::ended) continue;
    newest = std::max(newest, std::strtol(row[0].c_str(), nullptr, 10));
  }
  if (newest == 0) return {};
  return std::to_string(newest) + (cluster.empty() ? "" : ";" + cluster);
}

std::optional<OwnBatch> Slurm::self() const {
  const char* const number = std::getenv("SLURM_JOB_ID");
  if (!number || !*number) return {};
  const char* const restarts = std::getenv("SLURM_RESTART_COUNT");
  return OwnBatch{number, restarts ? std::atoi(restarts) : 0};
}

}  // namespace loom
