// What a step moves and computes, beside figures by hand; nothing runs, and no GPU is needed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/planned_device.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"

namespace loom::cuda {
namespace {

using testing::ElementsAre;
using Integers = std::vector<std::int64_t>;

StepCost costOf(const Program& program, DataType precision = DataType::f32) {
  const auto device = makePlannedDevice({"NVIDIA H100", 90, 132, std::size_t{80} << 30, std::size_t{80} << 30});
  return stepCost(program, *device, {.precision = precision});
}

// "op: read + written, operations" of each stage.
std::vector<std::string> stagesOf(const StepCost& cost) {
  std::vector<std::string> lines;
  for (const StageCost& stage : cost.stages)
    if (stage.op != "inputs")
      lines.push_back(fmt::format("{}: {} + {}, {}", stage.op, stage.read, stage.written, stage.operations));
  return lines;
}

const StageCost& stageOf(const StepCost& cost, std::string_view kernel) {
  for (const StageCost& stage : cost.stages)
    if (stage.kernel.starts_with(kernel)) return stage;
  throwError(ErrorCode::internal, "there is no stage '{}'", kernel);
}

TensorId weight(ProgramBuilder& builder, const std::string& name, Shape shape) {
  return builder.parameter({.name = name, .shape = std::move(shape), .initializer = {InitializerKind::normal, 1.0}});
}

// relu(x w + b) of 4 x 8 and 8 x 16, forward.
Program linear() {
  ProgramBuilder builder(4, 1, false);
  const TensorId y = builder.add(
      "matmul", {builder.input("x", {4, 8}, DataType::f32), weight(builder, "w", {8, 16}), weight(builder, "b", {16})});
  builder.result("y", ResultKind::output, builder.add("unary", {y}, {{"function", "relu"}}));
  return builder.take();
}

TEST(StepCost, OfALinearLayerIsAsByHand) {
  const StepCost f32 = costOf(linear());
  EXPECT_THAT(stagesOf(f32),
              ElementsAre(fmt::format("matmul: {} + {}, {}", 4 * (4 * 8 + 8 * 16 + 16), 4 * 4 * 16, 2 * 4 * 8 * 16)));
  EXPECT_EQ(f32.stages[1].kind, StageKind::product);
  EXPECT_EQ(f32.stages[1].factors, DataType::f32);
  EXPECT_EQ(f32.uploaded, 4 * 4 * 8 + 64) << "the input, and a line of words";
  EXPECT_EQ(f32.stages[0].read, f32.uploaded) << "from where it landed to its place";
  EXPECT_EQ(f32.stages[0].written, f32.uploaded);
}

TEST(StepCost, OfSixteenBitsHasTheRoundingOfWeightsAndInputs) {
  const StepCost bf16 = costOf(linear(), DataType::bf16);
  double read = 0;
  for (const StageCost& stage : bf16.stages) read += stage.op == "convert" ? stage.read : 0;
  const StageCost& product = stageOf(bf16, "matmul");
  EXPECT_EQ(product.factors, DataType::bf16);
  EXPECT_EQ(product.operations, 2 * 4 * 8 * 16);
  EXPECT_GE(read, 4 * (4 * 8 + 8 * 16));  // x and w come in f32
  EXPECT_LT(product.read, 4 * (4 * 8 + 8 * 16 + 16));
}

// A 3x3 convolution of 2 images of 8 x 8 with 16 channels each way, statistics, their gradient.
Program normalised() {
  ProgramBuilder builder(2, 1, true);
  const TensorId x = builder.input("x", {2, 16, 8, 8}, DataType::f32), w = weight(builder, "w", {16, 16, 3, 3});
  const TensorId y = builder.add("convolution", {x, w}, {{"padding", Integers{1, 1, 1, 1}}});
  const auto state = [&](const char* name) {
    return builder.parameter(
        {.name = name, .shape = {16}, .initializer = {InitializerKind::zeros, 0}, .isState = true});
  };
  const TensorId z =
      builder.add("batch_normalization",
                  {y, weight(builder, "gamma", {16}), weight(builder, "beta", {16}), state("mean"), state("variance")});
  builder.result("loss", ResultKind::loss,
                 builder.add("reduce", {builder.add("unary", {z}, {{"function", "relu"}})}, {{"function", "sum"}}));
  differentiate(builder);
  return builder.take();
}

TEST(StepCost, OfAConvolutionIsAsByHand) {
  constexpr double kImage = 2 * 16 * 64, kWeights = 16 * 16 * 9, kMultiplyAdds = 2 * 16 * 64 * 16 * 9;
  for (const auto& [precision, bytes] : {std::pair(DataType::f32, 4), std::pair(DataType::bf16, 2)}) {
    SCOPED_TRACE(toString(precision));
    const StepCost cost = costOf(normalised(), precision);
    const StageCost &forward = stageOf(cost, "convolution"), &gradient = stageOf(cost, "convolution_weight_gradient");
    EXPECT_EQ(forward.kind, StageKind::convolution);
    EXPECT_EQ(forward.read, bytes * (kImage + kWeights));
    EXPECT_EQ(forward.written, bytes * kImage);
    EXPECT_EQ(forward.operations, 2 * kMultiplyAdds);
    EXPECT_EQ(gradient.read, bytes * 2 * kImage);
    EXPECT_EQ(gradient.written, bytes * kWeights);  // in 16 bits: rounded, and converted behind it
    EXPECT_EQ(gradient.operations, 2 * kMultiplyAdds);
    // Normalised and cut off in one pass; 4 numbers a channel beside it.
    const StageCost& normalise = stageOf(cost, "normalise");
    EXPECT_EQ(normalise.read, bytes * kImage + 4 * 4 * 16);
    EXPECT_EQ(normalise.written, bytes * kImage);
    EXPECT_EQ(normalise.kind, StageKind::memory);
    EXPECT_EQ(stageOf(cost, "batch_moments").read, bytes * kImage);
    // Whether the ReLU let a number through is computed from x and 4 numbers a channel, not read.
    EXPECT_EQ(stageOf(cost, "batch_gradient_sums").read, bytes * 2 * kImage + 4 * 4 * 16);
    EXPECT_EQ(stageOf(cost, "batch_gradient.").read, bytes * 2 * kImage + 4 * (4 + 3) * 16);
    // Delivered gradients are read and written once.
    const StageCost& deliver = stageOf(cost, "deliver");
    EXPECT_EQ(deliver.op, "deliver");
  }
}

TEST(StepCost, OfTf32IsToldOfProductsAndConvolutionsInF32Alone) {
  const auto device = makePlannedDevice({"NVIDIA H100", 90, 132, std::size_t{80} << 30, std::size_t{80} << 30});
  for (const DataType precision : {DataType::f32, DataType::bf16}) {
    SCOPED_TRACE(toString(precision));
    const StepCost without = stepCost(normalised(), *device, {.precision = precision}),
                   with = stepCost(normalised(), *device, {.precision = precision, .tf32 = true});
    for (const StageCost& stage : without.stages) EXPECT_FALSE(stage.tf32) << stage.kernel;
    int rounded = 0;
    for (const StageCost& stage : with.stages) {
      EXPECT_EQ(stage.tf32, precision == DataType::f32 && stage.kind == StageKind::convolution) << stage.kernel;
      rounded += stage.tf32;
    }
    EXPECT_EQ(rounded, precision == DataType::f32 ? 2 : 0);
    if (precision == DataType::f32) EXPECT_EQ(stageOf(with, "convolution in tf32").tf32, true);
  }
  EXPECT_TRUE(stageOf(stepCost(linear(), *device, {.tf32 = true}), "matmul").tf32);
}

// As much as the tensors of a convolution, channels filled up to 8, while it runs, and 256 MiB at most.
TEST(StepCost, TheWorkspaceOfAConvolutionIsInItsMemory) {
  const auto memoryOf = [](std::int64_t images, std::int64_t channels) {
    ProgramBuilder builder(images, 1, false);
    const TensorId x = builder.input("x", {images, channels, 64, 64}, DataType::f32);
    builder.result("y", ResultKind::output, builder.add("convolution", {x, weight(builder, "w", {8, channels, 1, 1})}));
    return costOf(builder.take()).memory.shared;
  };
  // Three channels: x channels-last beside it; eight of workspace each for x and y, and for w.
  const auto exact = [](std::int64_t images) {
    return static_cast<double>(4 * images * 64 * 64 * (3 + 8 + 8 + 8) + 4 * 8 * 8);
  };
  EXPECT_GE(static_cast<double>(memoryOf(2, 3)), exact(2));
  EXPECT_LT(static_cast<double>(memoryOf(2, 3)), 1.4 * exact(2));
  // x channels-last, y, and no more than 256 MiB.
  EXPECT_LT(memoryOf(2048, 8), 2 * std::size_t{4} * 2048 * 64 * 64 * 8 + (std::size_t{257} << 20)) << "limited";
  EXPECT_GT(memoryOf(1024, 8), std::size_t{256} << 20);
}

TEST(StepCost, OfARecurrenceCountsRowsAndNotTheGapsBetweenThem) {
  constexpr std::int64_t kBatch = 3, kTime = 7, kChannels = 5, kHidden = 4;
  ProgramBuilder builder(kBatch, 1, false);
  const TensorId y =
      builder.add("lstm", {builder.input("x", {kBatch, kTime, kChannels}, DataType::f32),
                           weight(builder, "w", {4 * kHidden, kChannels}), weight(builder, "u", {4 * kHidden, kHidden}),
                           weight(builder, "b", {4 * kHidden})});
  builder.result("y", ResultKind::output, y);
  const StepCost cost = costOf(builder.take());
  const StageCost& input = stageOf(cost, "lstm input side");
  EXPECT_EQ(input.kind, StageKind::product);
  EXPECT_EQ(input.operations, 2.0 * kBatch * kTime * 4 * kHidden * kChannels);
  const StageCost& product = stageOf(cost, "lstm step");
  constexpr double kGates = kBatch * 4 * kHidden, kCells = kBatch * kHidden;
  EXPECT_EQ(product.kind, StageKind::recurrence);
  EXPECT_EQ(product.read, 4 * (kCells + 4 * kHidden * kHidden + kGates));  // h, u, and what the product is added to
  EXPECT_EQ(product.written, 4 * kGates);
  EXPECT_EQ(product.operations, 2 * kGates * kHidden);
  const StageCost& cell = stageOf(cost, "lstm_cell");
  EXPECT_EQ(cell.kind, StageKind::recurrence);
  EXPECT_EQ(cell.read, 4 * kGates);                        // the first step's: no cells before
  EXPECT_EQ(cell.written, 4 * (5 * kCells + 3 * kCells));  // state, cells, y, h
}

TEST(StepCost, OfLookingUpIsOfTheRowsThatAreLookedUp) {
  ProgramBuilder builder(2, 1, false);
  builder.result(
      "y", ResultKind::output,
      builder.add("embedding", {builder.input("x", {2, 3}, DataType::i32), weight(builder, "w", {1000, 8})}));
  const StepCost cost = costOf(builder.take());
  EXPECT_THAT(stagesOf(cost), ElementsAre(fmt::format("embedding: {} + {}, 0", 4 * 6 + 4 * 6 * 8, 4 * 6 * 8)));
}

TEST(StepCost, AttentionIsOfItsOwnKind) {
  const auto attention = [](std::int64_t channels) {
    ProgramBuilder builder(2, 1, false);
    const TensorId x = builder.input("x", {2, 6, channels}, DataType::f32);
    builder.result("y", ResultKind::output, builder.add("attention", {x, x, x}, {{"heads", std::int64_t{2}}}));
    return costOf(builder.take());
  };
  const StepCost narrow = attention(8), wide = attention(2 * 65);
  const StageCost &tiles = stageOf(narrow, "attention_forward"), &scores = stageOf(wide, "4 × attention scores");
  EXPECT_EQ(tiles.kind, StageKind::attention);
  EXPECT_EQ(tiles.operations, 2 * 2 * 4 * 6 * 6 * 4);
  EXPECT_EQ(scores.kind, StageKind::attention);
  EXPECT_EQ(scores.operations, 2 * 4 * 6 * 6 * 65);
  EXPECT_EQ(stageOf(wide, "attention_softmax").kind, StageKind::attention);
}

TEST(StepCost, APlannedDeviceRunsNothing) {
  const auto device = makePlannedDevice({.name = "NVIDIA H100"});
  EXPECT_EQ(device->facts().name, "NVIDIA H100");
  EXPECT_THROW(device->allocate(1, "a test"), Error);
  EXPECT_THROW(stepCost(linear(), *device, {.precision = DataType::f64}), Error);
}

}  // namespace
}  // namespace loom::cuda
