#pragma once
// Which learning rate: a short training whose rate grows by the same factor at every step, until the loss leaves what
// it had gained (Smith, "Cyclical learning rates for training neural networks", arXiv 1506.01186, section 3.3).
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "engine/network/project.h"
#include "engine/program/backend.h"

namespace loom {

struct RangePoint {
  std::int64_t step = 0;  // from 1
  double rate = 0;        // as the rule got it
  double loss = 0;        // of the step's samples; may be not finite
};

struct RangeTestOptions {
  Project project;
  std::filesystem::path folder;    // where the project's relative paths begin
  std::size_t update = 0;          // whose rate grows; others keep theirs
  std::optional<double> from, to;  // by default the bounds in which the rule's rate is usual
  int steps = 100;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const RangePoint&)> observer;
};

// What a curve of losses over growing rates says. All rates as the rule got them.
struct RangeReading {
  std::optional<double> steepest;  // where the smoothed loss falls fastest
  std::optional<double> diverged;  // where it had lost what it had gained, or was not finite
  // The steepest descent, or an order below the end of the bottom behind it; at most an order below where it diverged.
  std::optional<double> suggested;
  std::vector<double> smoothed;  // by point, as far as losses are finite
};
RangeReading readRange(const std::vector<RangePoint>& points);

struct RangeTest {
  std::vector<RangePoint> points;
  RangeReading reading;
  std::optional<double> field;  // the suggestion as the field `learning_rate` wants it, before `rate_scaling`
  bool stopped = false;
};
// Trains in a folder of its own, which is gone afterwards: runs, checkpoints and the project stay as they are, also
// where it is stopped or fails. Throws what train() throws, but for a divergence, which is an answer.
RangeTest rangeTest(Backend& backend, const RangeTestOptions& options);

}  // namespace loom
