// A budget of memory on a GPU, as the fake device shows it: the same bits for less of it.
#include <gtest/gtest.h>

#include <ostream>

#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/plan.h"
#include "engine/program/memory_plan.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/repeated_cases.h"

namespace loom::cuda {
namespace {

struct DeepNetwork {
  const char* name;
  Program (*make)(std::int64_t batch);
  double given;  // back, of the activations that all in f32 would be
};
void PrintTo(const DeepNetwork& network, std::ostream* to) {
  *to << network.name;
}
const DeepNetwork kDeepNetworks[] = {{"deepResidualNetwork", networks::deepResidualNetwork, 0.35},
                                     {"deepTransformer", networks::deepTransformer, 0.4}};

class CudaRecomputation : public testing::TestWithParam<DeepNetwork> {};

TEST_P(CudaRecomputation, theArenaKeepsTheBudgetAndTheBitsStay) {
  const Program program = GetParam().make(2);
  for (const DataType precision : {DataType::f32, DataType::bf16, DataType::f16}) {
    SCOPED_TRACE(std::string(toString(precision)));
    const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
    Recomputation told;
    CompileOptions options{.precision = precision};
    const networks::Outcome expected = networks::step(*backend, program, options);
    // The workspace of products, as large as such activations, stands in the arena whatever is computed again.
    const double activations =
        static_cast<double>(planMemory(program).arenaBytes) / (4.0 / static_cast<double>(bytesOf(precision)));
    options.memoryBudget =
        backend->measure(program, options).shared - static_cast<std::size_t>(GetParam().given * activations);
    options.recomputation = &told;
    EXPECT_EQ(networks::step(*backend, program, options), expected);
    EXPECT_LE(told.with, options.memoryBudget);
    EXPECT_GT(told.operations, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaRecomputation, testing::ValuesIn(kDeepNetworks),
                         [](const testing::TestParamInfo<DeepNetwork>& info) { return std::string(info.param.name); });

TEST(CudaRecomputation, everyCaseOfTheOpTableHasTheSameBits) {
  const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
  for (const cases::OpCase& opCase : cases::opCases()) {
    const std::optional<Program> program = cases::learnedProgramOf(opCase);
    if (!program) continue;
    SCOPED_TRACE(opCase.name);
    const Program again =
        cases::withEverythingAgain(*program, [&program](const Operation& one) { return joinsOf(*program, one); });
    EXPECT_EQ(cases::runProgram(opCase, again, *backend), cases::runProgram(opCase, *program, *backend));
  }
}

}  // namespace
}  // namespace loom::cuda
