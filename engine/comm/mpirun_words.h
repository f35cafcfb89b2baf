#pragma once
// What mpirun says when a job goes wrong, in the words of every release of Open MPI that is known (4.1, and 5, whose
// mpirun is prterun and breaks its sentences into lines), and what Slurm's srun says.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

class MpirunWords {
 public:
  struct Killed {
    int rank = 0;
    long process = 0;  // 0 where it did not know
    std::string host;  // as mpirun was told
    int signal = 0;
  };

  struct Missing {
    std::string host, program;
  };

  // A line of the job's standard error that is no rank's sign of life.
  void hear(std::string_view line);

  const std::optional<Killed>& killed() const { return m_killed; }  // by a signal; the first that it told
  const std::string& lostHost() const { return m_lostHost; }        // empty: none
  const std::optional<int>& exited() const { return m_exited; }     // the rank that ended with a code of its own
  // Ranks to which a connection was closed: another's process had ended, and Open MPI 5 lets the first that notices end
  // the job.
  const std::set<int>& severed() const { return m_severed; }
  const std::optional<Missing>& missing() const { return m_missing; }  // a host has no such program
  const std::string& unstarted() const { return m_unstarted; }         // "mpirun cannot be started: ..."; empty: it was

 private:
  std::vector<std::string> m_recent;  // a sentence may go over some lines
  std::optional<Killed> m_killed;
  std::string m_lostHost;
  std::optional<int> m_exited;
  std::set<int> m_severed;
  std::optional<Missing> m_missing;
  std::string m_unstarted;
};

}  // namespace loom
