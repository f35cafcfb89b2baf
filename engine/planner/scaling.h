#pragma once
// How a run scales with ranks before anybody rents them: step, rate, whole run and efficiency from 1 rank to thousands,
// each with the reduction that it would take. Computing is given, the exchange follows from the links. Pure; any
// thread.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/comm/reductions/reduction.h"
#include "engine/network/project.h"

namespace loom {

struct ScalingQuestion {
  double secondsPerSample = 0;      // of one rank, forward and backward, at the samples that it has
  double secondsPerStep = 0;        // of one rank whatever the samples: the update of the weights
  std::int64_t samplesPerRank = 1;  // they stay, so the batch grows with the ranks
  std::int64_t batch = 0;           // or this batch stays, and each rank has less of it; 0 = samplesPerRank counts
  int perHost = 0;                  // ranks of a host; 0 = all on one
  Links links;
  std::int64_t samples = 0;  // of an epoch; 0 = not known
  double epochs = 0;
  int most = 4096;           // ranks
  int also = 0;              // and at so many; 0 = at no others
  std::vector<Wire> wires;   // to choose from; empty: the project's
  bool anyReduction = true;  // the cheapest; else the project's
};

struct ScalingPoint {
  int ranks = 1;
  std::int64_t batch = 0;
  std::string reduction;  // empty: one rank
  Wire wire = Wire::f32;
  double compute = 0, exchange = 0, step = 0;  // seconds; of the exchange a part goes on behind computing
  double samplesPerSecond = 0;
  double efficiency = 1;  // of the rate that ranks would have who never wait
  std::int64_t steps = 0;
  double run = 0;  // seconds; 0 = the samples are not known
};

// 1, 2, 4, ... ranks: powers of two within a host, then whole hosts. Throws Error(badProject) for what cannot be
// planned.
std::vector<ScalingPoint> predictScaling(const Project& project, const ScalingQuestion& question);
// One number of ranks.
ScalingPoint predictScalingAt(const Project& project, const ScalingQuestion& question, int ranks);

// Numbers that travel together, by bucket: what the exchange of a step consists of.
std::vector<std::size_t> exchangedBuckets(const Project& project);
ScalingPoint scalingPoint(const Project& project, const ScalingQuestion& question,
                          const std::vector<std::size_t>& buckets, int ranks);

std::string toText(const std::vector<ScalingPoint>& points);
Json toJson(const std::vector<ScalingPoint>& points);

}  // namespace loom
