#pragma once
// What is measured of gradients while a run trains: how noisy they are, from the gradient of a part of a step beside
// that of the whole step, and how large their numbers are.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

class ParameterStore;

// Of the mean gradient over some samples: its squared length.
struct GradientNorm {
  double squares = 0, samples = 0;
};

double squaresOf(std::span<const float> values);  // their sum, in double

// The noise scale from one part and the whole of each step (McCandlish et al., arXiv 1812.06162, appendix A.1): both
// |G|² and tr(Σ) are means over the last steps, since those of one step say little. Samples.
class NoiseWhileTraining {
 public:
  void add(const GradientNorm& part, const GradientNorm& whole);
  // None before a few steps, and where |G|² cannot be told from 0.
  std::optional<double> noiseScale() const;

 private:
  double m_trace = 0, m_squared = 0;
  std::int64_t m_steps = 0;
};

// How many of the gradients of these parameters lie in each power of 2, and which share of those that are not 0 would
// be 0 in f16, as they are and multiplied by `scale`: {"from", "counts", "zeros", "lost", "scale", "lost_scaled"}.
Json gradientMagnitudes(ParameterStore& store, const std::vector<std::string>& parameters, double scale);

}  // namespace loom
