#include "engine/loom/job.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "engine/base/host.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

constexpr auto kFirstSpeaks = std::chrono::seconds(3);

// The supervisor asks for a stop in order by the run's control file. mpirun ends ranks by SIGTERM (and wakes stopped
// ones first), which must not look like one. A batch system sends it to every process of a job before it ends them by
// SIGKILL: in between a checkpoint is written.
void hearTheSupervisor() {
  const char* const supervised = std::getenv(kSupervisedVariable);
  if (!supervised) return;
  const bool batch = std::string_view(supervised) == kBatchSupervised;
  std::signal(SIGTERM, batch ? SIG_IGN : SIG_DFL);
  if (batch) std::signal(SIGINT, SIG_IGN);
}

}  // namespace

Job::Job() : m_launch(launchOfEnvironment()) {
  if (!m_launch.launched || m_launch.size == 1) {
    m_communicator = makeSelfCommunicator();
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a launcher that is killed leaves no rank behind
  hearTheSupervisor();
  m_communicator = openMpi(m_launch);
  m_heartbeat = std::make_unique<Heartbeat>(*m_communicator, hostName());
  // One of each host looks; where it leaves, the daemon around it takes the others along.
  if (m_launch.localRank == 0) m_lifeline = std::make_unique<LifelineWatch>(*m_communicator);
}

int Job::threads(int asked) const {
  if (asked > 0 || m_launch.localSize <= 1) return asked;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return asked;
  const int mine = CPU_COUNT(&mask), all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return mine < all ? 0 : std::max(1, all / m_launch.localSize);
}

void Job::fail(const Error& error) {
  if (ranks() == 1) return;
  if (m_heartbeat) m_heartbeat->failed(error.what());
  if (!first()) std::this_thread::sleep_for(kFirstSpeaks);
  std::fflush(stdout);
  fmt::print(stderr, "\nloom: rank {} on {}: {}: {}\n", m_communicator->rank(), hostName(), toString(error.code()),
             error.what());
  std::fflush(stderr);
  m_communicator->abort(exitCode(error.code()));
}

}  // namespace loom
