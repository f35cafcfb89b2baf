// A network whose products are those of halves (kernels/strassen.h), beside the plain ones: linear layers and an LSTM,
// there and back, on one to three threads.
#include <gtest/gtest.h>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/strassen_rows.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/ops/case_families.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::strassen {
namespace {

struct Steps {
  std::vector<float> gradients;  // of two steps, the second added to the first
  int halved = 0;                // stages
};

Steps run(int threads, CpuWay halves) {
  const auto backend = makeCpuBackend(threads, {.halves = halves});
  ParameterStore store(7, backend->makeMemory());
  const Program program = networks::evenNetwork(32);
  store.ensure(program.parameters);
  const auto executable = backend->compile(program, store, {.threads = threads});
  networks::fill(*executable, networks::kClasses);
  executable->run({});
  executable->run({.accumulate = true});
  Steps result;
  for (const auto& [name, values] : networks::collect(*executable, store))
    if (name.starts_with("gradient")) result.gradients.insert(result.gradients.end(), values.begin(), values.end());
  const Json described = executable->describe();
  for (const Json& stage : described["operations"])
    result.halved +=
        stage["implementation"] == "own:strassen" && !stage["kernel"].get<std::string>().starts_with("pack");
  return result;
}

TEST(CpuStrassen, ANetworksGradientsAreThoseOfPlainProducts) {
  const Steps plain = run(1, CpuWay::nowhere);
  EXPECT_EQ(plain.halved, 0);
  for (const int threads : {1, 2, 3}) {
    const Steps halves = run(threads, CpuWay::wherePossible);
    // Forward, to the input and to the weight of a linear layer; the input side, both weights and both loops of the
    // LSTM.
    EXPECT_EQ(halves.halved, 8) << threads;
    EXPECT_LT(cases::relativeDistance(halves.gradients, plain.gradients), 1e-5) << threads;
  }
}

// Both directions of time, with and without h and c before the first frame, and their gradients. (Of 64 units, three
// threads have one or two sixteens each, or with AVX-512 one has all.)
TEST(CpuStrassen, AnLstmsFramesAreTheReferences) {
  using cases::values;
  ASSERT_TRUE(cpu::canHalveRows(256, 32, 64) && cpu::canHalveRows(64, 32, 256));  // or they would not be in halves
  const auto reference = makeReferenceBackend();
  const auto backend = makeCpuBackend(0, {.halves = CpuWay::wherePossible});
  for (const bool reverse : {false, true}) {
    for (const bool initial : {false, true}) {
      cases::OpCase one{"frames",
                        "lstm",
                        {values({32, 5, 3}), values({256, 3}), values({256, 64}), values({256})},
                        {{"reverse", reverse}}};
      if (initial) one.inputs.insert(one.inputs.end(), {values({32, 64}), values({32, 64})});
      const auto expected = cases::runCase(one, *reference);
      for (const int threads : {1, 2, 3}) {
        const auto found = cases::runCase(one, *backend, {.threads = threads});
        for (const auto& [name, numbers] : expected) {
          if (name == "loss") continue;  // numbers of either sign, summed
          EXPECT_LT(cases::relativeDistance(found.at(name), numbers), 1e-5)
              << name << (reverse ? " reverse" : "") << (initial ? " initial" : "") << " on " << threads;
        }
      }
    }
  }
}

TEST(CpuStrassen, SmallProductsAreLeftAlone) {
  EXPECT_EQ(run(2, CpuWay::whereFaster).halved, 0);
}

}  // namespace
}  // namespace loom::strassen
