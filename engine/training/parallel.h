#pragma once
// How a step is spread over ranks. The unit is a logical rank: its samples are [B·l/L, B·(l+1)/L) of the step's batch
// B, whatever the number of processes; real ranks take logical ranks in order. L is the number of processes, or more
// with virtual ranks, or the number of shards in deterministic mode. A logical rank computes its samples in passes
// (accumulation). A shard is what is computed at once.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/passes/passes.h"
#include "engine/training/settings.h"

namespace loom {

class StreamRanks;
class Trace;

// By all ranks together: the same ranks for the streams of their devices (StreamRanks). Null, or answering null on all
// of them: what ranks exchange goes through the host.
using ConnectStreams = std::function<std::shared_ptr<StreamRanks>(Communicator&)>;

struct Shard {
  int logical = 0;                     // rank that it belongs to
  std::int64_t first = 0, count = 0;   // in the step's batch
  bool opens = false, closes = false;  // the first, the last of its logical rank
};

struct Parallel {
  Communicator& communicator;
  int logical = 1;  // ranks whose arithmetic it is: at least communicator.size()
  bool deterministic = false;
  std::int64_t passes = 1;
  Trace* trace = nullptr;
  ConnectStreams connect = nullptr;
  // What `connect` answers, asked once for all who want it, by all ranks together; null where it is, or on one rank.
  const std::shared_ptr<StreamRanks>& streams() const;

  // Throws Error(badProject) for settings that cannot be with so many ranks.
  Parallel(Communicator& communicator, const TrainSettings& settings, Trace* trace);

  int ranks() const { return communicator.size(); }
  bool alone() const { return ranks() == 1 && logical == 1; }
  // Logical ranks [first, last) of a rank.
  int firstLogical(int rank) const { return static_cast<int>(static_cast<std::int64_t>(logical) * rank / ranks()); }
  std::int64_t firstRow(std::int64_t batch, int logicalRank) const { return batch * logicalRank / logical; }
  // The most samples that are computed at once where a full batch has `batch`.
  std::int64_t shardSize(std::int64_t batch) const;
  // This rank's shards of a batch of `size` samples, where a full one has `batch`; `to` is overwritten.
  void shards(std::int64_t size, std::int64_t batch, std::vector<Shard>& to) const;
  // All ranks' shards in such a batch.
  std::int64_t shardsOfAll(std::int64_t size, std::int64_t batch) const;
  // Whether every rank's shards of a batch of `size` samples are of the same sizes.
  bool alike(std::int64_t size) const { return size % logical == 0 && logical % ranks() == 0; }

 private:
  mutable std::optional<std::shared_ptr<StreamRanks>> m_streams;
  template <class Visit>
  void visit(std::int64_t size, std::int64_t batch, int firstRank, int lastRank, const Visit& visit) const;
};

}  // namespace loom
