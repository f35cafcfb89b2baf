// Where gradients leave: buckets in the order of the backward part, and the operations that stand for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"

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
  builder.result("loss", "loss", builder.add("reduce", {x}, {{"function", std::string("sum")}}));
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

TEST(Exchange, RefusesAGradientThatTheProgramLacks) {
  Program program = chain();
  EXPECT_THROW(exchangeGradients(program, {{"l9/weight"}}), Error);
}

}  // namespace
}  // namespace loom
