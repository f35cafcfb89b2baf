#pragma once
// A job is a run folder with three files more, so that it outlives every connection and whoever started it:
//   launch.json   how it is started: {"id", "start", "resume", "overrides", "ranks", "hosts": [{"name", "ranks"}],
//                 "mpirun": [words], "prefix": [words], "modules": [lines], "stalled_after": s,
//                 "libraries": folder that is searched for libraries before the loader's own,
//                 "data": ["training=/there/1f.pack"] where a run that ran elsewhere finds its data here,
//                 "slurm": {"continue": n}}; "start" counts the starts of this run, chosen by the client: the same
//                 start asked for twice is started once
//   process.json  who runs it: {"start", "process", "started", "boot", "machine"} or {"start", "slurm": "1234",
//                 "submitted_on": machine, "submitted": time, "begun": time of the supervisor's first word}. A start
//                 counts once it stands here: one that only launch.json knows was never begun, or the answer to it
//                 was lost
//   exit          how it ended: a number as a shell gives it (128 + signal); gone while it runs. "143 terminated": by a
//                 signal that nobody here sent, so that the batch system may start it anew
//   kill          number of the start that a person ended at once
//   released      start, how often it was released there after its batch system had held it (held_jobs.h), and when
// The supervisor (supervisor.h) writes process.json and exit.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/json_fwd.h"
#include "engine/run/run_folder.h"

namespace loom {

class Scheduler;
struct BatchState;

enum class JobPhase { none, queued, running, ended, unknown };
const char* toKey(JobPhase phase);

struct JobState {
  JobPhase phase = JobPhase::none;
  int start = 0;
  int code = -1;  // of an ended job; -1 = nobody noted it
  const Scheduler* scheduler = nullptr;
  std::string number;  // its number there
  std::string detail;  // one sentence: why it waits, why its state is not known
  bool lost = false;   // of an unknown one: no machine can tell any more, a person must say that it has ended
};
// {"phase", "start", "code", "slurm": number, "detail", "lost": true}; what does not apply is left out.
Json toJson(const JobState& state);

// Asks the batch system how a job goes. An answer from before `since` (seconds since 1970) is too old to rely on.
using BatchLook = std::function<BatchState(const Scheduler&, const std::string& number, double since)>;

class JobFolder {
 public:
  explicit JobFolder(std::filesystem::path path) : m_run{std::move(path)} {}

  const RunFolder& run() const { return m_run; }
  const std::filesystem::path& path() const { return m_run.path; }
  std::filesystem::path projectFile() const { return path() / "project.loom"; }
  std::filesystem::path launchFile() const { return path() / "launch.json"; }
  std::filesystem::path processFile() const { return path() / "process.json"; }
  std::filesystem::path exitFile() const { return path() / "exit"; }
  std::filesystem::path killFile() const { return path() / "kill"; }
  std::filesystem::path releasedFile() const { return path() / "released"; }
  std::filesystem::path scriptFile() const { return path() / "job.sh"; }
  std::filesystem::path modulesFile() const { return path() / "modules.sh"; }
  std::filesystem::path lifelineFile() const {
    return path() / "lifeline";
  }  // while it is watched over: comm/lifeline.h
  std::filesystem::path supervisorLock() const { return path() / "supervisor.lock"; }
  std::filesystem::path hostsFile() const { return path() / "hosts"; }  // for mpirun, where launch.json names some

  // Empty objects where there is none or it cannot be read. Never throw.
  Json launch() const;
  Json process() const;
  struct Exit {
    int code = -1;
    bool terminated = false;
  };
  std::optional<Exit> exit() const;
  int launchStart() const;  // of launch.json; 0 = none
  int notedStart() const;   // of process.json

  void writeLaunch(const Json& launch) const;
  void noteProcess(int start) const;  // this process
  void noteSubmitted(int start, const Scheduler& scheduler, const std::string& number) const;
  void noteBegun(int start, const Scheduler& scheduler, const std::string& number) const;  // by its supervisor
  void noteExit(const Exit& exit) const;
  void forgetExit() const;
  void noteKill(int start) const;
  bool killed(int start) const;
  struct Releases {
    int times = 0;
    double at = 0;  // the last one, seconds since 1970
  };
  Releases releases(int start) const;
  void noteReleases(int start, const Releases& releases) const;
  bool supervised() const;  // whether a supervisor holds its lock now

  // Asks the system, or by `look` the batch system where it runs there; without one its answer is waited for.
  JobState state() const;
  JobState state(const BatchLook& look) const;

 private:
  RunFolder m_run;
};

// One process at a time decides whether a job is to be started; waits for its turn.
class StartLock {
 public:
  explicit StartLock(const JobFolder& job);
  ~StartLock();
  StartLock(const StartLock&) = delete;
  StartLock& operator=(const StartLock&) = delete;

 private:
  int m_file;
};

// Letters, digits, '.', '_', '-', at most 120, beginning with a letter, a digit or '_': safe as a file name and as a
// word anywhere.
bool isJobId(const std::string& id);
// The same and '/', '~', '+', '@', '%', '=', ',': what a folder on a host may be called, since a job script and a
// remote shell name it.
bool isPlainPath(const std::string& path);

}  // namespace loom
