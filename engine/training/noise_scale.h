#pragma once
// How noisy the gradient is: tr(Σ) / |G|², the simple noise scale, in samples, from the gradients of shards.
// (McCandlish et al., arXiv 1812.06162, appendix A.1: with the squared norms of a small and of a big batch both are
// estimated without bias.)
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/network/project.h"
#include "engine/program/backend.h"

namespace loom {

// Sums over shards of equal size, one gradient at a time.
class NoiseEstimate {
 public:
  explicit NoiseEstimate(std::int64_t samplesOfAShard) : m_small(samplesOfAShard) {}
  // The next part of the shard's gradient: tensors in the same order for every shard. endShard() behind the last.
  void add(std::span<const float> part);
  void endShard();

  std::int64_t shards() const { return m_shards; }
  std::int64_t samples() const { return m_shards * m_small; }
  double squaredGradient() const;  // |G|² without bias; may be negative where there is too much noise
  double trace() const;            // tr(Σ) of one sample
  // Samples; infinite where |G|² cannot be told from 0.
  double noiseScale() const;

 private:
  std::int64_t m_small = 1, m_shards = 0;
  std::vector<double> m_sum;
  std::size_t m_at = 0;
  double m_squares = 0;  // of all shards together
};

struct NoiseScaleOptions {
  Project project;
  std::filesystem::path folder;  // where the project's relative paths begin
  std::filesystem::path run;     // with the weights of this run's last checkpoint; empty: the first weights
  std::size_t update = 0;
  std::int64_t shard = 0;                              // samples of a shard; 0 = at most 32, and an eighth of the batch
  std::int64_t samples = 8192;                         // at most; fewer where the answer is certain sooner
  const std::atomic<bool>* stop = nullptr;             // Error(stopped)
  std::function<void(const NoiseEstimate&)> progress;  // after some shards
};

struct NoiseScale {
  double noise = 0;      // samples: the critical batch
  bool atLeast = false;  // more samples would be needed to tell: it is this or more
  double squaredGradient = 0, trace = 0;
  std::int64_t shard = 0, samples = 0, batch = 0;
  std::int64_t step = 0;  // of the weights
};
// Nothing is written. Throws Error(badProject, badData, missingFile, stopped).
NoiseScale measureNoiseScale(Backend& backend, const NoiseScaleOptions& options);

}  // namespace loom
