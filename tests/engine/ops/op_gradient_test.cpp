// Every op's gradient against finite differences of its double-precision reference, on every case.
#include <gtest/gtest.h>

#include "engine/program/builder.h"
#include "tests/engine/ops/op_cases.h"
#include "tests/engine/program/gradient_check.h"

namespace loom::cases {
namespace {

class OpGradient : public testing::TestWithParam<OpCase> {};

TEST_P(OpGradient, AgreesWithFiniteDifferences) {
  const OpCase& opCase = GetParam();
  Program program = programOf(opCase, false);
  std::erase_if(program.results, [](const NamedResult& result) { return result.name != "loss"; });
  const GradientCheck check = checkGradients(program, [&](Evaluator& evaluator) { prepare(opCase, evaluator); });
  if (!findOp(opCase.op).gradient) {
    EXPECT_EQ(check.flowing, 1) << "through an op without a gradient only the projection gets one";
    return;
  }
  EXPECT_TRUE(check.passed) << check.message;
  EXPECT_LT(check.worst, 1e-6) << check.message;
  EXPECT_GT(check.checked, 0);
  EXPECT_LE(check.kinks * 20, check.checked) << "too many elements stand at a kink to say that the gradient was tested";
}

INSTANTIATE_TEST_SUITE_P(Table, OpGradient, testing::ValuesIn(opCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace loom::cases
