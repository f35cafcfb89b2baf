#pragma once
// Loss and metrics of several parts together: of the shards of a step, of the steps of an epoch, of the batches of a
// dataset. Means over samples count by the number of samples, so a smaller last batch weighs what it holds; metrics
// that are no means are made of their sums (ResultSums).
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/program/program.h"

namespace loom {

// Of a metric that is no mean over samples.
struct MetricSums {
  std::string name;
  const ResultSums* rule = nullptr;  // null where it comes from a checkpoint, until know() or the next part says it
  std::vector<double> values;        // empty: nothing is added
};

// Losses and metrics by name, in the order of the program.
struct Measured {
  double loss = 0;  // sum of all results that are losses
  std::vector<std::pair<std::string, double>> metrics;
  double samples = 0;                 // that it is a mean over
  std::vector<MetricSums> sums = {};  // of those of the metrics that are no means: these count, and not the number
};

Json metricsJson(const Measured& measured);
// For a checkpoint, exactly. Rules of sums are for the reader to add.
Json toJson(const Measured& measured);
Measured measuredFromJson(const Json& json);

// By the metric's rule: as long as each other or one of them empty, or lists of any length.
void addSums(std::vector<double>& sums, const std::vector<double>& more, const ResultSums* rule);

class Means {
 public:
  void add(const Measured& part);
  // NaN where nothing was added.
  Measured value() const;
  bool empty() const { return m_samples == 0; }
  // The rule of a metric that is no mean, which a checkpoint does not hold.
  void know(std::string_view name, const ResultSums& rule);
  void clear() { *this = {}; }
  // The exact sums, for a checkpoint.
  Json toJson() const;
  static Means fromJson(const Json& json);

 private:
  struct Sum {
    std::string name;
    double sum = 0, samples = 0;  // own count: an update that runs every other step gives its metrics then only
    MetricSums sums = {};         // with a rule or values: it is no mean
    bool isMean() const { return sums.rule == nullptr && sums.values.empty(); }
  };
  double m_loss = 0, m_samples = 0;
  std::vector<Sum> m_metrics;
};

}  // namespace loom
