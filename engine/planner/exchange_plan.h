#pragma once
// What ranks exchange in a step, counted before it runs: the buckets in which gradients travel, and what the chosen
// reduction sends for each. Times are predicted from the links that are given.
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/comm/reductions/reduction.h"
#include "engine/network/project.h"

namespace loom {

struct ExchangePlan {
  struct Bucket {
    std::string label;  // of its first tensor
    std::size_t tensors = 0, floats = 0;
    std::string reduction;  // the row that it takes
    ReductionCost cost;
    double seconds = 0;  // with links alone
    // Whose gradients complete it, by layer; empty: it leaves behind the whole backward part.
    std::vector<std::string> layers = {};
    bool behindUpdate = false;  // it leaves when the weights have been stepped
  };
  std::string network, reduction;
  int ranks = 1;
  Wire wire = Wire::f32;
  std::vector<ReductionPhase> phases;  // of the largest bucket
  std::vector<Bucket> buckets;
  double stateShare = 1;  // of the optimizer's state, what the rank with most of it keeps
  int times = 1;          // that a step exchanges them
  bool delayed = false;   // what a step exchanges is waited for in the next one alone
  ReductionCost cost;     // of all buckets, of a step
  std::optional<double> seconds;
};

struct ExchangeQuestion {
  int ranks = 1;
  int perHost = 0;             // as ReductionShape has it
  std::optional<Links> links;  // null: no times are told
};

// Of each update. Throws Error(badProject), with the remedy, for a reduction that cannot be on so many ranks, and for
// what planTraining() cannot plan.
std::vector<ExchangePlan> planExchange(const Project& project, const ExchangeQuestion& question);

Json toJson(const std::vector<ExchangePlan>& plans);
std::string toText(const std::vector<ExchangePlan>& plans);

}  // namespace loom
