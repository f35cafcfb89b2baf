#pragma once
// A learning rate that falls when nothing gets better any more: the rule, and where a run stands with it.
#include <cstdint>
#include <optional>

namespace loom {

struct PlateauRule {
  double factor = 0.1;         // of a drop
  std::int64_t patience = 10;  // measurements without a gain that are borne
  double threshold = 1e-4;     // a gain is at least this share of the best value
  std::int64_t cooldown = 0;   // measurements behind a drop that do not count
  double least = 0;            // share of the rate that remains at least
};

struct PlateauState {
  double scale = 1;  // of the rate, so far
  std::optional<double> best;
  std::int64_t without = 0;  // measurements since the last gain
  std::int64_t cooling = 0;  // that do not count yet

  // A value that is not finite is no gain.
  void observe(const PlateauRule& rule, double value, bool higherIsBetter);
};

}  // namespace loom
