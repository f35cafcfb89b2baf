#pragma once
// Sums over ranks that share a host go through memory that they share, and only one sum a host leaves it: every rank
// sums its share of the numbers over the host's ranks, exchanges it with the ranks of other hosts that sum the same
// share, and all read the shares of each other (a reduce-scatter, an all-reduce across and an all-gather: the
// two-dimensional torus of Mikami et al., arXiv 1811.05233, with the host as a row). Who waits sleeps on a futex.
#include <memory>
#include <span>
#include <string>

#include "engine/comm/communicator.h"

namespace loom {

// Ranks of one machine have one; network namespaces with names of their own count as machines.
std::string machineOfRank();

class HostReduction {
 public:
  // By all ranks together. Null where hosts have a single rank each or different numbers of them, or where some rank
  // cannot map the memory: the library's collective is then used.
  static std::unique_ptr<HostReduction> make(Communicator& all);
  ~HostReduction();

  // Sums `data` over all ranks, in place; the same bits on every rank. By one thread at a time.
  void run(std::span<float> data);

 private:
  struct Shared;
  HostReduction(std::unique_ptr<Communicator> host, std::unique_ptr<Communicator> across, Shared* shared,
                std::size_t bytes);
  void runChunk(std::span<float> data);
  void meet();
  float* input(int rank) const;

  std::unique_ptr<Communicator> m_host, m_across;  // the second is null on one host
  Shared* m_shared;
  std::size_t m_bytes;
  int m_rank, m_ranks;  // on this host
};

}  // namespace loom
