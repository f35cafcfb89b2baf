// What planFusion() computes together, and what it leaves alone.
#include "engine/passes/fusion.h"

#include <gtest/gtest.h>

#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

// A machine whose kernels join all they can.
Joins joinsOf(const Operation& operation) {
  const std::string& name = operation.op->name;
  if (name == "convolution") return {.relu = true};
  if (name == "batch_normalization_inference") return {.addend = true, .relu = true};
  if (name == "binary") return {.relu = true, .maskBehind = true};
  return {};
}

struct Block {
  ProgramBuilder builder{2, 1, true};
  TensorId x = builder.input("x", {2, 3, 4, 4}, DataType::f32);
  TensorId w = builder.parameter({.name = "w", .shape = {3, 3, 3, 3}});
  TensorId convolution(TensorId from) {
    return builder.add("convolution", {from, w}, {{"padding", std::vector<std::int64_t>{1, 1, 1, 1}}});
  }
  TensorId unary(const char* function, TensorId from) {
    return builder.add("unary", {from}, {{"function", std::string(function)}});
  }
  TensorId sum(TensorId a, TensorId b) { return builder.add("binary", {a, b}, {{"function", "add"}}); }
  TensorId normalised(TensorId from) {
    const auto state = [&](const char* name) { return builder.state({.name = name, .shape = {3}, .isState = true}); };
    const auto weight = [&](const char* name) { return builder.parameter({.name = name, .shape = {3}}); };
    return builder.add("batch_normalization_inference",
                       {from, weight("gamma"), weight("beta"), state("mean"), state("variance")},
                       {{"epsilon", 1e-5}, {"axis", std::int64_t{1}}});
  }
  Fusion plan() { return planFusion(builder.program(), joinsOf); }
};

TEST(Fusion, AReluFollowsTheSumAndTheSumTheNormalisation) {
  Block block;
  const TensorId joined = block.sum(block.convolution(block.x), block.x);
  const TensorId y = block.unary("relu", joined);
  block.builder.result("y", ResultKind::output, y);
  Fusion fusion = block.plan();
  EXPECT_FALSE(fusion.outputs[0].relu) << "a sum stands between the convolution and the ReLU";
  EXPECT_TRUE(fusion.outputs[1].relu);
  EXPECT_EQ(fusion.outputs[1].output, y);
  EXPECT_TRUE(fusion.outputs[2].skip);

  Block residual;
  const TensorId out =
      residual.unary("relu", residual.sum(residual.normalised(residual.convolution(residual.x)), residual.x));
  residual.builder.result("y", ResultKind::output, out);
  fusion = residual.plan();
  EXPECT_EQ(fusion.outputs[1].addend, residual.x);
  EXPECT_TRUE(fusion.outputs[1].relu);
  EXPECT_EQ(fusion.outputs[1].output, out);
  EXPECT_TRUE(fusion.outputs[2].skip && fusion.outputs[3].skip);
}

TEST(Fusion, WhatOthersReadIsWritten) {
  Block block;
  const TensorId y = block.convolution(block.x);
  block.builder.result("y", ResultKind::output, y);
  block.builder.result("z", ResultKind::output, block.unary("relu", y));
  EXPECT_FALSE(block.plan().outputs[0].relu);
  EXPECT_FALSE(block.plan().outputs[1].skip);

  Block two;  // gelu is not computed with it, and its gradient reads the convolution's output
  const TensorId g = two.unary("gelu", two.convolution(two.x));
  two.builder.result("loss", ResultKind::loss, two.builder.add("reduce", {g}, {{"function", "sum"}}));
  differentiate(two.builder);
  EXPECT_FALSE(two.plan().outputs[0].relu);
  EXPECT_FALSE(two.plan().outputs[1].skip);
}

TEST(Fusion, AnOperandThatComesLaterCannotBeAdded) {
  Block block;
  const TensorId first = block.normalised(block.x);
  const TensorId second = block.convolution(block.unary("tanh", block.x));
  block.builder.result("y", ResultKind::output, block.sum(first, second));
  const Fusion fusion = block.plan();
  EXPECT_EQ(fusion.outputs[0].addend, kNoTensor) << "the convolution is not there yet";
  EXPECT_FALSE(fusion.outputs[3].skip);
}

}  // namespace
}  // namespace loom
