#pragma once
// Samples that Python draws alike (values.py beside this): a generator of whole numbers, and quotients of whole numbers
// in single precision, which both languages round alike.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "engine/evaluation/output_evaluator.h"

namespace loom {

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : m_state(seed) {}
  int next(int below) {
    m_state = (m_state * 1103515245 + 12345) % 2147483648U;
    return static_cast<int>((m_state >> 16) % static_cast<std::uint64_t>(below));
  }

 private:
  std::uint64_t m_state;
};

struct DrawnSample {
  std::vector<float> values, truth;
};
using DrawnSamples = std::vector<DrawnSample>;

// Four classes of unequal size, 500 samples.
inline DrawnSamples fourClasses() {
  constexpr std::array kClasses{0, 0, 0, 0, 1, 1, 1, 2, 2, 3};
  Drawn drawn(7);
  DrawnSamples samples;
  for (int i = 0; i < 500; ++i) {
    const int truth = kClasses[static_cast<std::size_t>(drawn.next(10))];
    std::array<int, 4> raw{};
    for (int& each : raw) each = 1 + drawn.next(1000);
    raw[static_cast<std::size_t>(truth)] += drawn.next(1500);
    const auto sum = static_cast<float>(raw[0] + raw[1] + raw[2] + raw[3]);
    DrawnSample sample{{}, {static_cast<float>(truth)}};
    for (const int each : raw) sample.values.push_back(static_cast<float>(each) / sum);
    samples.push_back(std::move(sample));
  }
  return samples;
}

inline int drawnChance(Drawn& drawn, bool truth) {
  const int base = 1 + drawn.next(700);
  return base + (truth ? drawn.next(300) : 0);
}

// The chance of one class of two, 400 samples; many scores are equal.
inline DrawnSamples twoClasses() {
  Drawn drawn(11);
  DrawnSamples samples;
  for (int i = 0; i < 400; ++i) {
    const bool truth = drawn.next(3) == 0;
    samples.push_back({{static_cast<float>(drawnChance(drawn, truth)) / 1001.0F}, {truth ? 1.0F : 0.0F}});
  }
  return samples;
}

// The chances of three labels, 200 samples.
inline DrawnSamples threeLabels() {
  Drawn drawn(17);
  DrawnSamples samples;
  for (int i = 0; i < 200; ++i) {
    DrawnSample sample;
    for (int k = 0; k < 3; ++k) {
      const bool truth = drawn.next(2 + k) == 0;
      sample.truth.push_back(truth ? 1.0F : 0.0F);
      sample.values.push_back(static_cast<float>(drawnChance(drawn, truth)) / 1001.0F);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

// Two numbers, 300 samples.
inline DrawnSamples twoNumbers() {
  Drawn drawn(13);
  DrawnSamples samples;
  for (int i = 0; i < 300; ++i) {
    DrawnSample sample;
    for (int k = 0; k < 2; ++k) {
      const float truth = static_cast<float>(drawn.next(2000) - 1000) / 8;
      sample.truth.push_back(truth);
      sample.values.push_back(truth + static_cast<float>(drawn.next(400) - 200) / 16 + static_cast<float>(k));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

inline PredictedOutput outputOf(OutputKind::Kind kind, const Shape& shape) {
  return {.name = "y'", .target = "y", .kind = kind, .shape = shape, .classes = {}};
}

// The samples given to `ranks` evaluators in batches of uneven size, and those merged in an order that `seed` chooses.
inline EvaluatedOutput evaluated(const PredictedOutput& output, const DrawnSamples& samples, int ranks = 1,
                                 unsigned seed = 0, const EvaluationLimits& limits = {}) {
  std::vector<OutputEvaluator> parts(static_cast<std::size_t>(ranks), OutputEvaluator(output, limits));
  std::mt19937 random(seed);
  std::vector<std::size_t> order(samples.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (seed > 0) std::shuffle(order.begin(), order.end(), random);
  std::size_t rank = 0, left = 0;
  for (const std::size_t i : order) {
    if (left-- == 0) rank = random() % parts.size(), left = random() % 37;
    parts[rank].add(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i), samples[i].values, samples[i].truth);
  }
  if (seed > 0) std::shuffle(parts.begin(), parts.end(), random);
  for (std::size_t i = 1; i < parts.size(); ++i) parts[0].merge(parts[i]);
  return parts[0].finish();
}

// Each way in which samples may come: by one rank, by two, by three, in several orders.
inline void eachWay(const PredictedOutput& output, const DrawnSamples& samples,
                    const std::function<void(const EvaluatedOutput&)>& check) {
  for (int ranks = 1; ranks <= 3; ++ranks)
    for (unsigned seed = 0; seed < 3; ++seed) check(evaluated(output, samples, ranks, seed));
}

}  // namespace loom
