#pragma once
// One step's gradients and running statistics over all shards, those of other ranks included. Gradients add up in the
// store over a rank's shards and leave bucket by bucket during the last backward pass; virtual ranks over a 16-bit wire
// are rounded one by one; deterministic steps are added in a fixed tree. Running statistics of a step are the mean over
// its shards of what each makes of those before the step, weighted by samples: so they do not depend on which rank
// computed what. Programs give each shard's part of that mean as a gradient (averageStates()), which travels as the
// others do but is never rounded; the update puts it in its place. Devices that exchange by themselves sum gradients in
// f32 where every rank has samples in every step.
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/gradient_exchange.h"
#include "engine/program/backend.h"
#include "engine/training/parallel.h"
#include "engine/training/tree_sum.h"

namespace loom {

class StepExchange {
 public:
  struct Options {
    std::vector<std::vector<std::string>> buckets;  // by parameter name, as planBuckets() gives them
    bool hasStates = false;                         // the last bucket is that of averaged states
    std::int64_t smallestBatch = 1;                 // samples of the smallest step
  };
  StepExchange(const Parallel& parallel, const TrainSettings& settings, ParameterStore& store, const Options& options);

  Collectives* collectives() { return m_gradients.get(); }  // null on one rank

  // Computes and adds up a step: `compute(k, options)` runs shard k, in ascending order.
  using Compute = std::function<void(std::size_t k, StepOptions options)>;
  void run(const std::vector<Shard>& shards, std::int64_t batch, const Compute& compute);

 private:
  void runInStore(const std::vector<Shard>& shards, const Compute& compute);
  void runRounded(const std::vector<Shard>& shards, const Compute& compute);
  void runTree(const Compute& compute);
  const Parallel& m_parallel;
  Wire m_wire;
  // Gradients in the host's memory: the store's own where the machine is the host, else copies, which fetch() and
  // deliver() keep true.
  void fetch();
  void deliver();
  std::vector<StoredTensor*> m_stored;
  std::vector<std::vector<float>> m_copies;  // by tensor; empty on the host
  std::vector<std::span<float>> m_tensors;
  std::vector<Wire> m_wires;  // by tensor
  std::vector<float> m_sum;   // of gradients beside the store
  std::vector<std::uint16_t> m_words;
  std::unique_ptr<GradientExchange> m_gradients;
  std::unique_ptr<TreeSum> m_tree;
  std::int64_t m_batch = 0;
};

}  // namespace loom
