// A budget of memory on the CPU: the same bits for less of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/plan.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/ops/repeated_cases.h"

namespace loom {
namespace {

struct DeepNetwork {
  const char* name;
  Program (*make)(std::int64_t batch);
  std::int64_t batch;  // so large that activations, not what kernels work in, make up the arena
  double share;        // of the arena, that is enough
};
void PrintTo(const DeepNetwork& network, std::ostream* to) {
  *to << network.name;
}
const DeepNetwork kDeepNetworks[] = {{"deepResidualNetwork", networks::deepResidualNetwork, 24, 0.51},
                                     {"deepTransformer", networks::deepTransformer, 6, 0.5},
                                     {"residualNetwork", networks::residualNetwork, 48, 0.9}};

class CpuRecomputation : public testing::TestWithParam<DeepNetwork> {};

TEST_P(CpuRecomputation, TheArenaKeepsTheBudgetAndTheBitsStay) {
  const Program program = GetParam().make(GetParam().batch);
  for (const DataType precision : {DataType::f32, DataType::bf16}) {
    SCOPED_TRACE(std::string(toString(precision)));
    const auto cpu = makeCpuBackend(2);
    const CompileOptions kept{.precision = precision, .threads = 2};
    const std::size_t without = cpu->measure(program, kept).shared;
    const networks::Outcome expected = networks::step(*cpu, program, kept);
    for (const double share : {0.5 + GetParam().share / 2, GetParam().share}) {
      Recomputation told;
      CompileOptions options = kept;
      options.memoryBudget = static_cast<std::size_t>(share * static_cast<double>(without));
      options.recomputation = &told;
      EXPECT_EQ(networks::step(*cpu, program, options), expected) << share;
      EXPECT_LE(told.with, options.memoryBudget);
      EXPECT_EQ(told.without, without);
      EXPECT_GT(told.operations, 0);
      EXPECT_EQ(cpu->measure(program, options).shared, told.with);
      ParameterStore store(1);
      const Json facts = cpu->compile(program, store, options)->describe();
      EXPECT_EQ(facts["arena_bytes"].get<std::size_t>() - facts["lasting_bytes"].get<std::size_t>(), told.with);
      EXPECT_EQ(facts["recomputed"], told.operations);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, CpuRecomputation, testing::ValuesIn(kDeepNetworks),
                         [](const testing::TestParamInfo<DeepNetwork>& info) { return std::string(info.param.name); });

TEST(CpuRecomputation, EveryCaseOfTheOpTableHasTheSameBits) {
  const auto cpu = makeCpuBackend(2);
  for (const cases::OpCase& opCase : cases::opCases()) {
    const std::optional<Program> program = cases::learnedProgramOf(opCase);
    if (!program) continue;
    SCOPED_TRACE(opCase.name);
    const Program again =
        cases::withEverythingAgain(*program, [&program](const Operation& one) { return cpu::joinsOf(*program, one); });
    EXPECT_EQ(cases::runProgram(opCase, again, *cpu), cases::runProgram(opCase, *program, *cpu));
  }
}

// What is cheap for its memory comes first: hardly a convolution runs twice where normalisations are enough.
TEST(CpuRecomputation, CheapOperationsComeFirst) {
  const auto cpu = makeCpuBackend(2);
  const Program program = networks::deepResidualNetwork(96);
  const auto multiplyAdds = [&](double share) {
    Recomputation told;
    const auto budget = static_cast<std::size_t>(share * static_cast<double>(cpu->measure(program, {}).shared));
    cpu->measure(program, {.memoryBudget = budget, .recomputation = &told});
    return told.multiplyAdds;
  };
  const double forward = program.multiplyAdds(false);
  EXPECT_LT(multiplyAdds(0.75), 0.02 * forward);
  EXPECT_GT(multiplyAdds(0.45), 0.1 * forward);
}

}  // namespace
}  // namespace loom
