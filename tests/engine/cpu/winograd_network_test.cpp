// A network as deep as those that are trained, with the convolutions of kernels/winograd.h and with oneDNN's alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels/isa.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {
namespace {

// All gradients of one step, one behind the other.
std::vector<float> gradientsOf(DataType precision, CpuWay winograd, std::int64_t batch) {
  const auto cpu = makeCpuBackend(2, {.winograd = winograd});
  const auto outcome =
      networks::step(*cpu, networks::deepResidualNetwork(batch), {.precision = precision, .threads = 2});
  std::vector<float> all;
  for (const auto& [name, values] : outcome)
    if (name.starts_with("gradient")) all.insert(all.end(), values.begin(), values.end());
  return all;
}

// A number within rounding of 0 before a ReLU may pass on one way and not on the other, which changes all gradients by
// a thousandth: that happens in some batches, and to each processor in others, so the middle one of five counts.
TEST(CpuWinograd, ANetworksGradientsAreThoseOfOneDnn) {
  if (cpu::isa() == cpu::Isa::baseline) GTEST_SKIP() << "oneDNN alone on this processor";
  std::vector<double> apart, own, library;
  for (const std::int64_t batch : {4, 8, 20, 24, 28}) {
    const auto computed = gradientsOf(DataType::f32, CpuWay::wherePossible, batch),
               expected = gradientsOf(DataType::f32, CpuWay::nowhere, batch);
    ASSERT_FALSE(computed.empty());
    EXPECT_NE(computed, expected) << "nothing was computed another way";
    apart.push_back(cases::relativeDistance(computed, expected));
    own.push_back(cases::relativeDistance(gradientsOf(DataType::bf16, CpuWay::wherePossible, batch), expected));
    library.push_back(cases::relativeDistance(gradientsOf(DataType::bf16, CpuWay::nowhere, batch), expected));
  }
  std::nth_element(apart.begin(), apart.begin() + 2, apart.end());
  EXPECT_LT(apart[2], 1e-5);
  // In bf16 they stay as near to those in f32: only what is kept is rounded, not the weights.
  EXPECT_LT(std::accumulate(own.begin(), own.end(), 0.0), 1.1 * std::accumulate(library.begin(), library.end(), 0.0));
}

}  // namespace
}  // namespace loom
