// What the ops that cost most keep in 16 bits is the same here and on the CPU: else a number that one side writes in
// f32 for nothing is converted again and again by whoever reads it.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/cpu/plan.h"
#include "engine/cuda/plan.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

std::string textOf(const SixteenBits& bits) {
  return fmt::format("inputs {}, outputs {}, like {}", fmt::join(bits.inputs, ","), bits.outputs, bits.like);
}

TEST(CudaSixteenBits, OfAttentionProductsAndConvolutionsAreThoseOfTheCpu) {
  const std::set<std::string> ops = {"attention",
                                     "attention_gradient",
                                     "batch_normalization",
                                     "batch_normalization_gradient",
                                     "convolution",
                                     "layer_normalization",
                                     "matmul"};
  std::set<std::string> met;
  for (const cases::OpCase& opCase : cases::opCases()) {
    const Program program = cases::programOf(opCase, true);
    for (const Operation& operation : program.operations) {
      if (!ops.contains(operation.op->name)) continue;
      met.insert(operation.op->name);
      EXPECT_EQ(textOf(inSixteenBits(program, operation)), textOf(cpu::inBf16(program, operation)))
          << operation.op->name;
    }
  }
  EXPECT_EQ(met, ops);
}

}  // namespace
}  // namespace loom::cuda
