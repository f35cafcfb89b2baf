#include "engine/training/gradient_figures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "engine/program/parameter_store.h"

namespace loom {
namespace {

constexpr double kKept = 0.95;  // of the means, in each step: they look back some twenty
constexpr std::int64_t kLeastSteps = 8;
constexpr int kLeastPower = -40, kPowers = 56;  // 2^-40 and below to 2^15
constexpr float kHalved = 0x1p-25f;             // f16 rounds it, and what is smaller, to 0

}  // namespace

// Several sums, so that one addition need not wait for the last.
double squaresOf(std::span<const float> values) {
  std::array<double, 8> sums{};
  const std::size_t whole = values.size() / sums.size() * sums.size();
  for (std::size_t i = 0; i < whole; i += sums.size())
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += static_cast<double>(values[i + k]) * static_cast<double>(values[i + k]);
  double sum = 0;
  for (const double each : sums) sum += each;
  for (std::size_t i = whole; i < values.size(); ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

void NoiseWhileTraining::add(const GradientNorm& part, const GradientNorm& whole) {
  if (!(part.samples > 0) || !(whole.samples > part.samples)) return;
  if (!std::isfinite(part.squares) || !std::isfinite(whole.squares)) return;
  const double trace = (part.squares - whole.squares) / (1 / part.samples - 1 / whole.samples);
  const double squared = (whole.samples * whole.squares - part.samples * part.squares) / (whole.samples - part.samples);
  m_trace = kKept * m_trace + (1 - kKept) * trace;
  m_squared = kKept * m_squared + (1 - kKept) * squared;
  ++m_steps;
}

// Both means have the same weight so far, so it need not be taken off.
std::optional<double> NoiseWhileTraining::noiseScale() const {
  if (m_steps < kLeastSteps || !(m_squared > 0) || !(m_trace > 0)) return {};
  return m_trace / m_squared;
}

std::optional<double> NoiseOfSteps::add(std::optional<GradientNorm> part, const std::optional<GradientNorm>& whole,
                                        double samples, double taken) {
  if (m_delayed) {
    part.swap(m_held);
    std::swap(samples, m_heldSamples);
  }
  if (!part) return {};
  const GradientNorm all = whole ? *whole : GradientNorm{taken * taken, samples};
  if (std::isfinite(all.squares)) m_noise.add(*part, all);
  return m_noise.noiseScale();
}

Json gradientMagnitudes(ParameterStore& store, const std::vector<std::string>& parameters, double scale) {
  std::vector<std::int64_t> counts(kPowers);
  std::int64_t zeros = 0, others = 0, lost = 0, lostScaled = 0;
  const float scaledLimit = static_cast<float>(kHalved / scale);
  for (const std::string& name : parameters)
    for (const float value : store.gradient(name).values()) {
      const float size = std::abs(value);
      if (size == 0) {
        ++zeros;
        continue;
      }
      ++others;
      lost += size <= kHalved;
      lostScaled += size <= scaledLimit;
      const int power = static_cast<int>(std::bit_cast<std::uint32_t>(size) >> 23) - 127;
      ++counts[static_cast<std::size_t>(std::clamp(power - kLeastPower, 0, kPowers - 1))];
    }
  const auto share = [&](std::int64_t of) {
    return others > 0 ? static_cast<double>(of) / static_cast<double>(others) : 0;
  };
  return {{"from", kLeastPower}, {"counts", counts}, {"zeros", zeros},
          {"lost", share(lost)}, {"scale", scale},   {"lost_scaled", share(lostScaled)}};
}

}  // namespace loom
