// A network as deep as those that are trained, with the convolutions of kernels/winograd.h and with oneDNN's alone.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels/isa.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {
namespace {

// All gradients of one step, one behind the other.
std::vector<float> gradientsOf(DataType precision, const char* winograd) {
  setenv("GRADLOOM_WINOGRAD", winograd, 1);
  const auto cpu = makeCpuBackend(2);
  const auto outcome = networks::step(*cpu, networks::deepResidualNetwork(24), {.precision = precision, .threads = 2});
  unsetenv("GRADLOOM_WINOGRAD");
  std::vector<float> all;
  for (const auto& [name, values] : outcome)
    if (name.starts_with("gradient")) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(CpuWinograd, ANetworksGradientsAreThoseOfOneDnn) {
  if (cpu::isa() == cpu::Isa::baseline) GTEST_SKIP() << "oneDNN alone on this processor";
  const auto own = gradientsOf(DataType::f32, "1"), library = gradientsOf(DataType::f32, "0");
  ASSERT_FALSE(own.empty());
  EXPECT_NE(own, library) << "nothing was computed another way";
  EXPECT_LT(cases::relativeDistance(own, library), 1e-5);
  // In bf16 they stay as near to those in f32: only what is kept is rounded, not the weights.
  EXPECT_LT(cases::relativeDistance(gradientsOf(DataType::bf16, "1"), library),
            1.1 * cases::relativeDistance(gradientsOf(DataType::bf16, "0"), library));
}

}  // namespace
}  // namespace loom
