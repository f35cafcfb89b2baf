#pragma once
// The loss around a run's weights: along the straight line to another run's (Goodfellow et al., arXiv 1412.6544), or
// along one or two random directions whose filters are as long as the weights' (Li et al., arXiv 1712.09913): a sharp
// minimum rises steeply there, a flat one slowly, whatever the weights' scale. Each point is a whole evaluation, of the
// training and of the validation set. Running statistics are those of the run; along a line they go with the weights
// from one run's to the other's, so that both ends are the runs themselves. Nothing is written.
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/backend.h"
#include "engine/training/means.h"
#include "engine/training/trained_run.h"

namespace loom {

struct LandscapeOptions {
  RunFolder run;
  std::optional<RunFolder> to;  // the line to this run's weights; none: random directions
  Which which = Which::best;
  int directions = 1;                       // 1 or 2; of random ones
  std::int64_t points = 21;                 // along each, at least 2
  double from = -1, until = 1;              // of the first run's weights: 0 is the run; along a line 1 is the other
  std::uint64_t seed = 1;                   // of the directions
  std::int64_t samples = 0;                 // of each dataset at most, evenly spread over it; 0 = all
  const std::atomic<bool>* stop = nullptr;  // Error(stopped)
};

struct LandscapePoint {
  double a = 0, b = 0;  // along the first and the second direction
  Measured training;
  std::optional<Measured> validation;  // none: the run was trained without
};

struct Landscape {
  std::string run, to;  // names; `to` empty: random directions
  std::int64_t step = 0, toStep = 0;
  int directions = 1;
  std::int64_t points = 0;           // along each
  std::string training, validation;  // names of the datasets
  std::vector<LandscapePoint> all;   // b by b, a ascending within
};

// `told`: after each point, with how many there will be. Throws Error(missingFile, badData, badProject, badArgument,
// stopped); runs whose drawings are not the same are refused with the first difference.
Landscape measureLandscape(Backend& backend, const LandscapeOptions& options,
                           const std::function<void(const LandscapePoint&, std::int64_t done, std::int64_t all)>& told);

// A random direction for one tensor: normal numbers of (seed, name), each filter (row of its first axis) as long as the
// weights' own. 0 for what is no weight: biases, normalisations, running statistics.
std::vector<float> filterDirection(const Parameter& parameter, std::span<const float> weights, std::uint64_t seed);

Json toJson(const LandscapePoint& point);
Json toJson(const Landscape& landscape);
std::string toCsv(const Landscape& landscape);  // a, b, training_loss, training_METRIC ..., validation_loss ...

}  // namespace loom
