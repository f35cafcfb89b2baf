#pragma once
// Which random words an operation reads: a function of (seed, node, step, place of the sample in the global batch,
// element), so that the same run sees the same noise on any number of ranks, threads, shards and on every machine.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "engine/base/philox.h"
#include "engine/program/attributes.h"

namespace loom {

// The attribute `stream` of a node that draws noise: builder.add("dropout", ..., {{"stream", noiseStream(seed, id)}}).
inline std::int64_t noiseStream(std::uint64_t seed, std::string_view node) {
  return static_cast<std::int64_t>(hashName(node) ^ (seed * 0x9E3779B97F4A7C15ull));
}

// The generator of an operation with the attributes `stream` and `seed` (0 when absent).
inline Philox noiseOf(const Attributes& attributes) {
  return Philox(static_cast<std::uint64_t>(attributes.integer("seed", 0)),
                static_cast<std::uint64_t>(attributes.integer("stream")));
}

// The upper half of the counter: one sequence of words for each step and sample of the global batch.
constexpr std::uint64_t noiseCounter(std::int64_t step, std::int64_t sample) {
  return (static_cast<std::uint64_t>(step) << 32) + static_cast<std::uint64_t>(sample);
}

// Word `index` of that sequence. Kernels draw a block at a time: words 4b ... 4b + 3 are Philox(b, counter).
inline std::uint32_t noiseWord(const Philox& philox, std::uint64_t counter, std::int64_t index) {
  return philox(static_cast<std::uint64_t>(index / 4), counter)[static_cast<std::size_t>(index % 4)];
}

// Whether dropout keeps the element of this word: compared in f32 on every machine, so that all draw one mask.
inline bool noiseKeeps(std::uint32_t word, double probability) {
  return Philox::toUniform(word) >= static_cast<float>(probability);
}

// The same on integers: kept where (word >> 8) >= noiseThreshold(probability).
inline std::uint32_t noiseThreshold(double probability) {
  return static_cast<std::uint32_t>(std::ceil(static_cast<double>(static_cast<float>(probability)) * 0x1p24));
}

// Standard normal from two words (Box-Muller, the cosine branch); the first is moved into (0, 1] so that its logarithm
// is finite.
inline double normalFrom(std::uint32_t first, std::uint32_t second) {
  const double radius = (static_cast<double>(first) + 1.0) * 0x1p-32;
  const double angle = static_cast<double>(second) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(radius)) * std::cos(2.0 * std::numbers::pi * angle);
}

}  // namespace loom
