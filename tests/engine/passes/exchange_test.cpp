// Where gradients leave: buckets in the order of the backward part, and the operations that stand for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "engine/base/error.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/backend.h"
#include "engine/program/builder.h"
#include "tests/engine/ops/repeated_cases.h"

namespace loom {
namespace {

using testing::ElementsAre;
using Names = std::vector<std::string>;

// Four layers in a row; by default of 100 weights, 400 bytes, each.
Program chain(std::int64_t width = 10) {
  ProgramBuilder builder(2, 1, true);
  TensorId x = builder.input("x", Shape{2, width}, DataType::f32);
  for (int i = 1; i <= 4; ++i) {
    const TensorId w = builder.parameter({.name = "l" + std::to_string(i) + "/weight", .shape = Shape{width, width}});
    builder.setOrigin("l" + std::to_string(i));
    x = builder.add("matmul", {x, w});
  }
  builder.result("loss", ResultKind::loss, builder.add("reduce", {x}, {{"function", std::string("sum")}}));
  differentiate(builder);
  return builder.take();
}

TEST(Buckets, FollowTheBackwardPartAndTheThreshold) {
  const Program program = chain();
  EXPECT_THAT(planBuckets(program, 0),
              ElementsAre(Names{"l4/weight"}, Names{"l3/weight"}, Names{"l2/weight"}, Names{"l1/weight"}));
  EXPECT_THAT(planBuckets(program, 800), ElementsAre(Names{"l4/weight", "l3/weight"}, Names{"l2/weight", "l1/weight"}));
  EXPECT_THAT(planBuckets(program, 799), testing::SizeIs(4));
  EXPECT_THAT(planBuckets(program, 1 << 20), ElementsAre(Names{"l4/weight", "l3/weight", "l2/weight", "l1/weight"}));
}

// 1 MiB of gradients under a threshold of 2: the exchange begins within the backward part all the same.
TEST(Buckets, HoldAQuarterOfAllAtMost) {
  EXPECT_THAT(planBuckets(chain(256), 2 << 20),
              ElementsAre(Names{"l4/weight"}, Names{"l3/weight"}, Names{"l2/weight"}, Names{"l1/weight"}));
}

TEST(Exchange, StandsBehindTheLastGradientOfItsBucketAndSurvivesThePasses) {
  Program program = chain();
  const auto buckets = planBuckets(program, 800);
  exchangeGradients(program, buckets);
  simplify(program);
  std::vector<std::int64_t> seen;
  std::vector<std::string> written;
  for (const Operation& operation : program.operations) {
    if (operation.op->name == "all_reduce") {
      const auto bucket = static_cast<std::size_t>(operation.attributes.integer("bucket"));
      EXPECT_EQ(operation.inputs.size(), 2u);
      for (const std::string& name : buckets[bucket]) EXPECT_THAT(written, testing::Contains(name));
      EXPECT_EQ(written.back(), buckets[bucket].back());  // and not later than it could
      seen.push_back(static_cast<std::int64_t>(bucket));
    }
    for (const TensorId id : operation.outputs)
      if (program.tensor(id).role == TensorRole::parameterGradient) written.push_back(program.tensor(id).name);
  }
  EXPECT_THAT(seen, ElementsAre(0, 1));
}

// Two normalisations in a row that share their statistics, as the two of a GAN's discriminator do.
Program normalised() {
  ProgramBuilder builder(6, 1, true);
  TensorId x = builder.input("x", Shape{6, 3}, DataType::f32);
  x = builder.add(
      "matmul",
      {x, builder.parameter({.name = "l/weight", .shape = Shape{3, 3}, .initializer = {InitializerKind::normal, 1}})});
  const auto state = [&](const char* name) {
    return builder.state({.name = name, .shape = {3}, .initializer = {InitializerKind::ones}});
  };
  for (int i = 0; i < 2; ++i)
    x = builder.add("batch_normalization", {x, kNoTensor, kNoTensor, state("n/mean"), state("n/variance")});
  builder.result("loss", ResultKind::loss,
                 builder.add("reduce", {builder.add("unary", {x}, {{"function", std::string("square")}})},
                             {{"function", std::string("mean")}}));
  differentiate(builder);
  return builder.take();
}

// What the states are after one step of the program on the reference backend, and their gradients' accumulated sum.
struct Statistics {
  std::vector<float> mean, variance, meanSum, varianceSum;
};
Statistics statisticsAfter(const Program& program, const std::vector<StepOptions>& shards) {
  const auto backend = makeReferenceBackend();
  ParameterStore store(7, backend->makeMemory());
  store.ensure(program.parameters);
  const auto executable = backend->compile(program, store, {});
  float number = 0;
  for (const StepOptions& options : shards) {
    for (float& value : std::span(reinterpret_cast<float*>(executable->input("x").data()), 18))
      value = std::sin(++number);
    executable->run(options);
  }
  return {store.at("n/mean").value.values(), store.at("n/variance").value.values(), store.gradient("n/mean").values(),
          store.gradient("n/variance").values()};
}

TEST(AveragedStates, AreWhatEachShardMakesOfThoseBeforeTheStepByItsShare) {
  Program averaging = normalised();
  averageStates(averaging);
  EXPECT_THAT(averagedStates(averaging), ElementsAre("n/mean", "n/variance"));
  simplify(averaging);
  const Statistics found = statisticsAfter(averaging, {{.lossScale = 0.25}, {.lossScale = 0.75, .accumulate = true}});
  const Statistics before = statisticsAfter(averaging, {});
  EXPECT_EQ(found.mean, before.mean) << "the states themselves stay";
  EXPECT_EQ(found.variance, before.variance);
  // The second shard alone, from the same states: its numbers are those behind the first 18.
  const Statistics first = statisticsAfter(normalised(), {{}});
  Program second = normalised();
  const auto backend = makeReferenceBackend();
  ParameterStore store(7, backend->makeMemory());
  store.ensure(second.parameters);
  const auto executable = backend->compile(second, store, {});
  float number = 18;
  for (float& value : std::span(reinterpret_cast<float*>(executable->input("x").data()), 18))
    value = std::sin(++number);
  executable->run({});
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(found.meanSum[c], 0.25 * first.mean[c] + 0.75 * store.at("n/mean").value.values()[c], 1e-6);
    EXPECT_NEAR(found.varianceSum[c], 0.25 * first.variance[c] + 0.75 * store.at("n/variance").value.values()[c], 1e-6);
  }
}

// What is computed again in the backward part is not the copy that was worked on.
TEST(AveragedStates, StayAsTheyAreWhereTheRestIsComputedAgain) {
  Program averaging = normalised();
  averageStates(averaging);
  const Program again = cases::withEverythingAgain(averaging, [](const Operation&) { return Joins{}; });
  EXPECT_GT(again.operations.size(), averaging.operations.size());
  const Statistics expected = statisticsAfter(averaging, {{}}), found = statisticsAfter(again, {{}});
  EXPECT_EQ(found.meanSum, expected.meanSum);
  EXPECT_EQ(found.varianceSum, expected.varianceSum);
}

TEST(AveragedStates, TravelInABucketOfTheirOwnBehindAllGradients) {
  Program program = normalised();
  averageStates(program);
  const auto buckets = planBuckets(program, 1 << 20);
  EXPECT_THAT(buckets, ElementsAre(Names{"l/weight"}, Names{"n/mean", "n/variance"}));
  exchangeGradients(program, buckets);
  simplify(program);
  EXPECT_EQ(program.operations.back().op->name, "all_reduce");
  EXPECT_EQ(program.operations.back().inputs.size(), 2u);
  Program without = chain();
  const std::string before = without.toString();
  averageStates(without);
  EXPECT_EQ(without.toString(), before) << "a program without states stays as it is";
}

TEST(Exchange, RefusesAGradientThatTheProgramLacks) {
  Program program = chain();
  EXPECT_THROW(exchangeGradients(program, {{"l9/weight"}}), Error);
}

}  // namespace
}  // namespace loom
