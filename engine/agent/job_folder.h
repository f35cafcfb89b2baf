#pragma once
// A job is a run folder with three files more, so that it outlives every connection and whoever started it:
//   launch.json   how it is started: {"id", "start", "resume", "overrides", "ranks", "hosts": [{"name", "ranks"}],
//                 "mpirun": [words], "prefix": [words], "modules": [lines], "stalled_after": s,
//                 "slurm": {"continue": n}}; "start" counts the starts of this run, chosen by the client: the same
//                 start asked for twice is started once
//   process.json  who runs it: {"start", "process", "started", "boot", "machine"} or {"start", "slurm": "1234"}
//   exit          how it ended: a number as a shell gives it (128 + signal); gone while it runs
// The supervisor (supervisor.h) writes the last two.
#include <filesystem>
#include <optional>
#include <string>

#include "engine/base/json_fwd.h"
#include "engine/run/run_folder.h"

namespace loom {

enum class JobPhase { none, queued, running, ended, unknown };
const char* toKey(JobPhase phase);

struct JobState {
  JobPhase phase = JobPhase::none;
  int start = 0;
  int code = -1;       // of an ended job; -1 = nobody noted it
  std::string slurm;   // its number there
  std::string detail;  // one sentence: why it waits, why its state is not known
};
Json toJson(const JobState& state);

class JobFolder {
 public:
  explicit JobFolder(std::filesystem::path path) : m_run{std::move(path)} {}

  const RunFolder& run() const { return m_run; }
  const std::filesystem::path& path() const { return m_run.path; }
  std::filesystem::path projectFile() const { return path() / "project.loom"; }
  std::filesystem::path launchFile() const { return path() / "launch.json"; }
  std::filesystem::path processFile() const { return path() / "process.json"; }
  std::filesystem::path exitFile() const { return path() / "exit"; }
  std::filesystem::path scriptFile() const { return path() / "job.sh"; }
  std::filesystem::path hostsFile() const { return path() / "hosts"; }  // for mpirun, where launch.json names some

  // Empty objects where there is none or it cannot be read. Never throw.
  Json launch() const;
  Json process() const;
  std::optional<int> exitCode() const;

  void writeLaunch(const Json& launch) const;
  void noteProcess(int start) const;  // this process
  void noteSlurm(int start, const std::string& number) const;
  void noteExit(int code) const;
  void forgetExit() const;

  // Asks the system, or Slurm where it runs there.
  JobState state() const;

 private:
  RunFolder m_run;
};

// Letters, digits, '.', '_', '-', at most 120, beginning with a letter or a digit: safe as a file name and as a word
// anywhere.
bool isJobId(const std::string& id);
// The same and '/', '~', '+', '@', '%', '=', ',': what a folder on a host may be called, since a job script and a
// remote shell name it.
bool isPlainPath(const std::string& path);

}  // namespace loom
