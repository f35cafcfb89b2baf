#pragma once
// What ranks tell each other beside gradients: loss and metrics of each shard, words of who steers, and texts that all
// must know.
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/program/program.h"
#include "engine/training/means.h"
#include "engine/training/rank_times.h"

namespace loom {

// The figures that Figures reads of this program, without running it.
struct MetricPlace {
  std::string name;
  const ResultSums* rule = nullptr;  // null: a mean over samples
  std::size_t sums = 0;              // how many
};
std::vector<MetricPlace> metricsOf(const Program& program);

// What each rank says with a step's measures.
struct Signals {
  bool stop = false;          // a signal asked this process to stop
  bool commands = false;      // this rank holds commands that all must obey
  bool write = false;         // this rank wants to write a checkpoint, for which all steps that are under way must end
  std::uint64_t weights = 0;  // checksum of this rank's; 0 = not compared in this step
  RankStep time = {};         // this rank's
};

struct Gathered {
  // Of all ranks, in their order: the same on every rank. Metrics that are no means stand with the first part that has
  // samples, their sums added rank by rank: they are told once a rank, however many parts it has.
  std::vector<Measured> parts;
  bool stop = false;  // some rank's signal
  bool commands = false;
  bool write = false;
  std::vector<int> apart;       // ranks whose weights are not those of rank 0
  std::vector<RankStep> times;  // by rank
};

// `mine`: at most `most` parts, the same limit on every rank. Blocks until every rank has called it.
Gathered gatherMeasured(Communicator& communicator, const std::vector<MetricPlace>& metrics,
                        const std::vector<Measured>& mine, std::size_t most, const Signals& signals);

// The first text that is not empty, in the order of ranks; empty when all are.
std::string firstText(Communicator& communicator, const std::string& text);

}  // namespace loom
