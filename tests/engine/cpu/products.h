#pragma once
// What tests of products have in common: numbers to multiply, and what comes out of them in double.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/philox.h"

namespace loom::cpu {

// The first of a stream of standard normal numbers, drawn once: a test asks for the same ones hundreds of times.
inline std::vector<float> normalNumbers(std::int64_t count, const std::string& name) {
  static std::map<std::string, std::vector<float>> streams;
  std::vector<float>& drawn = streams[name];
  const Philox random(1, name);
  drawn.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = drawn.size(); i < static_cast<std::size_t>(count); ++i)
    drawn.push_back(static_cast<float>(random.normal(i)));
  return std::vector<float>(drawn.begin(), drawn.begin() + count);
}

// Sum over i of a[i * stepA] * b[i * stepB]. Optimised and unwatched, as tests otherwise are not: most of their time
// goes by here.
__attribute__((optimize("O2"), no_sanitize("address"))) inline double sumOfProducts(const float* a, std::int64_t stepA,
                                                                                    const float* b, std::int64_t stepB,
                                                                                    std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i * stepA]) * b[i * stepB];
  return sum;
}

}  // namespace loom::cpu
