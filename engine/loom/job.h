#pragma once
// This process as one of the ranks that a launcher started, or by itself.
#include <memory>
#include <string>

#include "engine/base/error.h"
#include "engine/comm/heartbeat.h"
#include "engine/comm/lifeline.h"
#include "engine/comm/open_mpi.h"

namespace loom {

class Job {
 public:
  Job();  // throws Error(communication) where a launcher started several ranks that cannot talk to each other

  Communicator& communicator() { return *m_communicator; }
  int ranks() const { return m_communicator->size(); }
  bool first() const { return m_communicator->rank() == 0; }
  // `asked`, or for 0 this rank's share of the processors where the launcher bound it to none.
  int threads(int asked) const;
  // Says why and ends the job on every rank, this process too. Does nothing in a job of one. Ranks behind the first
  // leave it some time to say the same.
  void fail(const Error& error);

 private:
  Launch m_launch;
  std::unique_ptr<Communicator> m_communicator;
  std::unique_ptr<Heartbeat> m_heartbeat;
  std::unique_ptr<LifelineWatch> m_lifeline;
};

}  // namespace loom
