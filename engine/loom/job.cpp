#include "engine/loom/job.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/base/host.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

constexpr auto kFirstSpeaks = std::chrono::seconds(3);

}  // namespace

Job::Job() : m_launch(launchOfEnvironment()) {
  if (!m_launch.launched || m_launch.size == 1) {
    m_communicator = makeSelfCommunicator();
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a launcher that is killed leaves no rank behind
  // mpirun ends ranks by this signal (and wakes stopped ones first), which must not look like a stop in order: the
  // supervisor asks for that in the run's control file.
  if (std::getenv(kSupervisedVariable)) std::signal(SIGTERM, SIG_DFL);
  m_communicator = openMpi(m_launch);
  m_heartbeat = std::make_unique<Heartbeat>(*m_communicator, hostName());
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
