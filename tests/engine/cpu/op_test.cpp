// Every op case on the CPU against the double-precision references, on several numbers of threads.
#include <gtest/gtest.h>

#include <ostream>

#include "engine/base/error.h"
#include "engine/cpu/cpu_backend.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {

namespace cases {
void PrintTo(const OpCase& opCase, std::ostream* to) {
  *to << opCase.name;
}
}  // namespace cases

namespace {

class CpuOp : public testing::TestWithParam<cases::OpCase> {};

void compare(const cases::OpCase& opCase, int threads, DataType precision = DataType::f32, double tolerance = 1e-5) {
  static const auto cpu = makeCpuBackend();
  static const auto reference = makeReferenceBackend();
  const auto expected = cases::runCase(opCase, *reference);
  const auto found = cases::runCase(opCase, *cpu, {.precision = precision, .threads = threads});
  ASSERT_EQ(expected.size(), found.size());
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_LT(cases::relativeDistance(found.at(name), values), name == "loss" ? 5 * tolerance : tolerance)
        << name << " on " << threads << " threads";
  }
}

TEST_P(CpuOp, equalsTheReferenceOnOneThread) {
  compare(GetParam(), 1);
}
// More threads than samples, than rows, than panels.
TEST_P(CpuOp, equalsTheReferenceOnFiveThreads) {
  compare(GetParam(), 5);
}

// bf16 has eight bits: factors are off by up to 2^-9 each, sums of them by less (the loss by more of itself: numbers of
// either sign cancel in it). Every op that does not multiply stays
// as exact as ever.
TEST_P(CpuOp, inBf16StaysNearTheReference) {
  const std::string& op = GetParam().op;
  const bool multiplies =
      op == "matmul" || op.starts_with("convolution") || op.starts_with("lstm") || op.starts_with("gru");
  for (int threads : {1, 3}) compare(GetParam(), threads, DataType::bf16, multiplies ? 1e-2 : 1e-5);
}

TEST(CpuOps, RefuseAGroupThatIsNotThere) {
  const auto cpu = makeCpuBackend(1);
  for (const cases::OpCase& opCase : cases::partnerCases()) {
    try {
      cases::runCase(opCase, *cpu);
      FAIL() << opCase.name << " ran by itself";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), ("in layer '" + opCase.name + "': " + opCase.op +
                                  " is for a group 'data' of 2 ranks, but here it has 1: lower the program for that "
                                  "number, or start as many ranks")
                                     .c_str());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CpuOp, testing::ValuesIn(cases::opCases()),
                         [](const testing::TestParamInfo<cases::OpCase>& info) { return info.param.name; });

}  // namespace
}  // namespace loom
