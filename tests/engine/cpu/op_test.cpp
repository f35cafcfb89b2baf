// Every op case on the CPU against the double-precision references, on several numbers of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "engine/base/error.h"
#include "engine/base/json.h"
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

Backend& cpu() {
  static const auto backend = makeCpuBackend();
  return *backend;
}

// `loss` is a sum of either sign: its bound is five times that of its own or a tenth of it beside the sum of magnitudes
// (where nearly all of it cancels, rounding remains), or the whole one beside that sum.
void compare(const cases::OpCase& opCase, int threads, DataType precision = DataType::f32, double tolerance = 1e-5,
             bool besideMagnitude = false) {
  static const auto reference = makeReferenceBackend();
  const auto expected = cases::runCase(opCase, *reference);
  const auto found = cases::runCase(opCase, cpu(), {.precision = precision, .threads = threads});
  ASSERT_EQ(expected.size(), found.size());
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    const double distance = cases::relativeDistance(found.at(name), values);
    if (name == "loss") {
      const double off = std::abs(double{found.at(name)[0]} - values[0]),
                   magnitude = cases::magnitudeOf(opCase, expected.at("y"));
      EXPECT_TRUE(off <= (besideMagnitude ? tolerance : tolerance / 10) * magnitude ||
                  (!besideMagnitude && distance < 5 * tolerance))
          << "a loss " << off << " off " << values[0] << " on " << threads << " threads, of " << magnitude;
    } else {
      EXPECT_LT(distance, tolerance) << name << " on " << threads << " threads";
    }
  }
}

TEST_P(CpuOp, equalsTheReferenceOnOneThread) {
  compare(GetParam(), 1);
}
// More threads than samples, than rows, than panels.
TEST_P(CpuOp, equalsTheReferenceOnFiveThreads) {
  compare(GetParam(), 5);
}

// Whether a step of the case keeps anything in bf16 between its operations.
bool keepsBf16(const cases::OpCase& opCase) {
  const Program program = cases::programOf(opCase, true);
  ParameterStore store(1, cpu().makeMemory());
  store.ensure(program.parameters);
  const auto executable = cpu().compile(program, store, {.precision = DataType::bf16});
  const auto& tensors = executable->program().tensors;
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return tensor.type == DataType::bf16; });
}

// bf16 has eight bits: factors are off by up to 2^-9 each, and so is a number that is kept so; sums of them by less
// (the loss by more of itself: numbers of either sign cancel in it). Every op that does not multiply, between tensors
// that stay f32, is as exact as ever.
TEST_P(CpuOp, inBf16StaysNearTheReference) {
  const std::string& op = GetParam().op;
  const bool rounds = op == "matmul" || op == "inverse" || op.starts_with("convolution") || op.starts_with("lstm") ||
                      op.starts_with("gru") || keepsBf16(GetParam());  // an inverse's gradient is two products
  for (int threads : {1, 3}) compare(GetParam(), threads, DataType::bf16, rounds ? 1e-2 : 1e-5);
}

// Between tensors that the program keeps in bf16 where the op takes and gives them so: the inputs are rounded before,
// the result and what its gradient passes on behind. The bound is that of tests/engine/cuda/op_test.cpp.
class CpuOpInside : public testing::TestWithParam<cases::OpCase> {};

TEST_P(CpuOpInside, inBf16StaysNearTheReference) {
  for (int threads : {1, 3}) compare(GetParam(), threads, DataType::bf16, 2e-2, true);
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

// Convolutions that this backend computes by Winograd's transforms, beyond the sizes of the cases that every backend
// runs.
std::vector<cases::OpCase> winogradCases() {
  using Integers = std::vector<std::int64_t>;
  const auto of = [](const char* name, Shape x, Shape w, bool bias, Integers padding) {
    cases::OpCase one{name, "convolution", {{x}, {w}}, {{"padding", padding}}};
    if (bias) one.inputs.push_back({{w[0]}});
    return one;
  };
  return {of("winograd_same", {5, 32, 16, 20}, {48, 32, 3, 3}, true, {1, 1, 1, 1}),
          of("winograd_valid", {3, 48, 18, 14}, {32, 48, 3, 3}, true, {0, 0, 0, 0}),
          of("winograd_asymmetric", {7, 32, 11, 18}, {80, 32, 3, 3}, false, {0, 2, 3, 0})};
}
TEST(CpuOps, ThoseOfWinogradAreComputedSo) {
  for (const cases::OpCase& one : winogradCases()) {
    ParameterStore store(1, cpu().makeMemory());
    const Json facts = cpu().compile(cases::programOf(one, true), store, {.threads = 2})->describe();
    if (facts["isa"] == "baseline") GTEST_SKIP() << "oneDNN alone on this processor";
    int own = 0;
    for (const Json& operation : facts["operations"])
      own += operation["implementation"].get<std::string>().starts_with("own winograd");
    EXPECT_EQ(own, 3) << one.name << ": forward, to the input, to the weight";
  }
}

std::string nameOf(const testing::TestParamInfo<cases::OpCase>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Cases, CpuOp, testing::ValuesIn(cases::opCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Cases, CpuOpInside, testing::ValuesIn(cases::insideOf(cases::opCases())), nameOf);
INSTANTIATE_TEST_SUITE_P(Winograd, CpuOp, testing::ValuesIn(winogradCases()), nameOf);
INSTANTIATE_TEST_SUITE_P(Winograd, CpuOpInside, testing::ValuesIn(cases::insideOf(winogradCases())), nameOf);

}  // namespace
}  // namespace loom
