#pragma once
// What another batch would bring, by the gradient's noise scale (McCandlish et al., "An empirical model of large-batch
// training", arXiv 1812.06162): to reach the same loss a batch B takes 1 + N / B times the fewest steps and 1 + B / N
// times the fewest samples. At B = N, the critical batch, both are twice the least.
#include <fmt/format.h>

#include <cmath>
#include <string>

namespace loom {

// Of batch `to` against batch `from`.
struct BatchTrade {
  double steps = 1, samples = 1;
};
inline BatchTrade tradeOf(double noise, double from, double to) {
  return {.steps = (1 + noise / to) / (1 + noise / from), .samples = (1 + to / noise) / (1 + from / noise)};
}

// "Twice the ranks would save 30 % of the time and cost 40 % more samples."
inline std::string tradeSentence(double noise, double batch) {
  const BatchTrade twice = tradeOf(noise, batch, 2 * batch);
  return fmt::format("Twice the ranks would save {} % of the time and cost {} % more samples.",
                     std::lround(100 * (1 - twice.steps)), std::lround(100 * (twice.samples - 1)));
}

}  // namespace loom
