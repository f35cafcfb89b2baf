#pragma once
// Loss and metrics as means over samples: of the shards of a step, of the steps of an epoch, of the batches of a
// dataset. Each part counts by its number of samples, so a smaller last batch weighs what it holds.
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json.h"

namespace loom {

// Losses and metrics by name, in the order of the program.
struct Measured {
  double loss = 0;  // sum of all results of kind "loss"
  std::vector<std::pair<std::string, double>> metrics;
  double samples = 0;  // that it is a mean over
};

Json metricsJson(const Measured& measured);

class Means {
 public:
  void add(const Measured& part);
  Measured value() const;  // NaN where nothing was added
  bool empty() const { return m_samples == 0; }
  void clear() { *this = {}; }
  // The exact sums, for a checkpoint.
  Json toJson() const;
  static Means fromJson(const Json& json);

 private:
  struct Sum {
    std::string name;
    double sum = 0, samples = 0;  // own count: an update that runs every other step gives its metrics then only
  };
  double m_loss = 0, m_samples = 0;
  std::vector<Sum> m_metrics;
};

}  // namespace loom
