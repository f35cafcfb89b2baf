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

// The same over steps whose rule may take another gradient than the one that was measured: of the step before, where
// gradients are delayed; of a place nearby, where a method computes it twice.
class NoiseOfSteps {
 public:
  void setDelayed() { m_delayed = true; }
  // `part`: of this step, where it was measured. `whole`: of this step, where the rule takes another one. `samples`: of
  // the step. `taken`: the length of what the rule took; NaN: it took nothing. The noise scale, where this tells more
  // of it than was known.
  std::optional<double> add(std::optional<GradientNorm> part, const std::optional<GradientNorm>& whole, double samples,
                            double taken);

 private:
  NoiseWhileTraining m_noise;
  bool m_delayed = false;
  std::optional<GradientNorm> m_held;  // of a part of the step before
  double m_heldSamples = 0;
};

// How many of the gradients of these parameters lie in each power of 2, and which share of those that are not 0 would
// be 0 in f16, as they are and multiplied by `scale`: {"from", "counts", "zeros", "lost", "scale", "lost_scaled"}.
Json gradientMagnitudes(ParameterStore& store, const std::vector<std::string>& parameters, double scale);

}  // namespace loom
