// What a step asks of the processor, counted from the plan that would run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "tests/engine/cpu/networks.h"

namespace loom {
namespace {

std::map<std::string, StageCost> byOp(const StepCost& cost) {
  std::map<std::string, StageCost> all;
  for (const StageCost& stage : cost.stages) {
    StageCost& sum = all[stage.op];
    sum.read += stage.read;
    sum.written += stage.written;
    sum.operations += stage.operations;
    sum.kind = stage.kind;
    sum.calls = sum.op.empty() ? stage.calls : sum.calls + stage.calls;
    sum.op = stage.op;
  }
  return all;
}

TEST(StageCosts, HoldAllArithmeticOfTheProgramInItsKinds) {
  for (const auto make : {networks::smallCnn, networks::residualNetwork, networks::stackedLstm,
                          networks::gatedRecurrent, networks::transformerBlock, networks::perceptron})
    for (const DataType precision : {DataType::f32, DataType::bf16}) {
      const Program program = make(4);
      double operations = 0;
      for (const StageCost& stage : stepCost(program, {.precision = precision, .threads = 2}).stages) {
        operations += stage.operations;
        EXPECT_EQ(stage.operations > 0, stage.kind != StageKind::memory && stage.kind != StageKind::update) << stage.op;
        EXPECT_GE(stage.calls, 1) << stage.op;
        EXPECT_GT(stage.read + stage.written, 0) << stage.op;
        EXPECT_FALSE(stage.sizes.empty()) << stage.op;
      }
      EXPECT_NEAR(operations / (2 * (program.multiplyAdds(false) + program.multiplyAdds(true))), 1, 1e-9);
    }
}

TEST(StageCosts, OfTheSameProgramAreThoseOfItsExecutable) {
  const auto backend = makeCpuBackend(2);
  const Program program = networks::residualNetwork(4);
  ParameterStore store(1);
  const auto executable = backend->compile(program, store, {.threads = 2});
  const StepCost planned = stepCost(program, {.threads = 2}), compiled = executable->cost();
  ASSERT_EQ(planned.stages.size(), compiled.stages.size());
  for (std::size_t i = 0; i < planned.stages.size(); ++i) {
    EXPECT_EQ(planned.stages[i].kernel, compiled.stages[i].kernel);
    EXPECT_EQ(planned.stages[i].sizes, compiled.stages[i].sizes);
    EXPECT_EQ(compiled.stages[i].measured, 0) << "nobody asked";
  }
  EXPECT_EQ(planned.memory.shared, compiled.memory.shared);
  EXPECT_EQ(planned.memory.lasting, compiled.memory.lasting);
  // Every stage is counted once; what is packed stands before them.
  int calls = 0;
  for (const StageCost& stage : compiled.stages) calls += stage.op == "pack weights" ? 0 : stage.calls;
  EXPECT_EQ(static_cast<std::size_t>(calls), executable->describe()["operations"].size());
}

TEST(StageCosts, CountWhatIsJoinedInThePassThatDoesIt) {
  const auto costs = byOp(stepCost(networks::residualNetwork(4), {}));
  // Every ReLU and every sum of a block stands in a normalisation.
  EXPECT_FALSE(costs.contains("unary"));
  const StageCost& normalisation = costs.at("batch_normalization");
  EXPECT_GT(normalisation.read, 1.2 * normalisation.written) << "with the block's input that it adds";
  // Back: what came in, what comes back, and for a ReLU behind it what that gave, which says where a gradient counts.
  const StageCost& back = costs.at("batch_normalization_gradient");
  EXPECT_GT(back.read, 2.1 * back.written) << "with the outputs of ReLUs as masks";
}

TEST(StageCosts, OfSixteenBitsMoveHalfAndSayWhatIsMultiplied) {
  if (makeCpuBackend(1)
          ->compile(networks::perceptron(2), *std::make_unique<ParameterStore>(1), {})
          ->describe()["isa"] != "avx512")
    GTEST_SKIP() << "nothing is kept in 16 bits on this processor";
  const auto wide = byOp(stepCost(networks::deepResidualNetwork(4), {})),
             half = byOp(stepCost(networks::deepResidualNetwork(4), {.precision = DataType::bf16}));
  for (const char* op : {"batch_normalization", "batch_normalization_gradient"})
    EXPECT_NEAR((half.at(op).read + half.at(op).written) / (wide.at(op).read + wide.at(op).written), 0.5, 0.05) << op;
  for (const StageCost& stage : stepCost(networks::deepResidualNetwork(4), {.precision = DataType::bf16}).stages)
    if (stage.op == "convolution") {
      EXPECT_EQ(stage.factors, DataType::bf16);
    }
}

TEST(StageCosts, AreMeasuredWhereThatIsAskedFor) {
  const auto backend = makeCpuBackend(2);
  ParameterStore store(1);
  const auto executable = backend->compile(networks::smallCnn(8), store, {.threads = 2, .profile = true});
  networks::fill(*executable, networks::kClasses);
  for (int step = 0; step < 2; ++step) executable->run({});
  double sum = 0;
  for (const StageCost& stage : executable->cost().stages) {
    sum += stage.measured;
    EXPECT_GT(stage.measured, stage.operations > 0 ? 0 : -1) << stage.op;
  }
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum, 60);
}

}  // namespace
}  // namespace loom
