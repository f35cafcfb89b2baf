#pragma once
// One step's gradients and running statistics over all shards, those of other ranks included. Gradients add up in the
// store over a rank's shards and leave bucket by bucket during the last backward pass, or, where the chosen reduction
// must see each shard (16-bit wires with virtual ranks, the fixed tree), go to it one by one and leave behind the last.
// Running statistics of a step are the mean over its shards of what each makes of those before the step, weighted by
// samples: so they do not depend on which rank computed what. Programs give each shard's part of that mean as a
// gradient (averageStates()), which travels as the others do but is never rounded; the update puts it in its place.
// Where gradients are delayed, those of a step go round while the next is computed: they wait in a slot,
// and those of the step before stand in the store when run() returns.
// Devices that exchange by themselves sum gradients in f32 where every rank has samples in every step and nobody looks
// at a rank's own.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/gradient_exchange.h"
#include "engine/comm/reductions/scattered.h"
#include "engine/program/backend.h"
#include "engine/training/gradient_figures.h"
#include "engine/training/parallel.h"

namespace loom {

class StepExchange {
 public:
  struct Options {
    std::vector<std::vector<std::string>> buckets;  // by parameter name, as planBuckets() gives them
    bool hasStates = false;                         // the last bucket is that of averaged states
    std::int64_t smallestBatch = 1;                 // samples of the smallest step
    std::string delayedIn;                          // slot of what waits; empty: gradients are not delayed
    // By parameter, the rank that alone needs the sum of its gradient; empty: all need all.
    std::map<std::string, int> owners = {};
  };
  StepExchange(const Parallel& parallel, const TrainSettings& settings, ParameterStore& store, const Options& options);
  ~StepExchange();

  Collectives* collectives() { return m_gradients.get(); }  // null on one rank

  // How gradients are added, and for each bucket what it sends and the least time that it has taken so far; null where
  // nothing is exchanged by the host.
  Json describe() const;

  // Whether a rank ends with the sums of its own gradients alone, since that sends fewer bytes.
  bool scatters() const { return m_scatters; }

  // Computes and adds up a step: `compute(k, options)` runs shard k, in ascending order. Where it is to be measured,
  // the gradient's length over the first shard of each rank is known behind it, by all ranks alike; where the sum is
  // changed before anybody reads it, that of the whole step too.
  using Compute = std::function<void(std::size_t k, StepOptions options)>;
  enum class Measures { nothing, shardNorm, bothNorms };
  void run(const std::vector<Shard>& shards, std::int64_t batch, const Compute& compute,
           Measures measures = Measures::nothing);
  // Of the last step: a mean over ranks. None where there was nothing smaller than the step, or none was wanted. Where
  // gradients are delayed it is that of the gradients that were computed in it, not of those that it leaves.
  const std::optional<GradientNorm>& shardNorm() const { return m_norm; }
  const std::optional<GradientNorm>& wholeNorm() const { return m_whole; }
  // Seconds that the thread which computes has waited for the exchange so far; none where nothing goes through the
  // host.
  std::optional<double> waited() const;
  // What is under way is done: the slots hold sums. Also before the end, by all ranks. Throws what the exchange met.
  void settle();

 private:
  void wait();
  double squaresOfGradients();
  void measure(const Shard& shard);
  void shareNorm();
  void runDelayed(const std::vector<Shard>& shards, const Compute& compute);
  void takeTurns();
  void addFromStore();
  void runInStore(const std::vector<Shard>& shards, const Compute& compute);
  void runShards(const std::vector<Shard>& shards, const Compute& compute);
  // Gradients that travel together: tensors [first, last) of m_tensors, numbers from `begin` on of m_sum.
  struct Part {
    std::size_t first = 0, last = 0, begin = 0, floats = 0;
    Wire wire = Wire::f32;
    std::string label;
    bool ofStates = false;
    std::optional<OwnedParts> owned = {};  // where ranks need their own alone
    std::shared_ptr<Reduction> reduction;
  };
  void addPart(Part part, const std::vector<std::string>& names, ParameterStore& store, const std::string& delayedIn);
  void makeReductions();
  void join(std::size_t count);
  void scatter(const std::map<std::string, int>& owners);
  ReductionCost costOf(const Part& part, const ReductionDefinition& row) const;
  const ReductionDefinition& rowOf(Wire wire) const;
  ReductionShape shapeOf(Wire wire, std::size_t floats) const;
  GradientExchange::Bucket bucketOf(const Part& part);
  // Gradients in the host's memory: the store's own where the machine is the host, else copies, which fetch() and
  // deliver() keep true.
  void fetch(std::size_t first, std::size_t last);
  void deliver(std::size_t first, std::size_t last);

  const Parallel& m_parallel;
  Wire m_wire;
  ReductionChoice m_choice;
  // Delayed: by tensor, the store's gradient and what waits for the next step.
  std::vector<std::pair<StoredTensor*, StoredTensor*>> m_turns;
  std::unique_ptr<Communicator> m_own;  // what is under way while others talk has ranks of its own
  bool m_underWay = false;
  int m_perHost = 0;  // ranks of a host, as ReductionShape has it
  bool m_scatters = false;
  std::vector<std::string> m_names;  // by tensor
  std::vector<StoredTensor*> m_stored;
  std::vector<std::vector<float>> m_copies;  // by tensor; empty on the host
  std::vector<std::span<float>> m_tensors;
  std::vector<Part> m_parts;
  bool m_addsShards = false;
  std::vector<float> m_sum;  // of a rank's shards, beside the store
  std::unique_ptr<GradientExchange> m_gradients;
  std::int64_t m_batch = 0;
  std::size_t m_gradientTensors = 0;  // of m_tensors; behind them stand averaged states
  bool m_measures = false;            // in this step
  std::optional<GradientNorm> m_norm, m_whole;
  double m_waited = 0;
};

}  // namespace loom
